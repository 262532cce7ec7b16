"""Who may ask the model now: what waits does so without a slot, without an attempt, and without holding others up."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core import agents
from core.config import Settings
from core.errors import Later, Never
from core.inference import quota
from core.inference.client import Call, ChatClient
from core.inference.openai_client import OpenAIClient
from core.inference.quota import BreakerOpen, Grant, Meter, Provider
from core.inference.token_bucket import Need, ProviderLimits
from core.storage import db
from core.storage.db import Database
from core.tenancy import tenants
from tests.core.inference.endpoint import GOOD, Facts, endpoint, refusal, reply
from tests.samples import TENANT, accept, event, said
from tests.workers.dispatch.owing import POLICY, owe, row_of, swept
from tests.works import run_one
from workers import wiring
from workers.agents import table
from workers.dispatch import admission, insertion, sweep
from workers.dispatch.admission import RESERVE, ModelAdmission, Wait
from workers.dispatch.model import BoundAgent, Job, Ledger, NewDispatch, Outcome, PostponedPart
from workers.tools import Tools, note_call

OTHER = "globex"
NAME = "models.example/m"
PATIENT = replace(POLICY, retry_base=0.001, retry_max=0.001)
GATE = ModelAdmission(
    Provider(NAME, ProviderLimits(None, None, 3, timedelta(seconds=600), timedelta(seconds=900))),
    asking=frozenset({"agent", "reader"}),
    reading=frozenset({"reader"}),
    most=200,
)


def a_admission_control(requests: float | None = None, tokens: float | None = None, **more: Any) -> ModelAdmission:
    provider = Provider(NAME, replace(GATE.provider.limits, requests=requests, tokens=tokens))
    return replace(GATE, provider=provider, **more)


def guarded(app: Database, agent: BoundAgent, admission_control: ModelAdmission = GATE) -> Ledger:
    names = ("agent", "reader", "free", agents.KEEPER)
    return Ledger(app, dict.fromkeys(names, agent), dict.fromkeys(names, "io"), PATIENT, admission_control)


@dataclass(slots=True)
class Ran:
    """An agent that notes which jobs it was given, and does as it is told with each."""

    then: Callable[[Job], Any] = lambda _job: None
    jobs: list[Job] = field(default_factory=list)

    def __call__(self, job: Job) -> Outcome:
        self.jobs.append(job)
        self.then(job)
        return Outcome()


def put(app: Database, changes: str) -> None:
    with app.queue() as tx:
        tx.execute(text(f"UPDATE providers SET {changes}"))


def provider_row(app: Database) -> Any:
    with app.queue() as tx:
        return tx.execute(text("SELECT * FROM providers")).one()


def stand_still(app: Database) -> None:
    """From now on nothing flows into the bucket."""
    put(app, "filled_at = filled_at + interval '1 day'")


def run_all(works: Ledger, ids: Sequence[UUID], tenant: str = TENANT) -> None:
    for one in ids:
        run_one(works, tenant, one)


def hasten(app: Database, tenant: str = TENANT) -> None:
    """Whatever waits is due now."""
    due = "UPDATE dispatches SET wake_at = clock_timestamp() WHERE status IN ('pending', 'retrying')"
    with app.tenant(tenant) as tx:
        tx.execute(text(due))


def statuses(app: Database) -> dict[str, int]:
    with app.tenant(TENANT) as tx:
        rows = tx.execute(text("SELECT status, count(*) AS dispatches FROM dispatches GROUP BY 1"))
        return {row.status: row.dispatches for row in rows}


def spend(app: Database, tokens: int, cost: float, *, tenant: str = TENANT, days: int = 0) -> None:
    """A call of so many days ago."""
    call = """
        INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, input_tokens, output_tokens, cost, outcome, at)
        VALUES (:tenant, uuidv7(), 'm', 'p', :tokens, 0, :cost, 'ok', clock_timestamp() - make_interval(days => :days))
    """
    with app.tenant(tenant) as tx:
        tx.execute(text(call), {"tenant": tenant, "tokens": tokens, "cost": cost, "days": days})


@pytest.fixture
def many(settings: Settings) -> Iterator[Database]:
    """The tenant-bound role, with a connection for each of many threads."""
    database = db.connect(db.app_url(settings), 20)
    yield database
    database.close()


def test_as_many_begin_as_the_bucket_holds_and_the_others_wait_with_a_reason(app: Database) -> None:
    ran, ids = Ran(lambda job: job.grant and job.grant.pay(Need(9, 9_999))), [owe(app) for _ in range(5)]
    works = guarded(app, ran, a_admission_control(requests=2))
    put_empty(app, works)
    put(app, "requests = 2")
    began = datetime.now(UTC)
    run_all(works, ids)
    assert [job.id for job in ran.jobs] == ids[:2]
    first, second, third = (row_of(app, one) for one in ids[2:])
    for waiting in (first, second, third):
        assert (waiting.status, waiting.attempt, waiting.sends, waiting.lease) == ("pending", 0, 0, None)
        assert waiting.started_at is None
        assert "requests a minute of the model models.example/m" in waiting.error
    took = datetime.now(UTC) - began
    for place, waiting in enumerate((first, second, third), start=1):  # One flows in every thirty seconds.
        due = timedelta(seconds=30 * place)
        assert due <= waiting.wake_at - began <= due + took + timedelta(seconds=1), "they are due one by one"


def test_who_waits_holds_no_slot_and_comes_when_the_sweep_sends_it(app: Database, queue: Database) -> None:
    ran, ids = Ran(), [owe(app) for _ in range(3)]
    works = guarded(app, Ran(lambda job: job.grant and job.grant.pay(job.grant.left)), a_admission_control(requests=1))
    run_all(works, ids[:1])
    works = guarded(app, ran, a_admission_control(requests=1))
    run_all(works, ids[1:])
    assert (ran.jobs, swept(queue)) == ([], [])
    put(app, "requests = 1")
    hasten(app)
    run_all(works, swept(queue))
    assert len(ran.jobs) == 2, "what the first did not use was there for the second"
    assert all(row_of(app, one).status == "done" for one in ids)
    assert all(row_of(app, one).error is None for one in ids)


def test_who_asks_no_model_passes_by(app: Database) -> None:
    ran, one = Ran(), owe(app, "free")
    works = guarded(app, ran, a_admission_control(requests=1))
    put_empty(app, works)
    run_all(works, [one])
    assert [job.grant for job in ran.jobs] == [None]


def put_empty(app: Database, works: Ledger) -> None:
    """Nothing is left in the bucket, and nothing flows in."""
    assert works.admission_control
    with app.queue() as tx:
        quota.admit(tx, works.admission_control.provider, Need(0, 0))
    put(app, "requests = 0, tokens = 0")
    stand_still(app)


def test_many_workers_together_never_get_more_than_the_bucket_holds(app: Database, many: Database) -> None:
    ids, together = [owe(app) for _ in range(40)], threading.Barrier(20, timeout=60)
    ran = Ran(lambda job: job.grant and job.grant.pay(job.grant.left))
    works = guarded(many, ran, a_admission_control(requests=7))
    put_empty(app, works)
    put(app, "requests = 7")

    def work(number: int) -> None:
        together.wait()
        run_all(works, ids[number * 2 : number * 2 + 2])

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(work, range(20)))
    assert (len(ran.jobs), provider_row(app).requests) == (7, 0)
    assert statuses(app) == {"done": 7, "pending": 33}


def test_of_many_who_claim_one_dispatch_one_is_granted_something(app: Database, many: Database) -> None:
    one, together = owe(app), threading.Barrier(8, timeout=60)
    ran = Ran(lambda job: job.grant and job.grant.pay(job.grant.left))
    works = guarded(many, ran, a_admission_control(requests=60))
    put_empty(app, works)
    put(app, "requests = 60")

    def claim(_: int) -> None:
        together.wait()
        run_one(works, TENANT, one)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(claim, range(8)))
    assert (len(ran.jobs), provider_row(app).requests) == (1, 59)


def test_who_finds_its_lane_full_has_taken_nothing_out(app: Database) -> None:
    def at_work(_job: Job) -> None:
        run_one(works, TENANT, second)

    first, second = (owe(app, lane="l", lane_limit=1) for _ in range(2))
    ran = Ran(at_work)
    works = guarded(app, ran, a_admission_control(requests=60))
    put_empty(app, works)
    put(app, "requests = 60")
    run_one(works, TENANT, first)
    assert (len(ran.jobs), row_of(app, second).status, provider_row(app).requests) == (1, "pending", 60)


def test_tenants_share_the_bucket(app: Database) -> None:
    with app.tenant(OTHER) as tx:
        tenants.ensure(tx, OTHER)
    theirs = owe_for(app, OTHER)
    mine = owe(app)
    works = guarded(app, Ran(lambda job: job.grant and job.grant.pay(job.grant.left)), a_admission_control(requests=1))
    run_all(works, [mine])
    run_all(works, [theirs], OTHER)
    with app.tenant(OTHER) as tx:
        assert tx.execute(text("SELECT status, attempt FROM dispatches")).one() == ("pending", 0)


def owe_for(app: Database, tenant: str) -> UUID:
    accepted = accept(app, event(), tenant=tenant)
    new = NewDispatch(tenant, "run_agent", "agent", "io", {}, accepted.last_seq, accepted.last_seq, "c", 0)
    with app.tenant(tenant) as tx:
        return insertion.insert(tx, [new], POLICY.resend)[0].id


def test_what_is_read_is_estimated_by_what_nobody_has_read_yet(app: Database) -> None:
    accept(app, *(said("word " * 80, message_id=f"m{n}") for n in range(12)))
    with app.tenant(TENANT) as tx:
        total = tx.execute(text("SELECT token_count FROM sessions")).scalar_one()
        half = tx.execute(text("SELECT token_count FROM messages WHERE position = 6")).scalar_one()
    assert total > 1_000
    assert estimate(app, 0) == Need(1, total + RESERVE)
    assert estimate(app, 6) == Need(1, total - half + RESERVE)
    assert estimate(app, 12) is None, "where nothing is to be read nothing is asked"
    assert estimate(app, 0, most=6) == Need(1, half + RESERVE), "the rest is another dispatch"
    assert estimate(app, 0, session="nowhere") is None


def estimate(app: Database, read: int, session: str = "s1", **more: Any) -> Need | None:
    """What is taken beforehand for a session of which so many messages have been read."""
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE sessions SET extracted_to = :read"), {"read": read})
    found: list[Need | None] = []
    ran = Ran(lambda job: found.append(job.grant.left if job.grant else None))
    run_all(
        guarded(app, ran, a_admission_control(tokens=1e6, **more)), [owe(app, "reader", params={"session_id": session})]
    )
    return found[0]


def test_what_is_to_be_remembered_now_waits_for_no_model(app: Database) -> None:
    requested = event("memory.requested", {"user_id": "ada", "content": "Ada likes tea.", "session_id": "s1"})
    seq = accept(app, said("Nobody has read this yet."), requested).last_seq
    ran = Ran()
    works = guarded(app, ran, a_admission_control(requests=1))
    put_empty(app, works)
    read = owe(app, "reader", event_seq=seq, params={"session_id": "s1"})
    run_all(works, [read, owe(app, agents.KEEPER, event_seq=seq)])
    assert [(job.target, job.grant) for job in ran.jobs] == [(agents.KEEPER, None)]
    assert row_of(app, read).status == "pending", "what is read beside it does"
    assert agents.KEEPER in table.MODEL_USERS - table.ADMITTED


def test_what_a_job_did_not_use_is_there_for_the_next(app: Database) -> None:
    works = guarded(app, Ran(), a_admission_control(requests=1))
    put_empty(app, works)
    put(app, "requests = 1")
    ids = [owe(app) for _ in range(5)]
    run_all(works, ids)
    assert statuses(app) == {"done": 5}
    failing = guarded(app, Ran(lambda _job: (_ for _ in ()).throw(Never("broken"))), a_admission_control(requests=1))
    run_all(failing, [owe(app)])
    assert provider_row(app).requests == 1


def test_one_that_may_not_begin_keeps_nobody_of_its_key_waiting(app: Database) -> None:
    """Its claim is taken back with the lease, so that the next of its key is free to begin."""
    works = guarded(app, Ran(), a_admission_control(requests=1))
    put_empty(app, works)
    first, second = owe(app, alone="k"), owe(app, "free", alone="k")
    run_all(works, [first, second])
    assert (row_of(app, first).status, row_of(app, second).status) == ("pending", "done")


def test_an_attempt_that_was_made_still_counts_after_waiting(app: Database, queue: Database) -> None:
    failing = guarded(app, Ran(lambda _job: (_ for _ in ()).throw(Later("busy"))), a_admission_control(requests=60))
    one = owe(app)
    run_all(failing, [one])
    put_empty(app, failing)
    hasten(app)
    run_all(failing, swept(queue))
    waiting = row_of(app, one)
    assert (waiting.status, waiting.attempt, waiting.started_at is not None) == ("pending", 1, True)


def asking(client: ChatClient) -> Callable[[Job], Any]:
    def ask(job: Job) -> None:
        client.under(job.grant).ask("p.v1", "s", "t", Facts, lambda _call: None)

    return ask


def test_work_survives_a_long_break_and_no_attempt_is_counted(app: Database, queue: Database) -> None:
    ids = [owe(app) for _ in range(4)]
    with endpoint(refusal(503)) as there:
        client = OpenAIClient(there.url, "k", "m", 5, Meter(app, GATE.provider))
        ran = Ran(asking(client))
        works = guarded(app, ran)
        run_all(works, ids)
        assert [row_of(app, one).attempt for one in ids] == [1, 1, 0, 0], "the third one opened it"
        assert "left alone" in row_of(app, ids[3]).error
        for _ in range(20):
            hasten(app)
            put(app, "open_until = clock_timestamp()")
            run_all(works, swept(queue))
        assert len(there.asked) == 23, "each time one tried"
        assert statuses(app).keys() <= {"pending", "retrying"}
        assert [row_of(app, one).attempt for one in ids] == [1, 1, 0, 0]
        there.answers = [reply(GOOD)]
        for _ in range(2):
            hasten(app)
            put(app, "open_until = least(open_until, clock_timestamp())")
            run_all(works, swept(queue))
    assert statuses(app) == {"done": 4}
    assert [row_of(app, one).attempt for one in ids] == [2, 2, 1, 1]


def test_one_dispatch_alone_survives_it_too(app: Database, queue: Database) -> None:
    patient = replace(GATE, provider=Provider(NAME, replace(GATE.provider.limits, failures=2)))
    one = owe(app)
    with endpoint(refusal(429, **{"Retry-After": "0"})) as there:
        client = OpenAIClient(there.url, "k", "m", 5, Meter(app, patient.provider))
        works = guarded(app, Ran(asking(client)), patient)
        run_all(works, [one])
        for _ in range(2 * PATIENT.attempts):
            hasten(app)
            put(app, "open_until = least(open_until, clock_timestamp())")
            run_all(works, swept(queue))
    assert (row_of(app, one).status, row_of(app, one).attempt) == ("retrying", 0)


def test_of_many_workers_exactly_one_tries_and_the_others_wait(app: Database, many: Database) -> None:
    ids, together = [owe(app) for _ in range(20)], threading.Barrier(20, timeout=60)
    turned_away, all_others = list[int](), threading.Event()
    ran = Ran(lambda _job: all_others.wait(60))
    works = guarded(many, ran)
    put_empty(app, works)
    put(app, "failures = 3, open_until = clock_timestamp() - interval '1 second'")

    def work(number: int) -> None:
        together.wait()
        run_one(works, TENANT, ids[number])
        turned_away.append(number)
        if len(turned_away) == 19:
            all_others.set()

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(work, range(20)))
    assert all_others.is_set()
    assert len(ran.jobs) == 1
    assert statuses(app) == {"done": 1, "pending": 19}


def test_a_job_in_the_middle_that_meets_an_open_breaker_waits_and_loses_no_attempt(app: Database) -> None:
    def trip(job: Job) -> None:
        put(app, "failures = 3, open_until = clock_timestamp() + interval '40 seconds'")
        Meter(app, GATE.provider).enter(job.grant or Grant())

    one, began = owe(app), datetime.now(UTC)
    run_all(guarded(app, Ran(trip)), [one])
    waiting = row_of(app, one)
    assert (waiting.status, waiting.attempt) == ("retrying", 0)
    assert began + timedelta(seconds=40) <= waiting.wake_at <= datetime.now(UTC) + timedelta(seconds=41)


def test_after_a_break_those_who_wait_come_one_after_the_other(app: Database) -> None:
    works = guarded(app, Ran())
    put_empty(app, works)
    put(app, "failures = 3, open_until = clock_timestamp() + interval '30 seconds'")
    ids = [owe(app) for _ in range(10)]
    run_all(works, ids)
    due = [row_of(app, one).wake_at for one in ids]
    assert len(set(due)) == 10
    assert (max(due) - min(due)).total_seconds() > 8 / admission.RESUMED_PER_SECOND
    assert min(due) >= provider_row(app).open_until


def test_a_long_line_is_not_due_later_than_limits_may_change(app: Database) -> None:
    works = guarded(app, Ran(), a_admission_control(requests=1))
    put_empty(app, works)
    put(app, "filled_at = clock_timestamp()")
    ids = [owe(app) for _ in range(30)]
    run_all(works, ids)
    due = [row_of(app, one).wake_at for one in ids]
    minutes = Counter(round((one - min(due)) / timedelta(minutes=1)) for one in due)
    assert minutes == dict.fromkeys(range(admission.QUEUE_LENGTH // timedelta(minutes=1)), 3), (
        "one a minute, and over again"
    )


@pytest.mark.parametrize(
    ("budget", "words"),
    [({"tokens_per_day": 1_000}, "IMPRINT_LLM_TOKENS_PER_DAY=1,000"), ({"cost_per_day": 0.5}, "COST_PER_DAY=0.50")],
)
def test_who_has_spent_the_day_waits_for_the_next_and_others_go_on(
    app: Database, queue: Database, budget: dict[str, Any], words: str
) -> None:
    with app.tenant(OTHER) as tx:
        tenants.ensure(tx, OTHER)
    spend(app, 999, 0.49)
    ran = Ran()
    works = guarded(app, ran, a_admission_control(**budget))
    run_all(works, [owe(app)])
    assert len(ran.jobs) == 1, "as long as something is left it goes on"
    spend(app, 1, 0.01)
    one, theirs = owe(app), owe_for(app, OTHER)
    run_all(works, [one])
    run_all(works, [theirs], OTHER)
    assert [job.id for job in ran.jobs[1:]] == [theirs]
    held = row_of(app, one)
    assert (held.status, held.hold, held.attempt, held.wake_at) == ("held", "time", 0, None)
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    assert held.expires_at == midnight
    assert words in held.error
    assert swept(queue) == []


def test_on_the_next_day_it_goes_on(app: Database, queue: Database) -> None:
    spend(app, 5_000, 0)
    ran, one = Ran(), owe(app)
    works = guarded(app, ran, a_admission_control(tokens_per_day=1_000))
    run_all(works, [one])
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE model_calls SET at = at - interval '1 day'"))
        tx.execute(text("UPDATE dispatches SET expires_at = clock_timestamp()"))
    with queue.queue() as tx:
        (again,) = sweep.release(tx, PATIENT)
    run_all(works, [again.id])
    assert row_of(app, one).status == "done"


def test_calls_of_yesterday_are_no_matter(app: Database) -> None:
    spend(app, 5_000, 9, days=1)
    ran = Ran()
    run_all(guarded(app, ran, a_admission_control(tokens_per_day=1_000, cost_per_day=1)), [owe(app)])
    assert len(ran.jobs) == 1


def test_what_waits_at_the_gate_is_shown_with_its_reason(settings: Settings, app: Database) -> None:
    limited = settings.model_copy(
        update={"llm_base_url": "http://127.0.0.1:1/v1", "llm_requests_per_minute": 1, "llm_tokens_per_day": 10}
    )
    works = wiring.ledger(limited)
    try:
        assert works.admission_control is not None
        assert works.admission_control.provider.name == "127.0.0.1:1/gpt-5-mini"
        assert works.admission_control.asking == table.ADMITTED
        spend(app, 10, 0)
        one = owe(app, "episode_writer")
        run_all(works, [one])
        assert row_of(app, one).hold == "time"
    finally:
        works.db.close()


def test_without_a_model_there_is_no_admission_control(settings: Settings) -> None:
    assert wiring.admission_control(settings) is None
    offline = settings.model_copy(update={"llm_base_url": "http://127.0.0.1:1/v1", "extractor": "offline"})
    admission_control = wiring.admission_control(offline)
    assert admission_control is not None
    assert not admission_control.asking & agents.EXTRACTORS, "who extracts by rules waits for no model"


@pytest.mark.parametrize(("extractor", "beginning"), [("auto", agents.EXTRACTORS), ("llm", frozenset())])
def test_where_rules_read_beside_the_model_extraction_begins_without_it(
    settings: Settings, extractor: str, beginning: frozenset[str]
) -> None:
    chosen = {"llm_base_url": "http://127.0.0.1:1/v1", "extractor": extractor}
    admission_control = wiring.admission_control(settings.model_copy(update=chosen))
    assert admission_control is not None
    assert admission_control.begins_without == beginning
    assert admission_control.asking == table.ADMITTED


def test_who_may_begin_without_the_model_does_and_is_told_to_ask_nothing(app: Database) -> None:
    accept(app, said("I live in Lisbon."))
    spend(app, 10, 0)
    gate = a_admission_control(tokens_per_day=10, begins_without=frozenset({"reader"}))
    ran = Ran()
    works = replace(guarded(app, ran, gate), model=OpenAIClient("http://127.0.0.1:1/v1", "k", "m", 5))
    whole = owe(app, "reader", params={"session_id": "s1"})
    window = owe(app, "reader", params={"session_id": "s1", "from": 1})
    other = owe(app, "agent")
    run_all(works, [whole, window, other])
    (job,) = ran.jobs
    assert (job.id, job.grant, job.model) == (whole, None, None)
    assert job.wait is not None
    assert job.wait.for_day
    assert [row_of(app, one).status for one in (whole, window, other)] == ["done", "held", "held"]


def test_parts_wait_as_they_would_have_if_they_had_been_dispatches_of_their_own(app: Database) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    causes = {
        "minute": Wait("no room", tomorrow),
        "day": Wait("no money", tomorrow, for_day=True),
        "refused": Later("slow down", timedelta(hours=1)),
        "open": BreakerOpen("left alone", timedelta(hours=2)),
    }
    parts = [PostponedPart({"from": name}, cause) for name, cause in causes.items()]
    works = Ledger(app, {"agent": lambda _: Outcome(postponed=parts)}, {"agent": "io"}, PATIENT)
    one = owe(app)
    began = datetime.now(UTC)
    run_one(works, TENANT, one)
    with app.tenant(TENANT) as tx:
        written = tx.execute(text("SELECT * FROM dispatches WHERE id <> :one ORDER BY id"), {"one": one}).all()
    assert [(row.params["from"], row.status, row.hold, row.attempt, row.error) for row in written] == [
        ("minute", "pending", None, 0, "no room"),
        ("day", "held", "time", 0, "no money"),
        ("refused", "retrying", None, 1, "slow down"),
        ("open", "retrying", None, 0, "left alone"),
    ]
    assert [row.expires_at for row in written] == [None, tomorrow, None, None]
    assert [row.wake_at for row in written[:2]] == [tomorrow, None]
    for row, hours in zip(written[2:], (1, 2), strict=True):
        assert row.wake_at >= began + timedelta(hours=hours)
    assert row_of(app, one).status == "done"


def test_every_call_stands_in_the_ledger_of_calls(settings: Settings, app: Database) -> None:
    priced = settings.model_copy(update={"llm_input_price": 2.5, "llm_output_price": 20})
    calls: list[Call] = []
    with endpoint(refusal(400, "response_format"), reply("half \x00", usage=None), reply(GOOD)) as there:
        client = OpenAIClient(there.url, "k", "m", 5, Meter(app, GATE.provider))

        def ask(job: Job) -> None:
            def note(call: Call) -> None:
                calls.append(call)
                note_call(Tools(app, None, priced), job, call)  # type: ignore[arg-type]

            client.under(job.grant).ask("p.v1", "s", "t", Facts, note)

        one = owe(app)
        run_all(guarded(app, Ran(ask)), [one])
    with app.tenant(TENANT) as tx:
        rows = tx.execute(text("SELECT * FROM model_calls ORDER BY id")).all()
    assert [(r.dispatch_id, r.model, r.prompt, r.outcome) for r in rows] == [
        (one, "m", "p.v1", "unsupported"),
        (one, "m", "p.v1", "misshapen+estimated"),
        (one, "m", "p.v1+repair", "ok"),
    ]
    assert [(r.input_tokens, r.output_tokens) for r in rows] == [(c.input_tokens, c.output_tokens) for c in calls]
    assert rows[2].cost == pytest.approx((10 * 2.5 + 5 * 20) / 1e6)
    assert rows[1].cost > 0
    assert all(r.latency_ms > 0 for r in rows)
    assert rows[1].answer == "half \ufffd"
