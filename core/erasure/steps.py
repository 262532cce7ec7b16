"""The one ordered table of what erasing does in each table of a tenant.

`ErasurePart` names what is erased; the steps of a part run in the order of `STEPS` (`core.erasure.runner`). The rows
that a step changes are counted under its table, and the receipt lists these counts. Rows that refer to other rows
go last.

Values bound in the statements:

- MESSAGES: `user`, the owner, also as the only one of `owners`; `sessions` and `messages`, the messages cited by the
  erased memories; `places`, the same with their positions.
- PASSAGES: `sessions` and `messages`, messages of which passages are erased; `texts`, what they say without these, and
  `contents`, what they said; `places`, the same with their positions; `seqs` and `events`, their events; `pieces`, the
  erased passages; `owners`, whose memories may cite them.
- MEMORIES: `owners`, whose they are; `ids`, the memories; `refs`, the same as text; `changes` and `ignored`, changes
  and verdicts that contain their words.
- EVENTS: `seqs` and `events`, positions and ids of the events about what is erased; of these, `emptied` lose their
  words and `shortened` only their reasons.
- SESSION: `session`; `owners`, whose memories cite it; `places`, its messages; `told`, ids of its events.
- USER: `user`; `alone` and `shared`, the sessions in which they spoke alone and with others; `seqs` and `events`,
  all events of theirs; `cited`, memories of others that quote them; `near`, who else took part in `shared` or owns one
  of these; `groups`, those of which they have something; `pepper`, a random secret that is not stored and hashes ids
  that others' rows refer to; `spelt`, the user's id as encoded in JSON; `most`, how many memories a preview reads, None
  for all.
- GROUP: as USER, with `group` in place of `user`; `sessions` and `messages`, what was said to it in `shared` ones, and
  `places`, the same with their positions; `owners`, whose memories are concerned.
- NAMES: `seqs`, the `user.erased` and `group.erased` events whose consequences have ended; `keys`, the keys of their
  flows.

The rest is not erasing: `core.expiry` removes what has been kept for as long as its tenant wants, memories stay.

- QUOTES, EXPIRED_MESSAGES, EXPIRED_PARTS: `sessions` and `messages`, the messages that leave; `places`, the same with
  their positions; `seqs`, their events; `owners`, whose memories may cite them; `whole`, whether all of their sessions
  leaves.
- EXPIRED_EVENTS: as EVENTS; `contents`, what they say.
- EXPIRED_SESSIONS: `sessions`, of which no message is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import TextClause, text

from core.erasure import payloads, shadows
from core.index import removal
from core.plans import tracker
from core.storage.db import Tx
from core.summaries import rolling, units

Values = Mapping[str, Any]

Action = TextClause | Callable[[Tx, str, Values], int]
"""A statement, or a function of the transaction, the tenant and the values that returns the number of rows."""

GONE: Final = "What it was about has been erased."
"""Replaces reasons and errors that could quote what was erased."""

PAYLOAD_IDS: Final = (
    "user_id group_id session_id memory_id memory_ids by with absorbed parts decision_id rebuild_id import_id".split()
)
"""Fields of an event's payload that remain: ids of whom and what it is about."""


class ErasurePart(StrEnum):
    """A set of rows that is erased together."""

    MESSAGES = "messages"
    PASSAGES = "passages"
    MEMORIES = "memories"
    EVENTS = "events"
    SESSION = "session"
    USER = "user"
    GROUP = "group"
    NAMES = "names"
    QUOTES = "quotes"
    EXPIRED_EVENTS = "expired events"
    EXPIRED_MESSAGES = "expired messages"
    EXPIRED_PARTS = "expired parts"
    EXPIRED_SESSIONS = "expired sessions"


@dataclass(frozen=True, slots=True)
class ErasureStep:
    """An action on one table, with a description of it. `counted`: the table under which its rows are counted.

    `rows`: SQL for the rows that it changes, by which a preview counts them; empty if they depend on the steps before.
    """

    table: str
    treatment: str
    action: Action
    counted: str = ""
    rows: str = ""


def _nameless(column: str) -> str:
    """Return SQL for a hashed id of something erased that others' rows still refer to."""
    return f"'erased:' || md5(:pepper || {column})"


def _execute(table: str, treatment: str, statement: str, counted: str = "", rows: str = "") -> ErasureStep:
    return ErasureStep(table, treatment, text(statement), counted, rows)


def _delete(table: str, where: str, treatment: str = "deleted") -> ErasureStep:
    return _execute(table, treatment, f"DELETE FROM {table} WHERE {where}", rows=f"{table} WHERE {where}")


def _update(table: str, assigned: str, where: str, treatment: str) -> ErasureStep:
    statement = f"UPDATE {table} SET {assigned} WHERE {where}"
    return _execute(table, treatment, statement, rows=f"{table} WHERE {where}")


def _forget_index(tx: Tx, _tenant_id: str, values: Values) -> int:
    return removal.forget(tx, values["places"])


def _cited_places(values: Values) -> Sequence[tuple[str, str]]:
    return list(zip(values["sessions"], values["messages"], strict=True))


_RETOLD: Final = (
    ErasureStep(
        "units",
        "that cover them: written again by rules from what remains",
        lambda tx, _, values: units.forget_messages(tx, _cited_places(values)),
    ),
    ErasureStep(
        "summaries",
        "of them: deleted, and made again",
        lambda tx, tenant_id, values: rolling.forget_messages(tx, tenant_id, _cited_places(values)),
    ),
)

_OF_SESSIONS: Final = "session_id = ANY(:alone) OR session_id = ANY(:shared)"
"""Condition of rows of sessions in which the user spoke, alone or with others."""

_OF_IMPORTS: Final = "import_id IN (SELECT id FROM imports WHERE user_id = :user)"

_MINE: Final = "ANY(ARRAY(SELECT id FROM memories WHERE user_id = :user LIMIT cast(:most AS bigint)))"
"""The user's memories. An array, unlike a subquery beside an OR, is looked up in an index."""

_SEQS: Final = "cast(:seqs AS bigint[])"
"""With the column's own type: only then PostgreSQL looks a long list up by hash instead of scanning it for each row."""

_LIST: Final = "CASE jsonb_typeof({0}) WHEN 'array' THEN {0} ELSE '[]' END"

_REFERRED_TO: Final = """
    (EXISTS (SELECT FROM dispatches d WHERE d.event_seq = e.seq)
     OR e.seq IN (SELECT unnest(f.event_seqs) FROM flows f))
"""

_PLACES: Final = "SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[]))"

_CITED: Final = f"(session_id, message_id) IN ({_PLACES})"

_SILENT: Final = """
    NOT EXISTS (SELECT FROM messages m WHERE m.session_id = participants.session_id
                                         AND m.user_id = participants.user_id)
"""
"""Condition that nothing of a participant is left in the session."""

_QUOTES_SHARED: Final = f"""
    EXISTS (
        SELECT FROM jsonb_array_elements({_LIST.format("verdicts.candidate -> 'evidence'")}) AS cited
        JOIN messages m ON m.session_id = cited ->> 'session_id' AND m.id = cited ->> 'message_id'
        WHERE m.session_id = ANY(:shared) AND m.user_id = :user)
"""
"""Condition that a verdict quotes the user."""

_GROUPS_OF_MEMORIES: Final = """
    SELECT {0} FROM (SELECT group_id FROM memories WHERE user_id = :user LIMIT cast(:most AS bigint)) AS mine
    WHERE group_id IS NOT NULL
"""

_OF_ONE_SESSION: Final = ("units", "summaries", "plans", "contexts", "working", "hidden_messages")
"""Tables whose rows belong to one session each, and go with it."""

_IS_OF_SESSION: Final = "e ->> 'session_id' = :session"

_IS_OF_PLACES: Final = f"(e ->> 'session_id', e ->> 'message_id') IN ({_PLACES})"
"""Condition that evidence cites one of the messages."""


def _citing_verdicts(cited: str) -> str:
    """Return the condition that evidence of a verdict fulfils a condition."""
    evidence = _LIST.format("v.candidate -> 'evidence'")
    return f"EXISTS (SELECT FROM jsonb_array_elements({evidence}) e WHERE {cited})"


_CITING: Final = _citing_verdicts(_IS_OF_SESSION)

_CITE_PLACES: Final = _citing_verdicts(_IS_OF_PLACES)


_WORDS: Final = f"""
    SELECT said.value #>> '{{}}' FROM events e, jsonb_each(e.payload) AS said
    WHERE e.seq = ANY({_SEQS}) AND jsonb_typeof(said.value) = 'string'
      AND said.key <> ALL('{{{",".join([*PAYLOAD_IDS, *"role kind category topic change trust audience".split()])}}}')
"""
"""Texts in the payloads of these events, other than ids and words of a fixed list."""


def _unquoted_verdicts(cited: str) -> str:
    """Return SQL that blanks the quotes of evidence that fulfils a condition; without a condition on verdicts."""
    return f"""
    UPDATE verdicts v SET candidate = jsonb_set(v.candidate, '{{evidence}}', (
        SELECT jsonb_agg(CASE WHEN {cited} THEN e || '{{"quote": ""}}' ELSE e END)
        FROM jsonb_array_elements(v.candidate -> 'evidence') e))
    """


UNQUOTE_VERDICTS: Final = text(f"{_unquoted_verdicts(_IS_OF_PLACES)} WHERE v.user_id = :user AND {_CITE_PLACES}")


def _index_again(tx: Tx, tenant_id: str, values: Values) -> int:
    removed = removal.forget(tx, values["places"])
    removal.put_again(tx, tenant_id, values["places"])
    return removed


_REDACTED: Final = """
    unnest(cast(:sessions AS text[]), cast(:messages AS text[]), cast(:texts AS text[])) AS r (session_id, id, content)
"""

_HOLDS: Final = "EXISTS (SELECT FROM unnest(cast(:pieces AS text[])) AS p WHERE strpos({0}, p) > 0)"
"""Condition that a text holds an erased passage."""


def _stop_imports(which: str) -> tuple[ErasureStep, ...]:
    """Build the steps that end imports under way, whose uploads may hold what is erased, and delete these uploads."""
    open_ones = f"import_id IN (SELECT id FROM imports WHERE {which} AND ended_at IS NULL)"
    return (
        _delete("import_parts", open_ones, "of archives that are not restored yet: deleted"),
        _delete("import_places", open_ones, "likewise"),
        _execute(
            "imports",
            "under way: stopped; what they have restored stays",
            f"""
            UPDATE imports SET status = 'cancelled', ended_at = clock_timestamp(), updated_at = clock_timestamp(),
                error = '[{{"pointer": "", "detail": "Something of this user was erased meanwhile. Import again."}}]'
            WHERE {which} AND ended_at IS NULL
            """,
        ),
    )


_STOPPED: Final = (
    ErasureStep("rebuilds", "stopped, and what they had made deleted", shadows.stop_rebuilds),
    *_stop_imports("user_id = ANY(:owners)"),
)


def _blank_bulk_jobs(which: str) -> tuple[ErasureStep, ErasureStep]:
    """Build the steps by which bulk jobs lose the words about memories that were part of them."""
    return (
        _update(
            "bulk_jobs",
            "params = params - 'reason' - 'content', erased = true",
            f"NOT erased AND id = ANY(ARRAY(SELECT job_id FROM bulk_rows WHERE memory_id = {which}))",
            "that they were part of: stay, without reason and wording",
        ),
        _update("bulk_rows", "detail = NULL", f"memory_id = {which} AND detail IS NOT NULL", "stay, with ids alone"),
    )


_WITHOUT_RESTORABLE: Final = _execute(
    "memory_versions",
    "stay, without the rows that an undo had removed",
    """
    UPDATE memory_versions v SET snapshot = v.snapshot - 'withdrawn' - 'returned' FROM memories m
    WHERE m.user_id = ANY(:owners) AND v.memory_id = m.id AND jsonb_exists_any(v.snapshot, '{withdrawn, returned}')
    """,
)
"""Undos quote there what they have removed; after this they cannot be undone themselves."""

_ALONE_ERASES: Final = """
    coalesce(current_setting('imprint.keep', true), '') = ''
    AND coalesce(current_setting('imprint.undoing', true), '') = ''
"""
"""Condition that this is no erasure that can be undone, nor the undo of one."""


def _close_windows(which: str) -> tuple[ErasureStep, ErasureStep]:
    """Build the steps by which requests to forget that can still be undone become final with what is erased now."""
    closed = f"({which}) AND {_ALONE_ERASES}"
    return (
        _delete(
            "kept_rows",
            f"forgetting_id IN (SELECT id FROM forgettings WHERE {closed})",
            "of requests that erased there as well: deleted",
        ),
        _delete("forgettings", closed, "these requests: final at once"),
    )


_OF_OWNERS: Final = "owners && cast(:owners AS text[])"

_WITHOUT_ANSWERS: Final = _execute(
    "model_calls",
    "stay, without answers: one made of the session's messages may hold the words of any of them",
    """
    UPDATE model_calls SET answer = NULL WHERE answer IS NOT NULL AND dispatch_id = ANY(ARRAY(
        SELECT d.id FROM dispatches d JOIN events e ON e.seq = d.event_seq WHERE e.session_id = ANY(:sessions)))
    """,
)

_WITHOUT_QUOTES: Final = _update("evidence", "quote = ''", _CITED, "stays, without quotes of them")

_WITHOUT_REASONS: Final = _update("hidden_messages", "reason = NULL", _CITED, "stay, without reasons")

_WITHOUT_QUOTES_IN_VERDICTS: Final = _execute(
    "verdicts",
    "others: stay, without quotes of the messages",
    f"{_unquoted_verdicts(_IS_OF_PLACES)} WHERE v.user_id = ANY(:owners) AND {_CITE_PLACES}",
)

_IS_CONTENT: Final = "= ANY(ARRAY(SELECT content FROM messages WHERE session_id = :session AND content <> ''))"

_HAS_IN_KEY: Final = """EXISTS (
    SELECT FROM jsonb_array_elements_text(CASE WHEN f.key LIKE '[%' THEN cast(f.key AS jsonb) ELSE '[]' END) AS part
    WHERE part {0})
"""
"""Condition that a part of the key of a flow fulfils another one."""

_WITHOUT_FLOWS: Final = _execute(
    "flows",
    "with one of the messages as key: deleted",
    f"DELETE FROM flows f WHERE {_HAS_IN_KEY.format('= ANY(cast(:contents AS text[]))')}",
)


_WITHOUT_FLOWS_OF_WORDS: Final = _execute(
    "flows",
    "with words of these events as key: deleted, unless others' events wait in one, too",
    f"DELETE FROM flows f WHERE f.event_seqs <@ {_SEQS} AND {_HAS_IN_KEY.format(f'IN ({_WORDS})')}",
)


_EMPTIED: Final = f"""
    params = '{{}}', result = NULL, approval = NULL, trace = NULL, lease = NULL, wake_at = NULL, hold = NULL,
    error = CASE WHEN ended_at IS NULL THEN '{GONE}' END,
    status = CASE WHEN ended_at IS NULL THEN 'cancelled' ELSE status END,
    ended_at = coalesce(ended_at, clock_timestamp())
"""
"""Columns of a dispatch that loses its words, and is cancelled if it has not ended."""


def _redacted_events(mark: str) -> tuple[ErasureStep, ...]:
    """Build the steps by which events keep their ids alone; a field named `mark` in their payloads says so."""
    return (
        _update(
            "events",
            "payload = payload - 'reason' - 'new'",
            "seq = ANY(cast(:shortened AS bigint[]))",
            "that name it beside another memory: stay, without reasons",
        ),
        _update(
            "events",
            f"""
            extensions = NULL, payload = coalesce(
                (SELECT jsonb_object_agg(key, value) FROM jsonb_each(payload)
                 WHERE key = ANY('{{{",".join(PAYLOAD_IDS)}}}')), '{{}}') || '{{"{mark}": true}}'
            """,
            "seq = ANY(cast(:emptied AS bigint[]))",
            "stay, with ids alone",
        ),
        _update(
            "dispatches",
            _EMPTIED,
            f"event_seq = ANY({_SEQS})",
            "stay, without parameters, result or error; cancelled if not ended, so that a worker loses its lease",
        ),
        _delete(
            "flows",
            f"event_seqs <> '{{}}' AND event_seqs <@ {_SEQS}",
            "of these events alone: deleted, as a key may hold their words",
        ),
        _delete("notices", "event_id = ANY(:events)"),
        _execute(
            "model_calls",
            "stay, without answers",
            f"""
            UPDATE model_calls c SET answer = NULL FROM dispatches d
            WHERE d.event_seq = ANY({_SEQS}) AND c.dispatch_id = d.id AND c.answer IS NOT NULL
            """,
        ),
    )


_WITHOUT_ANSWERS_OF_LOG: Final = _update(
    "model_calls",
    "answer = NULL",
    f"""
    answer IS NOT NULL AND dispatch_id = ANY(ARRAY(
        SELECT id FROM dispatches WHERE event_seq = ANY({_SEQS})
        UNION SELECT d.id FROM dispatches d JOIN events e ON e.seq = d.event_seq
        WHERE e.session_id = ANY(:shared)))
    """,
    "stay, as they were paid for; what a model answered goes",
)

_CONVERSATIONS: Final = (
    _execute(
        "search_index",
        "of units that are deleted: deleted",
        f"DELETE FROM search_index WHERE type = 'unit' AND ({_OF_SESSIONS})",
    ),
    _delete("units", _OF_SESSIONS, "of all these sessions: deleted, those with others are segmented again"),
    _delete("summaries", _OF_SESSIONS, "likewise"),
    _delete("plans", _OF_SESSIONS, "likewise"),
    _delete("contexts", _OF_SESSIONS, "of all these sessions: deleted"),
    _delete("working", _OF_SESSIONS, "of all these sessions: deleted"),
    _delete("hidden_messages", _OF_SESSIONS, "likewise; what was hidden is visible again"),
    _update(
        "events",
        "payload = payload - 'reason'",
        "session_id = ANY(:shared) AND event_type = 'message.hidden'",
        "that tell of a message that was hidden in a session with others: without the reason",
    ),
)
"""Steps for what is drawn from conversations, `alone` and `shared`."""

_DECISIONS: Final = (
    _delete("decisions", f"event_seq = ANY({_SEQS})"),
    _delete("replay_decisions", f"event_seq = ANY({_SEQS})"),
    _update(
        "replays",
        """
        params = jsonb_set(params, '{filter}', '{"erased": true}'), flow = NULL,
        status = CASE WHEN status = 'running' THEN 'cancelled' ELSE status END,
        ended_at = coalesce(ended_at, clock_timestamp())
        """,
        """
        params -> 'filter' ->> 'session_id' = ANY(:alone)
           OR jsonb_exists_any(CASE jsonb_typeof(params -> 'filter' -> 'event_ids') WHEN 'array'
                                    THEN params -> 'filter' -> 'event_ids' END, cast(:events AS text[]))
           OR EXISTS (SELECT FROM unnest(cast(:spelt AS text[])) AS s
                      WHERE strpos((params -> 'filter')::text, s) > 0)
        """,
        "by name of what is erased, its sessions or events: stay, without their filter; stopped if not ended",
    ),
    _update(
        "bulk_jobs",
        """chosen = '{"erased": true}', params = params - 'reason' - 'content', erased = true""",
        """
        chosen ->> 'session_id' = ANY(:alone)
           OR EXISTS (SELECT FROM unnest(cast(:spelt AS text[])) AS s WHERE strpos(chosen::text, s) > 0)
        """,
        "chosen by what is erased, or its sessions: stay, without what they were chosen by",
    ),
)
"""Steps for what rules and people decided on these events."""

_DOWN: Final = f"""
    WITH RECURSIVE down AS (
        SELECT e.seq, e.id FROM events e WHERE e.causation_id = ANY(:events) AND e.seq <> ALL({_SEQS})
        UNION
        SELECT e.seq, e.id FROM events e
        WHERE e.correlation_id = ANY(:events) AND e.causation_id IS NULL AND e.correlation_id <> e.id
          AND e.seq <> ALL({_SEQS})
        UNION
        SELECT e.seq, e.id FROM down CROSS JOIN LATERAL (
            SELECT e.seq, e.id FROM events e WHERE e.causation_id = down.id AND e.seq <> ALL({_SEQS}) OFFSET 0) AS e
    )
"""
"""Events of others that followed from these, or that were published as belonging to them."""

_LEDGER: Final = (
    _execute(
        "dispatches",
        "from which a memory of someone else came: stay, without parameters, result, error or name",
        f"""
        UPDATE dispatches d SET
            {_EMPTIED}, alone = NULL, lane = NULL, correlation_id = {_nameless("d.correlation_id")}
        WHERE event_seq = ANY({_SEQS}) AND EXISTS (SELECT FROM memory_versions v WHERE v.dispatch_id = d.id)
        """,
    ),
    _execute(
        "dispatches",
        "others: deleted",
        f"""
        DELETE FROM dispatches d
        WHERE event_seq = ANY({_SEQS}) AND NOT EXISTS (SELECT FROM memory_versions v WHERE v.dispatch_id = d.id)
        """,
        rows=f"dispatches WHERE event_seq = ANY({_SEQS})",
    ),
    _execute(
        "dispatches",
        "that served several at once: without these sessions and events",
        f"""
        UPDATE dispatches d SET params = params || jsonb_strip_nulls(jsonb_build_object(
            'sessions', (SELECT jsonb_agg(s) FROM jsonb_array_elements_text(params -> 'sessions') s
                         WHERE s <> ALL(:alone)),
            'gathered', (SELECT jsonb_agg(g) FROM jsonb_array_elements_text(params -> 'gathered') g
                         WHERE g <> ALL(:events))))
        WHERE lists_others AND ((jsonb_exists(params, 'sessions') AND EXISTS (
                  SELECT FROM jsonb_array_elements_text({_LIST.format("params -> 'sessions'")}) s
                  WHERE s = ANY(:alone)))
           OR (jsonb_exists(params, 'gathered') AND EXISTS (
                  SELECT FROM jsonb_array_elements_text({_LIST.format("params -> 'gathered'")}) g
                  WHERE g = ANY(:events))))
        """,
    ),
    _execute(
        "dispatches",
        "of others that followed from these events: refer to them by a hash",
        f"""
        {_DOWN}
        UPDATE dispatches d SET correlation_id = {_nameless("d.correlation_id")}
        FROM down WHERE d.event_seq = down.seq AND d.correlation_id = ANY(:events)
        """,
    ),
    _execute(
        "events",
        "of others that followed from these: likewise",
        f"""
        {_DOWN}
        UPDATE events e SET
            causation_id = CASE WHEN e.causation_id = ANY(:events) THEN {_nameless("e.causation_id")}
                                ELSE e.causation_id END,
            correlation_id = CASE WHEN e.correlation_id = ANY(:events) THEN {_nameless("e.correlation_id")}
                                  ELSE e.correlation_id END
        FROM down WHERE e.seq = down.seq
        """,
    ),
    _execute(
        "events",
        "from which a memory of someone else came: keep their place, without payload or name",
        f"""
        UPDATE events e SET payload = '{{"erased": true}}', subject = NULL, session_id = NULL, user_id = NULL,
                            extensions = NULL, id = {_nameless("e.id")},
                            causation_id = CASE WHEN e.causation_id = ANY(:events)
                                           THEN {_nameless("e.causation_id")} ELSE e.causation_id END,
                            correlation_id = CASE WHEN e.correlation_id = ANY(:events)
                                             THEN {_nameless("e.correlation_id")} ELSE e.correlation_id END
        WHERE e.seq = ANY({_SEQS}) AND {_REFERRED_TO}
        """,
    ),
    _execute(
        "events",
        "deleted",
        f"DELETE FROM events e WHERE e.seq = ANY({_SEQS}) AND NOT {_REFERRED_TO}",
        rows=f"events WHERE seq = ANY({_SEQS})",
    ),
)
"""Steps for the dispatches of these events, for what followed from them, and for the events themselves."""


def _without_names_by_hand(whose: str) -> ErasureStep:
    """Build the step by which decisions of these users leave with the last text that has their names."""
    return _execute(
        "naming_decisions",
        "with a name that no text of its user has any more: deleted",
        f"""
    DELETE FROM naming_decisions d WHERE d.user_id = {whose} AND EXISTS (
        SELECT FROM unnest(ARRAY[d.form, d.other]) AS f (form), LATERAL (
            SELECT lower(CASE WHEN strpos(f.form, '/') > 0 THEN ltrim(split_part(f.form, '/', 1), '~')
                         ELSE f.form END) AS name) AS n
        WHERE n.name <> '' AND f.form NOT LIKE '~%'
          AND NOT EXISTS (SELECT FROM memories m WHERE m.user_id = d.user_id AND m.status <> 'erased'
                          AND strpos(lower(m.subject || ' ' || m.content), n.name) > 0)
          AND NOT EXISTS (SELECT FROM participants p JOIN messages s ON s.session_id = p.session_id
                          WHERE p.user_id = d.user_id AND s.user_id = d.user_id
                            AND strpos(lower(s.content), n.name) > 0))
    """,
    )


_WITHOUT_NAMES_BY_HAND: Final = _without_names_by_hand("ANY(cast(:owners AS text[]))")

STEPS: Final[Mapping[ErasurePart, Sequence[ErasureStep]]] = {
    # The messages that an erased memory cites, where they are to lose their text.
    ErasurePart.MESSAGES: (
        *_close_windows("sessions && cast(:sessions AS text[])"),
        _update(
            "messages",
            """content = '', extras = CASE WHEN jsonb_exists(extras, 'participants')
                THEN jsonb_build_object('participants', extras -> 'participants') END""",
            f"(session_id, id) IN ({_PLACES})",
            "keep their place, without text",
        ),
        _WITHOUT_QUOTES,
        ErasureStep("verdicts", "stay, without quotes of them", UNQUOTE_VERDICTS),
        _WITHOUT_RESTORABLE,
        ErasureStep("search_index", "deleted, and the rows beside them weighted again", _forget_index),
        _WITHOUT_ANSWERS,
        _WITHOUT_REASONS,
        _execute(
            "events",
            "that hid them: stay, without reasons",
            f"""
            UPDATE events SET payload = payload - 'reason'
            WHERE event_type = 'message.hidden' AND session_id = ANY(:sessions)
              AND (session_id, payload ->> 'message_id') IN ({_PLACES})
            """,
            counted="hidden_messages",
        ),
        *_RETOLD,
        ErasureStep(
            "plans",
            "of their sessions: deleted",
            lambda tx, _, values: tracker.forget_messages(tx, sorted({session for session, _, _ in values["places"]})),
        ),
        _WITHOUT_NAMES_BY_HAND,
    ),
    # Passages of messages, which keep the rest of their text.
    ErasurePart.PASSAGES: (
        *_close_windows("sessions && cast(:sessions AS text[])"),
        _execute(
            "messages",
            "keep their place and the rest of their text",
            f"""
            UPDATE messages m SET content = r.content, extras = CASE WHEN jsonb_exists(m.extras, 'participants')
                THEN jsonb_build_object('participants', m.extras -> 'participants') END
            FROM {_REDACTED} WHERE m.session_id = r.session_id AND m.id = r.id
            """,
        ),
        _execute(
            "events",
            "that brought them: stay, with the rest of their text",
            f"""
            UPDATE events e SET extensions = NULL, payload = jsonb_set(
                e.payload - '{{tool_calls, metadata, tags}}'::text[], '{{content}}', to_jsonb(r.content))
            FROM {_REDACTED} JOIN messages m ON m.session_id = r.session_id AND m.id = r.id WHERE e.seq = m.event_seq
            """,
        ),
        ErasureStep("events", "of their sessions that repeat a passage: stay, without it", payloads.redact_events),
        _execute(
            "evidence",
            "stays, without quotes of the passages",
            f"""
            UPDATE evidence e SET quote = '' WHERE e.quote <> '' AND (e.session_id, e.message_id) IN ({_PLACES})
              AND EXISTS (SELECT FROM unnest(cast(:pieces AS text[])) AS p
                          WHERE strpos(e.quote, p) > 0 OR strpos(p, e.quote) > 0)
            """,
        ),
        _execute(
            "verdicts",
            "that stored nothing and repeat a passage: deleted",
            f"""
            DELETE FROM verdicts v WHERE v.user_id = ANY(:owners) AND v.memory_id IS NULL
              AND ({_HOLDS.format("v.candidate ->> 'content'")} OR {_HOLDS.format("v.reason")})
            """,
        ),
        _WITHOUT_QUOTES_IN_VERDICTS,
        _WITHOUT_RESTORABLE,
        ErasureStep("search_index", "written again from the rest of the text", _index_again),
        _WITHOUT_ANSWERS,
        _update(
            "dispatches",
            _EMPTIED,
            f"""
            event_seq = ANY({_SEQS}) AND ({_HOLDS.format("params::text")} OR {_HOLDS.format("result::text")}
                OR {_HOLDS.format("error")} OR {_HOLDS.format("approval::text")})
            """,
            "of these events that repeat a passage: stay, without parameters, result or error; cancelled if not ended",
        ),
        _delete("notices", "event_id = ANY(:events)", "of these events: deleted"),
        _WITHOUT_FLOWS,
        _WITHOUT_REASONS,
        _delete("contexts", "session_id = ANY(:sessions)", "of their sessions: deleted, and chosen again"),
        _execute(
            "working",
            "values of their sessions that repeat a passage: deleted",
            f"DELETE FROM working w WHERE w.session_id = ANY(:sessions) AND {_HOLDS.format('w.value::text')}",
        ),
        ErasureStep("sessions", "stay; a state that repeats a passage loses it", payloads.redact_states),
        *_RETOLD,
        _execute(
            "plans",
            "of their sessions that repeat a passage: deleted",
            f"""
            DELETE FROM plans WHERE session_id = ANY(:sessions)
              AND ({_HOLDS.format("goal")} OR {_HOLDS.format("steps::text")})
            """,
        ),
        _WITHOUT_NAMES_BY_HAND,
        *_STOPPED,
    ),
    # Memories.
    ErasurePart.MEMORIES: (
        *_close_windows(_OF_OWNERS),
        _execute(
            "model_calls",
            "that led to them: stay, without answers",
            """
            UPDATE model_calls SET answer = NULL WHERE answer IS NOT NULL AND dispatch_id = ANY(ARRAY(
                SELECT dispatch_id FROM memory_versions WHERE memory_id = ANY(:ids)))
            """,
        ),
        _execute(
            "dispatches",
            "that led to them: stay, without errors",
            """
            UPDATE dispatches SET error = NULL WHERE error IS NOT NULL AND status = 'done' AND id = ANY(ARRAY(
                SELECT dispatch_id FROM memory_versions WHERE memory_id = ANY(:ids)))
            """,
        ),
        _execute(
            "memory_versions",
            "of other memories, from the same changes: stay, without reasons",
            f"""
            UPDATE memory_versions SET reason = '{GONE}' WHERE change_id = ANY(:changes) AND memory_id <> ALL(:ids)
            """,
        ),
        _delete("verdicts", "id = ANY(:changes) OR id = ANY(:ignored)"),
        _delete("evidence", "memory_id = ANY(:ids)"),
        _delete("relations", "from_id = ANY(:ids) OR to_id = ANY(:ids)", "deleted, to and from them"),
        _delete("search_index", "type = 'memory' AND session_id = '' AND ref = ANY(:refs)"),
        _delete(
            "servings", "user_id = ANY(:owners)", "all of the user deleted: a hash does not say whose text it is of"
        ),
        _execute(
            "profiles",
            "deleted, the user's and those of the groups, and built again from what remains",
            """
            DELETE FROM profiles WHERE owner = ANY(ARRAY(
                SELECT 'user:' || unnest(cast(:owners AS text[]))
                UNION SELECT 'group:' || group_id FROM memories WHERE id = ANY(:ids) AND group_id IS NOT NULL))
            """,
        ),
        *_blank_bulk_jobs("ANY(:ids)"),
        _delete("memory_versions", "memory_id = ANY(:ids)"),
        _delete("memories", "id = ANY(:ids)"),
        _WITHOUT_NAMES_BY_HAND,
        *_STOPPED,
    ),
    # Events about what is erased, and what followed from them.
    ErasurePart.EVENTS: (_WITHOUT_FLOWS_OF_WORDS, *_redacted_events("erased")),
    # A session.
    ErasurePart.SESSION: (
        *_close_windows("session_id = :session OR :session = ANY(sessions)"),
        _update("evidence", "quote = ''", "session_id = :session AND quote <> ''", "stays, without quotes of it"),
        _execute(
            "verdicts",
            "that stored nothing: deleted, as they hold words of the session alone",
            f"DELETE FROM verdicts v WHERE v.user_id = ANY(:owners) AND v.memory_id IS NULL AND {_CITING}",
        ),
        _execute(
            "verdicts",
            "others: stay, without quotes of it",
            f"{_unquoted_verdicts(_IS_OF_SESSION)} WHERE v.user_id = ANY(:owners) AND {_CITING}",
        ),
        _WITHOUT_RESTORABLE,
        _execute(
            "model_calls",
            "that led to memories citing it: stay, without answers",
            """
            UPDATE model_calls c SET answer = NULL FROM memory_versions v JOIN evidence e ON e.memory_id = v.memory_id
            WHERE e.session_id = :session AND c.dispatch_id = v.dispatch_id AND c.answer IS NOT NULL
            """,
        ),
        *_STOPPED,
        _update(
            "evidence",
            "quote = ''",
            "session_id = '' AND event_id = ANY(:told) AND quote <> ''",
            "from events of the session: stays, without quotes",
        ),
        _execute(
            "flows",
            "of the session, or with a message as key: deleted",
            f"""
            DELETE FROM flows f WHERE f.key = 'session:' || :session OR {_HAS_IN_KEY.format(_IS_CONTENT)}
            """,
        ),
        _delete("alarms", "for_each = 'session' AND key = :session", "of the session: deleted"),
        _delete("messages", "session_id = :session"),
        ErasureStep("search_index", "deleted", _forget_index),
        _delete("search_index", "type = 'unit' AND session_id = :session", "of its units: deleted"),
        *(_delete(table, "session_id = :session") for table in _OF_ONE_SESSION),
        _without_names_by_hand("ANY(ARRAY(SELECT user_id FROM participants WHERE session_id = :session))"),
        _delete("participants", "session_id = :session"),
        _delete("search_changes", "session_id = :session"),
        _delete("sessions", "id = :session"),
    ),
    # A user.
    ErasurePart.USER: (
        *_close_windows(
            "user_id = :user OR :user = ANY(owners) OR sessions && cast(:alone AS text[]) "
            "OR sessions && cast(:shared AS text[])"
        ),
        ErasureStep(
            "search_index",
            "deleted, with the user's counts of terms; groups' counts are reduced",
            lambda tx, _, values: removal.forget_user(tx, values["user"]),
            rows="search_index WHERE user_id = :user",
        ),
        _WITHOUT_ANSWERS_OF_LOG,
        _delete(
            "verdicts",
            f"""
            user_id = :user OR memory_id = {_MINE}
            OR ((memory_id = ANY(cast(:cited AS uuid[])) OR user_id = ANY(:near)) AND {_QUOTES_SHARED})
            """,
            "deleted, with those of others that quote the user",
        ),
        _delete(
            "evidence",
            f"""
            memory_id = {_MINE} OR (session_id = '' AND event_id = ANY(:events))
            OR ((session_id = ANY(:alone) OR session_id = ANY(:shared)) AND EXISTS (
                SELECT FROM messages m WHERE m.session_id = evidence.session_id AND m.id = evidence.message_id
                                         AND m.user_id = :user))
            """,
            "deleted, with the quotes of the user that others' memories hold",
        ),
        _delete("relations", f"from_id = {_MINE} OR to_id = {_MINE}", "deleted, to and from the user's memories"),
        _delete("memory_versions", f"memory_id = {_MINE}"),
        _delete(
            "profiles",
            f"""
            owner = 'user:' || :user OR owner = ANY(ARRAY(
                {_GROUPS_OF_MEMORIES.format("'group:' || group_id")}
                UNION SELECT 'group:' || group_id FROM sessions WHERE id = ANY(:shared) AND group_id IS NOT NULL))
            """,
            "deleted, the user's and those of their groups, which are built again from what remains",
        ),
        _delete(
            "owners",
            f"""
                (kind = 'user' AND id = :user) OR (kind = 'group' AND id = ANY(ARRAY(
                    SELECT group_id FROM sessions WHERE id = ANY(:alone) AND group_id IS NOT NULL
                    UNION {_GROUPS_OF_MEMORIES.format("group_id")}))
                AND NOT EXISTS (SELECT FROM sessions s WHERE s.group_id = owners.id COLLATE "default"
                                                         AND s.id <> ALL(:alone))
                AND NOT EXISTS (SELECT FROM memories m WHERE m.group_id = owners.id COLLATE "default"
                                                         AND m.user_id IS DISTINCT FROM :user)
                AND NOT EXISTS (SELECT FROM documents d WHERE d.group_id = owners.id COLLATE "default"))
            """,
            "deleted, with groups of which nobody else has anything",
        ),
        *_blank_bulk_jobs(_MINE),
        _delete("memories", "user_id = :user"),
        _delete("servings", "user_id = :user"),
        _delete("naming_decisions", "user_id = :user"),
        _delete("mirrors", "user_id = :user", "deleted, and the files with them"),
        _delete("sweeps", "user_id = :user"),
        ErasureStep("rebuilds", "deleted, with what they had made", shadows.delete_rebuilds),
        _delete("import_parts", _OF_IMPORTS),
        _delete("import_places", _OF_IMPORTS),
        _delete("imports", "user_id = :user"),
        _delete("notices", "user_id = :user OR event_id = ANY(:events)"),
        _delete(
            "passages",
            "document_id IN (SELECT id FROM documents WHERE user_id = :user)",
            "of the user's own documents: deleted",
        ),
        _delete("documents", "user_id = :user", "the user's own: deleted"),
        *_CONVERSATIONS,
        _delete("messages", "session_id = ANY(:alone)"),
        _update(
            "messages",
            f"""
            content = '', speaker = NULL, extras = NULL, user_id = '', agent_id = NULL,
            importance = NULL, id = {_nameless("id")}, event_id = {_nameless("event_id")}
            """,
            "session_id = ANY(:shared) AND user_id = :user",
            "in sessions with others: they keep their place, without text, speaker or any name",
        ),
        _execute(
            "messages",
            "of others, who named the user as taking part: without that name",
            """
            UPDATE messages
                SET extras = jsonb_set(extras, '{participants}', (extras -> 'participants') - cast(:user AS text))
            WHERE session_id = ANY(:shared) AND jsonb_exists(extras -> 'participants', :user)
            """,
            rows="""messages WHERE session_id = ANY(:shared) AND user_id <> :user
                AND jsonb_exists(extras -> 'participants', :user)""",
        ),
        _delete("participants", "session_id = ANY(:alone) OR (session_id = ANY(:shared) AND user_id = :user)"),
        _delete("sessions", "id = ANY(:alone)"),
        _update(
            "sessions",
            "user_id = CASE WHEN user_id <> :user THEN user_id END, state = '{}'",
            "id = ANY(:shared)",
            "with others: stay, and are the user's no longer",
        ),
        *_DECISIONS,
        _execute(
            "flows",
            "deleted, unless others' events wait in one, too",
            f"""
            DELETE FROM flows WHERE key = 'user:' || :user
                OR key = ANY(ARRAY(SELECT 'session:' || unnest(cast(:alone AS text[]))))
                OR (event_seqs <> '{{}}' AND event_seqs <@ {_SEQS})
                OR EXISTS (SELECT FROM unnest(cast(:spelt AS text[])) AS s WHERE strpos(key, s) > 0)
            """,
        ),
        _execute(
            "dispatches",
            "what came from the bus and could not be read but names the user: deleted",
            """
            DELETE FROM dispatches WHERE event_seq IS NULL AND EXISTS (
                SELECT FROM unnest(cast(:spelt AS text[])) AS s WHERE strpos(params ->> 'body', s) > 0)
            """,
        ),
        _execute(
            "events",
            "of others in a session with the user: without the user's name among those who took part",
            f"""
            UPDATE events
                SET payload = jsonb_set(payload, '{{participants}}', (payload -> 'participants') - cast(:user AS text))
            WHERE session_id = ANY(:shared) AND seq <> ALL({_SEQS}) AND jsonb_exists(payload -> 'participants', :user)
            """,
        ),
        *_LEDGER,
        _execute(
            "search_changes",
            "deleted, and those of groups without any rows left in search_index",
            """
            DELETE FROM search_changes c WHERE c.owner = 'user:' || :user OR (c.owner = ANY(ARRAY(
                SELECT 'group:' || unnest(cast(:groups AS text[])))) AND NOT EXISTS (
                SELECT FROM search_index i WHERE i.group_id = substr(c.owner, 7)))
            """,
        ),
        _execute(
            "schedules",
            "that are being handed to one user after another: begin this page again a little earlier",
            "UPDATE schedules SET page_after = left(cast(:user AS text), -1) WHERE page_after = :user",
        ),
        _delete(
            "alarms",
            "(for_each = 'user' AND key = :user) OR (for_each = 'session' AND key = ANY(:alone))",
            "of the user and their sessions: deleted",
        ),
    ),
    # A group.
    ErasurePart.GROUP: (
        *_close_windows(
            "group_id = :group OR sessions && cast(:alone AS text[]) OR sessions && cast(:shared AS text[])"
        ),
        ErasureStep(
            "search_index",
            "deleted, with the group's counts of terms; members' counts are reduced",
            lambda tx, _, values: removal.forget_group(tx, values["group"], values["alone"]),
            rows="""search_index WHERE (type = 'message' AND session_id = ANY(:alone))
                OR (type IN ('message', 'document') AND group_id = :group)""",
        ),
        _delete("alarms", "for_each = 'session' AND key = ANY(:alone)", "of the group's sessions: deleted"),
        _WITHOUT_ANSWERS_OF_LOG,
        _delete(
            "verdicts",
            f"""
            group_id = :group OR ((user_id = ANY(:owners) OR user_id = ANY(ARRAY(
                SELECT user_id FROM participants WHERE session_id = ANY(:shared)))) AND EXISTS (
                SELECT FROM jsonb_array_elements({_LIST.format("verdicts.candidate -> 'evidence'")}) e
                WHERE e ->> 'session_id' = ANY(:alone) OR (e ->> 'session_id', e ->> 'message_id') IN ({_PLACES})))
            """,
            "deleted, with those of members that quote what was said to it",
        ),
        _delete(
            "evidence",
            f"""
            session_id = ANY(:alone) OR (session_id = '' AND event_id = ANY(:events))
            OR (session_id = ANY(:shared) AND (session_id, message_id) IN ({_PLACES}))
            """,
            "deleted, with the quotes of it that other memories hold",
        ),
        _WITHOUT_RESTORABLE,
        _delete("profiles", "owner = 'group:' || :group"),
        _delete("owners", "kind = 'group' AND id = :group"),
        _delete("import_parts", "import_id IN (SELECT id FROM imports WHERE group_id = :group)"),
        _delete("import_places", "import_id IN (SELECT id FROM imports WHERE group_id = :group)"),
        _delete("imports", "group_id = :group"),
        _delete("notices", "event_id = ANY(:events)"),
        _delete(
            "passages",
            "document_id IN (SELECT id FROM documents WHERE group_id = :group)",
            "of the group's documents: deleted",
        ),
        _delete("documents", "group_id = :group", "the group's: deleted, also those that are a member's as well"),
        *_CONVERSATIONS,
        _WITHOUT_FLOWS_OF_WORDS,
        _execute(
            "flows",
            "of these events or sessions, or of the group: deleted, unless others' events wait in one, too",
            f"""
            DELETE FROM flows f WHERE f.event_seqs <@ {_SEQS} AND (
                f.event_seqs <> '{{}}'
                OR f.key = ANY(ARRAY(SELECT 'session:' || unnest(cast(:alone AS text[]))))
                OR (f.key LIKE '[%' AND jsonb_exists_any(
                        CASE WHEN f.key LIKE '[%' THEN cast(f.key AS jsonb) END,
                        cast(:alone AS text[]) || cast(:group AS text))))
            """,
        ),
        _delete("messages", "session_id = ANY(:alone)"),
        _update(
            "messages",
            f"""
            content = '', speaker = NULL, extras = NULL, user_id = '', group_id = NULL,
            agent_id = NULL, importance = NULL, id = {_nameless("id")}, event_id = {_nameless("event_id")}
            """,
            f"(session_id, id) IN ({_PLACES})",
            "in sessions with others: they keep their place, without text, speaker or any name",
        ),
        _delete(
            "participants",
            f"session_id = ANY(:alone) OR (session_id = ANY(:shared) AND {_SILENT})",
            "deleted, unless they said something else there",
        ),
        ErasureStep("search_index", "of these: deleted, and the rows beside them weighted again", _forget_index),
        _WITHOUT_NAMES_BY_HAND,
        _delete("sessions", "id = ANY(:alone)"),
        _update(
            "sessions",
            "group_id = CASE WHEN group_id <> :group THEN group_id END, state = '{}'",
            "id = ANY(:shared)",
            "with others: stay, and are the group's no longer",
        ),
        *_DECISIONS,
        _execute(
            "dispatches",
            "what came from the bus and could not be read but names the group: deleted",
            r"""
            DELETE FROM dispatches WHERE event_seq IS NULL AND EXISTS (
                SELECT FROM unnest(cast(:spelt AS text[])) AS s
                WHERE strpos(regexp_replace(params ->> 'body', '("group_id")\s*\:\s*', '\1\: ', 'g'), s) > 0)
            """,
        ),
        *_LEDGER,
        _execute(
            "search_changes",
            "deleted",
            "DELETE FROM search_changes WHERE owner = 'group:' || :group OR session_id = ANY(:alone)",
        ),
    ),
    # The name of an erased user or group, once everything that follows from its announcement has ended.
    ErasurePart.NAMES: (
        _update(
            "events",
            """payload = '{"erased": true}', subject = NULL, user_id = NULL, extensions = NULL""",
            f"seq = ANY({_SEQS})",
            "that announced the erasure: stay, without the name",
        ),
        _update(
            "dispatches",
            "params = '{}', result = NULL, error = NULL, trace = NULL, alone = NULL, lane = NULL",
            f"event_seq = ANY({_SEQS})",
            "of these events: stay, without parameters, result, error or name",
        ),
        _delete("flows", f"key = ANY(:keys) AND event_seqs <@ {_SEQS}", "under the name: deleted"),
    ),
    # Quotes of messages that have been kept for as long as they should, where memories are to lose them.
    ErasurePart.QUOTES: (
        _WITHOUT_QUOTES,
        _WITHOUT_QUOTES_IN_VERDICTS,
        _WITHOUT_RESTORABLE,
        ErasureStep("rebuilds", "stopped, and what they had made deleted: it quotes them", shadows.stop_rebuilds),
    ),
    # Events of what has been kept for as long as it should.
    ErasurePart.EXPIRED_EVENTS: (_WITHOUT_FLOWS, *_redacted_events("expired")),
    # Messages that have been kept for as long as they should.
    ErasurePart.EXPIRED_MESSAGES: (
        *_close_windows("sessions && cast(:sessions AS text[])"),
        _update("evidence", "expired = true", _CITED, "stays, and says that they have left"),
        _execute(
            "verdicts",
            "that stored nothing: deleted, as they hold words of the messages alone",
            f"DELETE FROM verdicts v WHERE v.user_id = ANY(:owners) AND v.memory_id IS NULL AND {_CITE_PLACES}",
        ),
        _WITHOUT_ANSWERS,
        _execute(
            "messages",
            "of sessions that leave: deleted, unless another user's memory cites them: their speaker may yet be erased",
            f"""
            DELETE FROM messages m WHERE :whole AND (session_id, id) IN ({_PLACES}) AND NOT EXISTS (
                SELECT FROM evidence e JOIN memories o ON o.id = e.memory_id
                WHERE e.session_id = m.session_id AND e.message_id = m.id AND o.user_id IS DISTINCT FROM m.user_id)
            """,
        ),
        _update(
            "messages",
            """content = '', speaker = NULL, extras = jsonb_strip_nulls(jsonb_build_object(
                'participants', extras -> 'participants', 'expired', true))""",
            f"(session_id, id) IN ({_PLACES})",
            "others: keep their place, without text",
        ),
        ErasureStep("search_index", "deleted, and the rows beside them weighted again", _forget_index),
        _WITHOUT_REASONS,
    ),
    # What retells such messages in sessions that go on.
    ErasurePart.EXPIRED_PARTS: (
        *_RETOLD,
        _delete("plans", f"session_id = ANY(:sessions) AND event_seq = ANY({_SEQS})", "last changed by them: deleted"),
    ),
    # Sessions that have been kept for as long as they should.
    ErasurePart.EXPIRED_SESSIONS: (
        _delete("participants", f"session_id = ANY(:sessions) AND {_SILENT}", "of whom nothing is left: deleted"),
        *(_delete(table, "session_id = ANY(:sessions)") for table in (*_OF_ONE_SESSION, "search_changes")),
        _delete("alarms", "for_each = 'session' AND key = ANY(:sessions)", "of these sessions: deleted"),
        _update(
            "sessions",
            """state = '{}', oldest_at = NULL, oldest_tool_at = NULL, extracted_to = message_count,
            indexed_to = message_count""",
            "id = ANY(:sessions)",
            "stay, without state, and count as read",
        ),
    ),
}
