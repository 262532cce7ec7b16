from __future__ import annotations

import gc
import json
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import Invalid
from core.events import parsing
from core.events.parsing import Incoming
from core.types import Json
from tests.samples import event, said

BATCH = 10
EVENT_BYTES = 4096


def parse(body: bytes | object, headers: Mapping[str, str] | None = None) -> list[Incoming]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return parsing.parse(raw, headers or {}, batch=BATCH, event_bytes=EVENT_BYTES)


def pointers(body: bytes | object, headers: Mapping[str, str] | None = None) -> list[str]:
    with pytest.raises(Invalid) as refused:
        parse(body, headers)
    return [problem.pointer for problem in refused.value.problems]


def test_a_native_event_keeps_what_was_sent() -> None:
    (one,) = parse(said("I moved to Lisbon.", id="e1", time="2026-11-21T10:00:00+02:00"))
    assert (one.id, one.source, one.event_type) == ("e1", "test", "message.added")
    assert one.time == datetime(2026, 11, 21, 8, tzinfo=UTC)
    assert one.payload["content"] == "I moved to Lisbon."


def test_an_event_without_id_and_time_gets_both_and_begins_its_own_chain() -> None:
    (one,) = parse({"event_type": "order.placed", "source": "shop"})
    assert one.id
    assert one.correlation_id == one.id
    assert one.time.tzinfo is not None
    assert one.payload == {}


def test_an_array_keeps_its_order() -> None:
    assert [e.id for e in parse([event(id="b"), event(id="a"), event(id="c")])] == ["b", "a", "c"]


def test_an_empty_array_is_a_batch_of_nothing() -> None:
    assert parse([]) == []


def test_ndjson_skips_empty_lines_and_counts_the_others() -> None:
    lines = f"{json.dumps(event(id='a'))}\n\n  \r\n{json.dumps(event(id='b'))}\n".encode()
    assert [e.id for e in parse(lines, {"content-type": "application/x-ndjson; charset=utf-8"})] == ["a", "b"]
    broken = f"{json.dumps(event())}\n\n{{".encode()
    assert pointers(broken, {"content-type": "application/x-ndjson"}) == ["/1"]


def test_ndjson_text_may_hold_every_unicode_line_separator() -> None:
    document = event(payload={"text": "one\u2028two\u0085three\u000bfour"})
    raw = json.dumps(document, ensure_ascii=False).encode()
    (one,) = parse(raw, {"content-type": "application/x-ndjson"})
    assert one.payload["text"] == "one\u2028two\u0085three\u000bfour"


CLOUD: Json = {
    "specversion": "1.0",
    "id": "c1",
    "source": "/shop",
    "type": "order.placed",
    "time": "2026-11-21T10:00:00Z",
    "datacontenttype": "application/json",
    "correlationid": "root",
    "causationid": "cause",
    "traceparent": "00-1-2-03",
    "partitionkey": "k",
    "comexampleother": "dropped",
    "data": {"total": 3},
}


def test_a_cloudevent_in_structured_mode_keeps_its_extensions() -> None:
    (one,) = parse(CLOUD, {"content-type": "application/cloudevents+json"})
    assert (one.id, one.event_type, one.payload) == ("c1", "order.placed", {"total": 3})
    assert (one.correlation_id, one.causation_id) == ("root", "cause")
    assert one.extensions == {"traceparent": "00-1-2-03", "partitionkey": "k"}


def test_cloudevents_come_in_batches() -> None:
    batch = [CLOUD, {**CLOUD, "id": "c2"}]
    assert [e.id for e in parse(batch, {"content-type": "application/cloudevents-batch+json"})] == ["c1", "c2"]


def test_a_cloudevent_in_binary_mode_has_its_attributes_in_the_headers() -> None:
    headers = {
        "content-type": "application/json",
        "ce-specversion": "1.0",
        "ce-id": "c1",
        "ce-source": "/shop",
        "ce-type": "order.placed",
        "ce-subject": "order:Z%C3%BCrich%20%22x%22",
        "ce-correlationid": "root",
    }
    (one,) = parse(b'{"total": 3}', headers)
    assert (one.id, one.source, one.payload, one.correlation_id) == ("c1", "/shop", {"total": 3}, "root")
    assert one.subject == 'order:Zürich "x"'  # The HTTP binding percent-encodes header values.
    assert parse(b"", headers)[0].payload == {}
    assert pointers(b"{", headers) == ["/0/data"]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"specversion": "0.3"}, "/0/specversion"),
        ({"data_base64": "AAAA"}, "/0/data_base64"),
        ({"data": [1]}, "/0/data"),
        ({"type": "no spaces"}, "/0/type"),
        ({"correlationid": ""}, "/0/correlationid"),
        ({"type": "message.added", "data": None}, "/0/data/session_id"),
        ({"type": "message.added", "data": {**said("x")["payload"], "role": "robot"}}, "/0/data/role"),
        ({"data": {"a": "x\x00"}}, "/0/data"),
    ],
)
def test_a_cloudevent_that_is_not_understood_says_where(change: Json, pointer: str) -> None:
    assert pointers({**CLOUD, **change})[0] == pointer


@pytest.mark.parametrize("prefix", ["ce_", "cloudEvents:", "cloudEvents_"])
def test_a_cloudevent_in_binary_mode_may_have_the_headers_of_kafka_or_amqp(prefix: str) -> None:
    attributes = {"specversion": "1.0", "id": "c1", "source": "/shop", "type": "order.placed", "subject": "100%25"}
    headers = {f"{prefix}{name}".lower(): value for name, value in attributes.items()}
    (accepted,) = parse(b'{"total": 3}', headers)
    assert (accepted.id, accepted.source, accepted.event_type) == ("c1", "/shop", "order.placed")
    assert (accepted.payload, accepted.subject) == ({"total": 3}, "100%25")


def test_null_as_the_data_of_a_cloudevent_is_an_empty_payload() -> None:
    assert parse({**CLOUD, "data": None})[0].payload == {}


WHO: Json = {"session_id": "s1", "user_id": "ada"}


@pytest.mark.parametrize(
    ("message", "role", "content"),
    [
        ({"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function"}]}, "assistant", ""),
        ({"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "image_url"}]}, "user", "Look."),
        ({"role": "Developer", "content": "Be brief."}, "system", "Be brief."),
        ({"type": "ai", "content": "Hello."}, "assistant", "Hello."),
        ({"role": "model", "parts": [{"text": "Hello."}]}, "assistant", "Hello."),
        ({"role": "user", "content": ""}, "user", ""),
    ],
)
def test_a_message_of_another_client_is_taken_in_the_services_own_form(message: Json, role: str, content: str) -> None:
    (accepted,) = parse(event("message.added", {**WHO, "locale": "pt", **message}))
    assert (accepted.payload["role"], accepted.payload["content"]) == (role, content)
    assert accepted.payload["locale"] == "pt"


def test_a_cloudevent_carries_a_message_of_another_client_too() -> None:
    cloud = {**CLOUD, "type": "message.added", "data": {**WHO, "role": "human", "content": ["Hi."]}}
    (accepted,) = parse(cloud)
    assert (accepted.payload["role"], accepted.payload["content"]) == ("user", "Hi.")


def test_the_result_of_a_tool_may_be_data() -> None:
    (accepted,) = parse(event("tool.result.added", {**WHO, "content": {"temp": 12}}))
    assert accepted.payload["content"] == '{"temp": 12}'


@pytest.mark.parametrize("kind", ["session.ended", "tool.result.added", "plan.updated"])
def test_the_subject_names_the_session_and_the_user_may_follow_from_it(kind: str) -> None:
    payload: Json = {"message_count": 3, "content": "x", "plan": "x"}
    (accepted,) = parse(event(kind, payload, subject="session:s1"))
    assert accepted.payload["session_id"] == "s1"
    assert accepted.payload.get("user_id") is None


def test_the_subject_names_the_session_of_a_message_whose_user_it_must_say() -> None:
    message = {"role": "user", "content": "x"}
    assert pointers(event("message.added", message, subject="session:s1")) == ["/0/payload/user_id"]
    (accepted,) = parse(event("message.added", {**message, "user_id": "ada"}, subject="session:s1"))
    assert accepted.payload["session_id"] == "s1"
    (own,) = parse(event("message.added", {**WHO, **message}, subject="session:other"))
    assert own.payload["session_id"] == "s1"


def test_good_events_are_told_from_faulty_ones_when_they_are_parsed_each() -> None:
    lines = [json.dumps(event(id="a")), "{", json.dumps(event("bad type")), json.dumps(event(id="b"))]
    headers = {"content-type": "application/x-ndjson"}
    checked = parsing.parse_each("\n".join(lines).encode(), headers, batch=BATCH, event_bytes=EVENT_BYTES)
    assert [accepted.id for accepted in checked.events] == ["a", "b"]
    assert list(checked.positions) == [0, 3]
    assert [problem.pointer for problem in checked.problems] == ["/1", "/2/event_type"]


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ("a text", "/0"),
        (None, "/0"),
        ({**event(), "event_type": "a..b"}, "/0/event_type"),
        ({**event(), "event_type": "message.added\n"}, "/0/event_type"),
        ({**event(), "source": ""}, "/0/source"),
        ({**event(), "source": "a\x00b"}, "/0/source"),
        ({**event(), "time": "2026-11-21T10:00:00"}, "/0/time"),
        ({**event(), "time": "yesterday"}, "/0/time"),
        ({**event(), "payload": []}, "/0/payload"),
        ({**event(), "content": "put me into the payload"}, "/0/content"),
        ({"source": "test"}, "/0/event_type"),
        (said("x", role="robot"), "/0/payload/role"),
        (said("x", importance=1.5), "/0/payload/importance"),
        (said("x", importance="0.5"), "/0/payload/importance"),
        (said("x", participants=["ada", 5]), "/0/payload/participants/1"),
        (said("x", session=""), "/0/payload/session_id"),
        (said("x", user="a" * 201), "/0/payload/user_id"),
        (event("session.started", {"session_id": "s1", "user_id": "ada", "group_id": {"a": 1}}), "/0/payload/group_id"),
        (said("a\x00b"), "/0/payload/content"),
        (
            event("session.ended", {"session_id": "s1", "user_id": "ada", "message_count": -1}),
            "/0/payload/message_count",
        ),
        (event("session.ended", {"user_id": "ada"}), "/0/payload/session_id"),
        (event("memory.requested", {"user_id": "ada", "content": ""}), "/0/payload/content"),
    ],
)
def test_what_does_not_fit_is_named_by_its_pointer(document: object, pointer: str) -> None:
    assert pointers([document]) == [pointer]


def test_a_pointer_escapes_what_has_a_meaning_in_pointers() -> None:
    assert pointers([{**event(), "a/b~c": 1}]) == ["/0/a~1b~0c"]


def test_every_fault_of_a_batch_is_listed_with_its_index() -> None:
    assert pointers([event(), event("bad type"), said("x", role="robot", user="")]) == [
        "/1/event_type",
        "/2/payload/user_id",
        "/2/payload/role",
    ]


def test_a_batch_with_faults_leaves_no_garbage_that_only_a_collection_ends() -> None:
    headers = {"content-type": "application/x-ndjson"}
    gc.collect()
    gc.disable()
    try:
        assert parsing.parse_each(b"- a\n" * BATCH, headers, batch=BATCH, event_bytes=EVENT_BYTES).problems
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_thousand_faults_do_not_make_a_thousand_lines() -> None:
    body = [{**event(), **{f"unknown{n}": 1 for n in range(100)}} for _ in range(BATCH)]
    assert len(pointers(body)) <= 101


def test_a_batch_has_a_largest_size() -> None:
    assert len(parse([event()] * BATCH)) == BATCH
    assert pointers([event()] * (BATCH + 1)) == [""]


def test_an_event_has_a_largest_size_wherever_it_stands_in_the_batch() -> None:
    large = event(payload={"text": "é" * (EVENT_BYTES // 2)})
    assert pointers([event(), large, event()]) == ["/1"]
    assert len(parse([event(payload={"text": "x" * 600}) for _ in range(BATCH)])) == BATCH


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"1" * 5000,
        b'"\\ud800"',
    ],
)
def test_what_is_no_json_is_refused_and_not_a_crash(raw: bytes) -> None:
    with pytest.raises(Invalid):
        parse(raw)


@pytest.mark.parametrize(
    "payload",
    [
        {"a": "x\x00y"},
        {"a\x00": 1},
        {"deep": [{"deeper": ["\x00"]}]},
        {"a": "half \ud800 a pair"},
        {"\udfff": 1},
    ],
)
def test_what_postgresql_cannot_keep_is_refused_before_it_is_sent_there(payload: Json) -> None:
    assert pointers([event(payload=payload)]) == ["/0/payload"]


def test_a_number_beyond_all_floats_is_refused() -> None:
    assert pointers(b'{"event_type": "a", "source": "b", "payload": {"x": 1e999}}') == ["/0/payload"]


def test_an_escaped_backslash_before_u0000_is_ordinary_text() -> None:
    (one,) = parse([event(payload={"a": "\\u0000"})])
    assert one.payload == {"a": "\\u0000"}


@pytest.mark.parametrize("depth", [90, 330, 480, 490, 900, 960, 980, 990, 995])
def test_nesting_that_a_reader_might_not_stand_is_refused_at_the_door(depth: int) -> None:
    raw = b'{"event_type": "a", "source": "b", "payload": {"x": ' + b"[" * depth + b"]" * depth + b"}}"
    if depth < parsing.NESTING - 1:
        assert len(parse(raw)) == 1
    else:
        with pytest.raises(Invalid, match="nested"):
            parse(raw)


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00Z"])
def test_a_time_that_no_reader_could_read_back_is_refused(time: str) -> None:
    assert pointers([event(time=time)]) == ["/0/time"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
FIELDS = ["id", "event_type", "source", "subject", "time", "payload", "specversion", "type", "data", "session_id"]
DOCUMENTS = st.dictionaries(st.sampled_from(FIELDS) | st.text(), JSON, max_size=8)
VALID = st.builds(lambda payload: event(payload=payload), st.dictionaries(st.text(), JSON, max_size=4))
MESSAGES = st.builds(
    lambda payload: event("message.added", {**said("x")["payload"], **payload}),
    st.dictionaries(st.sampled_from(sorted(parsing.MessageAdded.model_fields)), JSON, max_size=3),
)
HEADERS = st.dictionaries(
    st.sampled_from(["content-type", "ce-specversion", "ce-type", "ce-id", "ce-source", "ce-time"]),
    st.sampled_from(["application/x-ndjson", "1.0", "application/json", "a.b"]) | st.text(),
)


def as_json(document: object) -> bytes:
    return json.dumps(document).encode()


BODIES = st.binary() | (DOCUMENTS | VALID | MESSAGES | st.lists(DOCUMENTS | VALID)).map(as_json)


@settings(max_examples=300, deadline=None)
@given(BODIES, HEADERS)
def test_parsing_raises_nothing_but_invalid(body: bytes, headers: dict[str, str]) -> None:
    try:
        batch = parse(body, headers)
    except Invalid as refused:
        assert refused.problems  # noqa: PT017 - both ways are right, and each is checked
        return
    for one in batch:
        json.dumps(one.payload, ensure_ascii=False, allow_nan=False).encode()
        assert "\x00" not in f"{one.id}{one.source}{one.subject}"


RIGHT = [
    said("hello", id="e1", message_id="m1", audience_labels=["hr"]),
    event("order.placed", payload={"total": 3.5, "lines": [{"sku": "\u2603"}]}, traceparent="00-1"),
    event("session.started", payload={"session_id": "s", "user_id": "u", "state": {"pinned": {"task": "x"}}}),
    {"specversion": "1.0", "id": "c", "source": "shop", "type": "order.placed", "data": {"a": 1}},
]


def test_a_batch_without_faults_is_checked_together_as_each_event_is_alone() -> None:
    documents = [{**one, "time": "2026-11-21T10:00:00Z", "id": f"e{n}"} for n, one in enumerate(RIGHT)]
    each = [parsing._event(document, may_be_own=False) for document in documents]
    assert parsing._check_together(documents, may_be_own=False) == each


@pytest.mark.parametrize(
    "wrong",
    [
        {"event_type": "message.added", "source": "test", "payload": {"role": "user"}},
        {"event_type": "order.placed"},
        {**event(), "source": "imprint"},
        {"specversion": "0.3", "id": "c", "source": "shop", "type": "a"},
        "text",
    ],
)
def test_one_fault_has_each_event_checked(wrong: object) -> None:
    assert parsing._check_together([*RIGHT, wrong], may_be_own=False) is None
    with pytest.raises(Invalid) as refused:
        parsing.check([*RIGHT, wrong])
    assert {problem.pointer.split("/")[1] for problem in refused.value.problems} == {str(len(RIGHT))}


ITEMS = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5)


@given(st.lists(ITEMS, max_size=50), st.sampled_from(["", " ", "\n\t "]))
def test_a_large_list_is_read_item_by_item_as_it_is_read_at_once(items: list[object], spaces: str) -> None:
    inner = f"{spaces},{spaces}".join(json.dumps(item, ensure_ascii=False) for item in items)
    raw = f"{spaces}[{spaces}{inner}{spaces}]{spaces}".encode()
    assert parsing._items(raw) == (json.loads(raw) or None)


@pytest.mark.parametrize(
    "raw", [b"[1", b"[1,]", b"[1 2]", b"[1]]", b"[,1]", b'{"a":[1]}', b"[NaN]", b"[1]x", b"", b"\xff[1]", b"[" * 9_000]
)
def test_what_is_no_list_is_left_to_be_refused_as_a_whole(raw: bytes) -> None:
    assert parsing._items(raw) is None


def test_a_large_batch_gives_way_to_other_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    ways = list[int]()
    monkeypatch.setattr(parsing.REQUESTS, "give_way", lambda: ways.append(1))
    body = json.dumps([event(id=f"e{n}", payload={"text": "x" * 3_000}) for n in range(400)]).encode()
    found = parsing.parse(body, {}, batch=1_000, event_bytes=100_000)
    assert [one.id for one in found] == [f"e{n}" for n in range(400)]
    assert len(ways) >= 3 * (400 // parsing.AT_A_TIME - 1), "while it is parsed, checked, and checked for storage"
    with pytest.raises(Invalid, match="/400/source"):
        parsing.parse(body[:-1] + b',{"event_type":"a"}]', {}, batch=1_000, event_bytes=100_000)
