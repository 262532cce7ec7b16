"""`imprint publish`."""

from __future__ import annotations

import json
from pathlib import Path

from api.cli.commands.log.publish import BATCH
from tests.commands import Imprint, working
from tests.samples import said as message
from tests.works import Works


def test_a_message_is_published_from_options(imprint: Imprint) -> None:
    said = imprint("publish", "--content", "I live in Turin.", "--session", "s1", "--user", "ada", "--json")
    assert (said.code, said.json["accepted"]) == (0, 1)
    trace = imprint("events", "trace", said.json["events"][0]["id"], "--json").json
    assert trace["event"]["payload"] == {
        "session_id": "s1",
        "user_id": "ada",
        "role": "user",
        "content": "I live in Turin.",
    }
    assert trace["event"]["subject"] == "session:s1"


def test_any_type_takes_its_payload_as_json(imprint: Imprint) -> None:
    said = imprint(
        "publish", "--type", "order.placed", "--payload", '{"n": 3}', "--id", "o1", "--source", "shop", "--json"
    )
    event = imprint("events", "trace", said.json["events"][0]["id"], "--json").json["event"]
    assert (event["id"], event["source"], event["payload"]) == ("o1", "shop", {"n": 3})


def test_a_message_without_its_session_is_wrong_usage(imprint: Imprint) -> None:
    said = imprint("publish", "--content", "hello")
    assert said.code == 2
    assert "--session and --user" in said.err


def test_lines_of_json_come_from_standard_input(imprint: Imprint) -> None:
    lines = "\n".join(json.dumps(message(f"number {n}")) for n in range(3))
    said = imprint("publish", stdin=lines + "\n\n")
    assert (said.code, said.out) == (0, "3 accepted.\n")


def test_a_repeat_is_known_already(imprint: Imprint) -> None:
    once = json.dumps([message("hello", id="m1")])
    imprint("publish", "-", stdin=once)
    assert "0 accepted, 1 known already." in imprint("publish", "-", stdin=once).out


def test_a_file_larger_than_a_batch_is_published_whole(imprint: Imprint, tmp_path: Path) -> None:
    file = tmp_path / "events.json"
    file.write_text(json.dumps([message(f"number {n}", id=f"m{n}") for n in range(BATCH + 7)]))
    answer = imprint("publish", str(file), "--json").json
    assert answer["accepted"] == BATCH + 7
    assert [event["id"] for event in answer["events"]][-1] == f"m{BATCH + 6}"


def test_a_bad_event_is_named_by_its_place_in_the_whole_input(imprint: Imprint) -> None:
    events = [message("fine") for _ in range(BATCH + 2)]
    events[BATCH + 1]["payload"]["role"] = "nobody"
    said = imprint("publish", stdin=json.dumps(events))
    assert said.code == 1
    assert f"/{BATCH + 1}/payload/role" in said.err
    assert f"{BATCH} events before are accepted" in said.err


def test_what_is_no_json_is_named_by_its_line(imprint: Imprint) -> None:
    said = imprint("publish", stdin='{"event_type": "a.b", "source": "t"}\n{"event\n')
    assert said.code == 1
    assert "standard input, line 2" in said.err


def test_a_file_that_is_not_there_is_one_line(imprint: Imprint, tmp_path: Path) -> None:
    said = imprint("publish", str(tmp_path / "nothing.json"))
    assert (said.code, said.err.count("\n")) == (1, 1)


def test_settle_waits_for_all_that_follows(imprint: Imprint, works: Works) -> None:
    with working(works):
        said = imprint("publish", "--content", "I live in Turin.", "--session", "s1", "--user", "ada", "--settle")
    assert (said.code, "1 accepted, settled." in said.out) == (0, True)
    [found] = imprint("search", "home", "--user", "ada", "--json").json["results"][:1]
    assert found["type"] == "memory"


def test_settle_gives_up_after_its_time_and_fails(imprint: Imprint) -> None:
    said = imprint(
        "publish", "--content", "I live in Turin.", "--session", "s", "--user", "a", "--settle", "--timeout", "0"
    )
    assert said.code == 1
    assert "Not settled after 0 s" in said.err
