"""What a process keeps beyond the request or task that it came with: all of it is here, and says why it may be."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from pathlib import Path

from tests.house.sources import sources

KEEPERS = frozenset(
    "lru_cache cache DigestCache MemoizedFunction memoized WeakKeyDictionary WeakValueDictionary".split()
)
"""What functions and modules keep things with."""

CONTAINERS = frozenset("dict set OrderedDict defaultdict deque Counter".split())
"""What an object or a module can fill with things."""

DIGESTS = "by digests, without texts: core.memoize"
OF_A_REQUEST = "of one request or task, and gone with it"
OF_RULES = "of rules, which a tenant writes, and not of what users say"

KEPT = {
    "api/ingress/route_bounds.py:RouteTable._entries": "routes of the program",
    "api/ingress/connection_limits.py:BoundServer._opening": "connections that have just been accepted",
    "api/ingress/hit_rate.py:HitRates._hits": "numbers by tenant",
    "api/ingress/hit_rate.py:HitRates._searches": "numbers by tenant",
    "api/ingress/hit_rate.py:HitRates._seconds": "numbers by tenant",
    "core/erasure/ledger.py:is_held": "names of tenants, of one command",
    "core/events/occurrences.py:Occurrences._sums": "at most so many, emptied every minute",
    "api/ingress/in_flight.py:InFlight._counts": "numbers by tenant and key, of requests being answered",
    "core/language/scripts.py:_script": "single characters and their scripts",
    "core/spacing.py:TrailingBound._seen": "places in the log and times, for three seconds",
    "core/search/recall_log.py:RecallSpacing._pending": "ids, for seconds: without the texts",
    "core/search/recall_log.py:RecallSpacing._announced": "ids, for seconds",
    "core/search/recall_log.py:_Pending.ids": "ids, for seconds",
    "core/search/recall_log.py:_Pending.queries": "ten queries, until the next turn",
    "core/search/recall_log.py:Recorded._at": "digests of what was handed out, for ten seconds: core.memoize",
    "api/ingress/settling.py:SettleWatcher._tenants": "places in the log, for as long as somebody waits",
    "api/ingress/following.py:Followers._tails": "events, for two seconds and while somebody follows",
    "api/ingress/following.py:Followers._readers": "locks by tenant, of followers that read or wait to read",
    "api/ingress/fair_share.py:LargeBodies._lines": "locks by tenant, of requests with large bodies",
    "core/baton.py:Baton._lines": "threads by tenant, while some wait",
    "api/ingress/fair_share.py:FairTurns._held": "numbers by tenant, of requests being answered",
    "api/ingress/fair_share.py:FairTurns._waiting": "requests that wait, by tenant",
    "core/context/selection.py:_cached_term_codes": DIGESTS,
    "core/context/conversation.py:RenderedMessages._made": OF_A_REQUEST,
    "core/entities/resolution.py:Directory._by_key": OF_A_REQUEST,
    "core/entities/resolution.py:Directory._entities": OF_A_REQUEST,
    "core/transfer/archive.py:ArchiveWriter._counts": "numbers by file, of one archive",
    "core/context/token_cache.py:CachedCounter._known": DIGESTS,
    "core/context/token_cache.py:_counter_of": "vocabularies",
    "core/context/json_pruning.py:_Pruner._known": OF_A_REQUEST,
    "core/inference/embedders.py:CachedEmbedder._kept": DIGESTS,
    "core/inference/installed_embedders.py:InstalledEmbedders._others": "the models on this machine",
    "rules/engine/similarity.py:MeaningsByModel._by_model": "caches by digests, one for each model",
    "rules/registry/live_rules.py:LiveRules._embeddings": "names of models by tenant",
    "core/inference/local_embedder.py:_sha256": "of the model's files",
    "core/inference/local_embedder.py:_mean": "of a model's vectors",
    "core/inference/local_reader.py:_shared": "the reader on this machine",
    "core/statements/comparison.py:outline": DIGESTS,
    "core/covering.py:_inverses": "numbers of the process's two covers",
    "core/index/vector_notation.py:_notation": "formats by dimension",
    "core/memory/known_set.py:KnownStatements._met": OF_A_REQUEST,
    "core/memory/identity.py:content_keys": DIGESTS,
    "core/memory/feature_cache.py:FeatureCache._users": "digests and numbers by id, for ten minutes without use",
    "core/memory/feature_cache.py:UserFeatures._places": "ids of the same memories",
    "core/memory/feature_cache.py:_CACHES": "digests and numbers by id, for ten minutes without use",
    "core/memory/known_set.py:KnownStatements._places": OF_A_REQUEST,
    "core/memory/neighbours.py:_Found._absent": OF_A_REQUEST,
    "core/memory/neighbours.py:_Found.stamps": OF_A_REQUEST,
    "core/memory/neighbours.py:_Found.read": OF_A_REQUEST,
    "core/language/en/dates.py:_parse": DIGESTS,
    "core/language/inflection.py:_Stemmers.by_language": "stemmers of the program",
    "core/language/inflection.py:_function_words": "words of the program",
    "core/language/inflection.py:_letters": "letters of the program",
    "core/events/reserved.py:is_of_service": DIGESTS,
    "core/screening/names.py:is_name": DIGESTS,
    "core/inference/own_prompts.py:packaged_names": "names of the program's prompts",
    "core/inference/prompts/__init__.py:load": "prompts",
    "core/screening/screen.py:_any_phrase": "patterns of the program",
    "core/screening/screen.py:_phrases": "patterns of the program",
    "core/inference/answer_limits.py:AnswerLimits._refused": "names of parameters that an endpoint refuses",
    "core/inference/openai_client.py:OpenAIClient._formats": "what an endpoint can do",
    "core/language/common_words.py:plain_stems": "words of the program",
    "core/language/ngrams.py:weights": "weights that were trained, by file",
    "core/memoize.py:DigestCache._values": DIGESTS,
    "core/memoize.py:MemoizedFunction.kept": DIGESTS,
    "core/search/unindexed.py:_features": DIGESTS,
    "core/search/unindexed.py:_tail": "statements of the program",
    "core/index/passages.py:rows, read": OF_A_REQUEST,
    "core/index/resident/segments.py:Interner.numbers": "ids, tags and who spoke: of one entry, and gone with it",
    "core/index/resident/cache.py:ResidentCache._entries": "no text; until nobody asks, and checked with each question",
    "core/index/resident/filling.py:Filler._waiting": "names of owners alone; until they are filled, 64 at most",
    "core/index/resident/cache.py:_CACHES": "no text; until nobody asks, and checked with each question",
    "core/summaries/segmentation.py:_OpenUnit._cohesions": OF_A_REQUEST,
    "core/screening/output.py:_VERDICTS": DIGESTS,
    "core/language/terms.py:_segmenter": "a dictionary",
    "core/language/terms.py:_word": "a pattern of the program",
    "core/inference/token_counting.py:_estimate": "weights that were measured; what is counted is not added to them",
    "core/inference/token_counting.py:_open_vocabulary": "vocabularies",
    "core/inference/token_counting.py:_weights": "weights that were measured",
    "api/ingress/shared_counts.py:ProcessCounts._taken": "places of numbers, while they are not zero",
    "core/plugins.py:_installed": "entry points of installed packages",
    "core/storage/idle_connections.py:_USES": "numbers of connections by pool",
    "core/storage/multiquery.py:_row_factory": "names of columns",
    "core/events/parsing.py:_list_of": "models of the program",
    "workers/dispatch/lease.py:_Watches._running": "attempts that run: each is removed with its end",
    "core/storage/kept_plans.py:_PLANS": "statements of the program by connection, without their values",
    "core/storage/kept_plans.py:split": "statements of the program, without their values",
    "rules/registry/live_rules.py:LiveRules.sets": OF_RULES,
    "rules/registry/live_rules.py:LiveRules._stands": OF_RULES,
    "rules/registry/live_rules.py:LiveRules._without_rules": "names of tenants without rules",
    "rules/expressions/facts.py:Facts._answers": OF_A_REQUEST,
    "rules/flow/flow_rows.py:recall": OF_A_REQUEST,
    "rules/engine/lookups.py:_parts": "names of the program",
    "rules/engine/similarity.py:Meanings._kept": DIGESTS,
    "rules/document/json_schema.py:json_schema": "the schema of the program's rules",
    "rules/expressions/paths.py:parse_path": OF_RULES,
    "rules/engine/ruleset.py:Ruleset._by_type": OF_RULES,
    "rules/engine/ruleset.py:Ruleset._flushes": OF_RULES,
    "rules/engine/ruleset.py:Ruleset._tables": OF_RULES,
    "rules/engine/ruleset.py:_Course.groups": OF_A_REQUEST,
    "rules/engine/ruleset.py:_Course.keys": OF_A_REQUEST,
    "rules/registry/lint.py:Neighbours._rules_for": OF_RULES,
    "rules/registry/lint.py:Neighbours._named": OF_RULES,
    "workers/delivery/address_guard.py:_tls": "certificates",
    "workers/clock.py:TenantTurns._served": "numbers by tenant",
    "workers/clock.py:Agenda._look_at": OF_RULES,
    "workers/clock.py:Agenda._rules": OF_RULES,
    "workers/clock.py:Agenda._deferred": OF_RULES,
    "workers/agents/outbound.py:_celery": "connections to the brokers of the settings",
    "core/search/query.py:_time_of": "names of stages",
    "workers/dispatch/ledger.py:_show_zeros": "names of agents",
    "workers/dispatch/fair_share.py:ActiveTenants._last": "names of tenants, for a minute",
    "workers/mirror_watcher.py:MirrorPoll._known": "names and times of the mirror's files",
}
"""A new entry is a promise about what users say: write here why it is kept, or let it be of one request alone."""


def kept(root: Path) -> dict[str, str]:
    """Every place in the packages where something is kept, with what keeps it."""
    return {f"{path}:{name}": how for path, _, tree in sources(root) for name, how in keeping(tree, "")}


def keeping(tree: ast.AST, within: str) -> Iterator[tuple[str, str]]:
    """The names of what keeps something in a module, a class or a function, below `within`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{within}{node.name}"
            if keeper := next(filter(None, map(by_keeper, node.decorator_list)), None):
                yield name, keeper
            inside = f"{name}." if isinstance(node, ast.ClassDef) else within or "."
            yield from keeping(node, inside)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            yield from assigned(node, within)
        else:
            yield from keeping(node, within)


def assigned(node: ast.Assign | ast.AnnAssign, within: str) -> Iterator[tuple[str, str]]:
    """An attribute of an object that begins empty, or anything that is given a keeper."""
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        how = next(filter(None, (by_keeper(part) for part in ast.walk(node) if isinstance(part, ast.Call))), None)
        stays = within == "" or (isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self")
        if how or (stays and is_empty(node.value)):
            name = target.attr if isinstance(target, ast.Attribute) else ast.unparse(target).strip("()")
            yield f"{within.lstrip('.')}{name}", how or "grows"


def by_keeper(node: ast.expr) -> str | None:
    """What a decorator or a call keeps things with."""
    called = node.func if isinstance(node, ast.Call) else node
    called = called.value if isinstance(called, ast.Subscript) else called
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name if name in KEEPERS else None


def is_empty(value: ast.expr | None) -> bool:
    """Whether it is a container that has yet to be filled."""
    if isinstance(value, ast.Dict):
        return not value.keys
    if not isinstance(value, ast.Call):
        return False
    called = value.func.value if isinstance(value.func, ast.Subscript) else value.func
    name = ast.unparse(called).rsplit(".", 1)[-1]
    return name in CONTAINERS and (name == "defaultdict" or not (value.args or value.keywords))


def test_keeping_is_seen_in_whatever_form_it_is_written() -> None:
    written = """
        from functools import cache, lru_cache
        SEEN = {}
        SAID: dict[str, int] = dict()
        NAMES = {"known": 1}
        OPEN: WeakKeyDictionary[Engine, Shelves] = WeakKeyDictionary()
        @lru_cache(maxsize=3)
        def read(text): found = {}
        @functools.cache
        def heard(text): ...
        class Shelf:
            count = 0
            @memoized(5)
            def of(self): recall = cache(read)
            def __init__(self):
                self.rows = collections.OrderedDict[str, int]()
                self.by_user = defaultdict[str, list](list)
                self.lines, self.size = [], len("x")
                if True:
                    self.count = DigestCache[int](7)
        """
    found = [name for name, _ in keeping(ast.parse(textwrap.dedent(written)), "")]
    own = ["of", "recall", "rows", "by_user", "count"]
    assert found == ["SEEN", "SAID", "OPEN", "read", "heard", *(f"Shelf.{name}" for name in own)]


def test_whatever_keeps_something_says_why_it_may(root: Path) -> None:
    assert {name: how for name, how in kept(root).items() if name not in KEPT} == {}
    assert KEPT.keys() - kept(root).keys() == set()
