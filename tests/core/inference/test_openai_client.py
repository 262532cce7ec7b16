"""One structured question to a model, over real HTTP: to endpoints that answer well, badly, otherwise or not at all."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from core.errors import Later, Never
from core.inference.answer_limits import AnswerBounds
from core.inference.client import Call
from core.inference.openai_client import OpenAIClient
from core.inference.quota import BreakerOpen, Grant, Meter, Provider
from core.storage.db import Database
from tests.core.inference.endpoint import ADA, GOOD, Endpoint, Facts, Place, endpoint, refusal, reply
from tests.core.inference.providers import FREE, NAME, a_provider, put, row


def asked(there: Endpoint, calls: list[Call], **more: Any) -> Facts:
    return OpenAIClient(there.url, "k", "m", 5, **more).ask("p.v1", "Say what lasts.", "hello", Facts, calls.append)


WRITTEN = {
    "as asked": json.dumps(GOOD),
    "in a fence": f"```json\n{json.dumps(GOOD, indent=2)}\n```",
    "in a fence within prose": f"Here it is:\n\n```json\n{json.dumps(GOOD)}\n```\nAnything else?",
    "in prose": f"Sure {{as you wish}}! {json.dumps(GOOD)} I hope {{that}} helps.",
    "after a thought": f"<think>Perhaps {json.dumps({'facts': GOOD['facts'] * 3})}? No.</think>\n{json.dumps(GOOD)}",
    "beside an empty example": f'Nothing would be {{"facts": []}}, but there is: {json.dumps(GOOD)}',
    "with a byte order mark": f"\ufeff{json.dumps(GOOD)}",
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN.keys())
def test_json_is_read_however_it_is_wrapped_and_nobody_is_asked_again(written: str) -> None:
    calls: list[Call] = []
    with endpoint(reply(written)) as there:
        assert asked(there, calls) == ADA
    assert [(c.prompt, c.outcome, c.answer) for c in calls] == [("p.v1", "ok", None)]


def test_an_answer_in_parts_is_put_together() -> None:
    half = json.dumps(GOOD)
    parts = [{"type": "text", "text": half[:20]}, {"type": "text", "text": half[20:]}]
    with endpoint(reply(parts)) as there:
        assert asked(there, []) == ADA


BAD: dict[str, tuple[Any, str]] = {
    "prose": (reply("I would rather write a poem."), "misshapen"),
    "a wrong type": (reply({"facts": [{"content": "x", "share": "half"}]}), "misshapen"),
    "out of bounds": (reply({"facts": [{"content": "x", "share": 7}]}), "misshapen"),
    "a list": (reply('[{"content": "x"}]'), "misshapen"),
    "cut off, and nobody says so": (reply('{"a": {"facts": []}, "facts": [{"con'), "misshapen"),
    "nothing": (reply(None), "misshapen"),
    "no choice": ({"id": "c", "choices": []}, "misshapen"),
    "cut off": (reply('{"facts": [{"content": "Ada li', ended="length"), "truncated"),
    "cut off behind what would fit": (reply('{"a": {"facts": []}, "facts": [{"con', ended="length"), "truncated"),
    "declined": (reply(None, refusal="I cannot help with that."), "declined"),
}


@pytest.mark.parametrize(("bad", "outcome"), BAD.values(), ids=BAD.keys())
def test_it_is_asked_once_more_with_what_was_wrong(bad: Any, outcome: str) -> None:
    calls: list[Call] = []
    with endpoint(bad, reply(GOOD)) as there:
        assert asked(there, calls) == ADA
    assert [c.prompt for c in calls] == ["p.v1", "p.v1+repair"]
    assert [c.outcome.removesuffix("+estimated") for c in calls] == [outcome, "ok"]
    first, second = (body["messages"] for body in there.asked)
    assert second[:2] == first
    assert [one["role"] for one in second[2:]] == ["assistant", "user"]


@pytest.mark.parametrize(("bad", "outcome"), BAD.values(), ids=BAD.keys())
def test_what_is_wrong_twice_is_given_up_with_the_answer_kept(bad: Any, outcome: str) -> None:
    calls: list[Call] = []
    with endpoint(bad) as there, pytest.raises(Never, match=outcome):
        asked(there, calls)
    assert len(calls) == 2
    written = bad["choices"][0]["message"] if bad["choices"] else {}
    assert {c.answer for c in calls} == {written.get("refusal") or written.get("content") or ""}


def test_the_model_is_told_which_field_was_wrong() -> None:
    with endpoint(reply({"facts": [{"content": "x", "share": 7}]}), reply(GOOD)) as there:
        asked(there, [])
    assert "facts/0/share" in there.asked[1]["messages"][-1]["content"]


def test_a_flood_is_not_sent_back_whole() -> None:
    with endpoint(reply("no " * 100_000, ended="length"), reply(GOOD)) as there:
        asked(there, [])
    assert len(there.asked[1]["messages"][2]["content"]) < 10_000


def test_what_a_filter_has_taken_away_is_not_asked_for_again() -> None:
    calls: list[Call] = []
    with endpoint(reply("Ada", ended="content_filter")) as there, pytest.raises(Never, match="filtered"):
        asked(there, calls)
    assert [(c.outcome, c.answer) for c in calls] == [("filtered", "Ada")]


def test_text_that_cannot_be_kept_is_made_so() -> None:
    calls: list[Call] = []
    with endpoint(reply("half \ud800 and \x00 none")) as there, pytest.raises(Never):
        asked(there, calls)
    assert calls[0].answer == "half ? and \ufffd none"


@pytest.mark.parametrize("usage", [None, (0, 0), (None, None), ("many", 1)])
def test_tokens_that_nobody_counted_are_estimated_and_said_to_be(usage: Any) -> None:
    calls: list[Call] = []
    with endpoint(reply(GOOD, usage=usage)) as there:
        asked(there, calls)
    (call,) = calls
    assert call.outcome == "ok+estimated"
    assert 4 <= call.input_tokens <= 20
    assert 10 <= call.output_tokens <= 40


def test_tokens_that_were_counted_are_taken_as_they_are() -> None:
    calls: list[Call] = []
    with endpoint(reply(GOOD, usage=(123, 45))) as there:
        asked(there, calls)
    assert (calls[0].outcome, calls[0].input_tokens, calls[0].output_tokens) == ("ok", 123, 45)
    assert calls[0].latency_ms > 0


UNKNOWN = [
    (400, "Unknown parameter: response_format"),
    (400, "'response_format.type' must be in ['text', 'json_object']"),
    (422, "body -> response_format -> json_schema: extra fields not permitted"),
    (400, "Invalid schema for response_format 'facts'"),
    (400, "failed to parse grammar"),
]


@pytest.mark.parametrize(("status", "message"), UNKNOWN)
def test_an_endpoint_that_knows_no_schema_is_asked_for_plain_json_and_that_is_remembered(
    status: int, message: str
) -> None:
    calls: list[Call] = []
    with endpoint(refusal(status, message), reply(GOOD)) as there:
        client = OpenAIClient(there.url, "k", "m", 5)
        for grant in (None, Grant(), None):
            assert client.under(grant).ask("p.v1", "Say what lasts.", "hello", Facts, calls.append) == ADA
    assert there.formats == ["json_schema", "json_object", "json_object", "json_object"]
    assert [c.outcome for c in calls] == ["unsupported", "ok", "ok", "ok"]
    assert message in str(calls[0].answer)
    told = [body["messages"][0]["content"] for body in there.asked]
    assert "JSON Schema" not in told[0]
    assert '"required":["facts"]' in told[1]


def test_one_that_knows_nothing_of_json_is_asked_in_words() -> None:
    calls: list[Call] = []
    with endpoint(refusal(400, "response_format"), refusal(400, "json_object"), reply(WRITTEN["in prose"])) as there:
        assert asked(there, calls) == ADA
    assert there.formats == ["json_schema", "json_object", "none"]


def test_one_shape_that_is_refused_does_not_spoil_the_others() -> None:
    with endpoint(refusal(400, "Invalid schema for response_format"), reply(GOOD), reply({"title": "T"})) as there:
        client = OpenAIClient(there.url, "k", "m", 5)
        client.ask("p", "s", "t", Facts, lambda _: None)
        client.ask("p", "s", "t", Place, lambda _: None)
    assert there.formats == ["json_schema", "json_object", "json_schema"]


def test_a_refusal_of_the_question_is_no_refusal_of_the_format() -> None:
    calls: list[Call] = []
    too_long = refusal(400, "This model's maximum context length is 8192 tokens")
    with endpoint(too_long) as there, pytest.raises(Never, match="maximum context length"):
        asked(there, calls)
    assert [c.outcome for c in calls] == ["refused"]


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_honoured_in_seconds_and_as_a_date(status: int) -> None:
    date_ = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    for said, least, most in (("7", 7, 7), (date_, 80, 90)):
        with endpoint(refusal(status, **{"Retry-After": said})) as there, pytest.raises(Later) as raised:
            asked(there, [])
        assert raised.value.after is not None
        assert least <= raised.value.after.total_seconds() <= most
        assert len(there.asked) == 1, "the ledger tries again, and nobody beneath it"


@pytest.mark.parametrize("status", [401, 402, 403, 404, 408, 409, 425, 429, 500, 502, 529])
def test_what_anyone_would_have_met_is_tried_later(status: int) -> None:
    calls: list[Call] = []
    with endpoint(refusal(status)) as there, pytest.raises(Later, match=str(status)):
        asked(there, calls)
    assert [(c.outcome, c.input_tokens) for c in calls] == [("refused", 0)]


@pytest.mark.parametrize("status", [400, 413, 422])
def test_what_is_about_the_question_is_final(status: int) -> None:
    with endpoint(refusal(status)) as there, pytest.raises(Never, match=str(status)):
        asked(there, [])


def test_one_that_is_not_there_is_asked_later() -> None:
    with endpoint(reply(GOOD)) as there:
        pass
    with pytest.raises(Later, match="cannot be reached"):
        asked(there, [])


def test_a_page_that_is_no_answer_is_no_answer() -> None:
    page = 200, "<html>Please log in.</html>", {"Content-Type": "text/html"}
    calls: list[Call] = []
    with endpoint(page) as there, pytest.raises(Never, match="misshapen"):
        asked(there, calls)
    assert len(calls) == 2


def test_every_call_is_counted_also_those_in_vain(app: Database) -> None:
    meter, calls = Meter(app, a_provider()), list[Call]()
    meter.answered(Grant(), 0)
    put(app, "requests = 50, tokens = 5000, filled_at = filled_at + interval '1 hour'")  # The clock stands still.
    with endpoint(refusal(400, "response_format"), reply("no", usage=(100, 20)), reply(GOOD, usage=(150, 30))) as there:
        asked(there, calls, meter=meter)
    assert [c.outcome for c in calls] == ["unsupported", "misshapen", "ok"]
    assert (row(app).requests, row(app).tokens) == (47, 4_700)


def test_refusals_open_the_breaker_and_then_nobody_is_asked(app: Database) -> None:
    meter, calls = Meter(app, Provider(NAME, FREE)), list[Call]()
    with endpoint(refusal(503)) as there:
        for expected in (Later, Later, BreakerOpen, BreakerOpen, BreakerOpen):
            with pytest.raises(Later) as raised:
                asked(there, calls, meter=meter)
            assert type(raised.value) is expected
    assert len(there.asked) == len(calls) == 3


def test_a_wrong_key_opens_it_too_and_what_is_asked_wrongly_does_not(app: Database) -> None:
    meter = Meter(app, Provider(NAME, FREE))
    with endpoint(refusal(400)) as there:
        for _ in range(5):
            with pytest.raises(Never):
                asked(there, [], meter=meter)
    assert len(there.asked) == 5
    with endpoint(refusal(401)) as there:
        for _ in range(5):
            with pytest.raises(Later):
                asked(there, [], meter=meter)
    assert len(there.asked) == 3


def test_an_answer_that_is_wrong_shows_that_the_provider_is_there(app: Database) -> None:
    meter = Meter(app, Provider(NAME, FREE))
    bad = refusal(500)
    with endpoint(bad, bad, reply("no"), reply("no"), bad, bad, reply(GOOD)) as there:
        for expected in (Later, Later, Never, Later, Later):
            with pytest.raises(expected):
                asked(there, [], meter=meter)
        assert asked(there, [], meter=meter) == ADA


def test_after_a_while_one_tries_and_its_answer_lets_the_others_in(app: Database) -> None:
    meter = Meter(app, Provider(NAME, FREE))
    with endpoint(refusal(503), refusal(503), refusal(503), reply(GOOD)) as there:
        for _ in range(3):
            with pytest.raises(Later):
                asked(there, [], meter=meter)
        put(app, "open_until = clock_timestamp()")
        assert [asked(there, [], meter=meter) for _ in range(3)] == [ADA] * 3
    assert (row(app).failures, row(app).open_until) == (0, None)


def test_the_pause_that_was_asked_for_outlasts_the_breaker(app: Database) -> None:
    meter = Meter(app, a_provider(failures=1))
    with endpoint(refusal(429, **{"Retry-After": "500"})) as there, pytest.raises(BreakerOpen) as raised:
        asked(there, [], meter=meter)
    assert raised.value.after is not None
    assert raised.value.after == timedelta(seconds=500)


def sent(there: Endpoint) -> list[dict[str, float]]:
    names = ("max_tokens", "max_completion_tokens", "temperature")
    return [{name: body[name] for name in names if name in body} for body in there.asked]


def test_each_question_has_the_limits_of_its_task_within_the_bounds() -> None:
    with endpoint(reply(GOOD)) as there:
        client = OpenAIClient(there.url, "k", "m", 5, bounds=AnswerBounds(5_000))
        for prompt in ("extract.production.en.v5", "judge.v1"):
            client.ask(prompt, "s", "t", Facts, lambda _: None)
    assert sent(there) == [{"max_tokens": 5_000, "temperature": 0.1}, {"max_tokens": 4_096, "temperature": 0}]


def test_limits_that_an_endpoint_refuses_are_not_sent_again_by_any_job() -> None:
    calls: list[Call] = []
    renamed = refusal(400, "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.")
    constant = refusal(400, "Unsupported value: 'temperature' does not support 0 with this model.")
    with endpoint(renamed, constant, refusal(400, "response_format"), reply(GOOD)) as there:
        client = OpenAIClient(there.url, "k", "m", 5)
        for grant in (Grant(), None):
            assert client.under(grant).ask("judge.v1", "s", "t", Facts, calls.append) == ADA
    assert [c.outcome for c in calls] == ["unsupported"] * 3 + ["ok"] * 2
    assert sent(there)[1:] == [
        {"max_completion_tokens": 4_096, "temperature": 0},
        *[{"max_completion_tokens": 4_096}] * 3,
    ]
    assert there.formats[2:] == ["json_schema", "json_object", "json_object"]


def test_a_question_that_leaves_no_room_for_the_limit_is_asked_without_it() -> None:
    too_large = refusal(400, "max_tokens is too large: 4096. This model's maximum context length is 4096 tokens")
    with endpoint(too_large, reply(GOOD)) as there:
        client = OpenAIClient(there.url, "k", "m", 5)
        for _ in range(2):
            assert client.ask("judge.v1", "s", "t", Facts, lambda _: None) == ADA
    whole = {"max_tokens": 4_096, "temperature": 0}
    assert sent(there) == [whole, {"temperature": 0}, whole]


def test_a_server_that_refuses_everything_is_given_up() -> None:
    with endpoint(refusal(422, "max_tokens max_completion_tokens temperature response_format")) as there:
        with pytest.raises(Never, match="422"):
            asked(there, [])
        assert len(there.asked) == 6
