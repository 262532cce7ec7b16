"""Users and groups over HTTP: lists, one of them, and who spoke in a group."""

from __future__ import annotations

from tests.doors import Doors
from tests.samples import said


def talk(door: Doors) -> None:
    answer = door.post(
        "/v1/events",
        [
            said("I bring tea.", session="g1", group_id="crew"),
            said("I bring cake.", session="g1", user="bob", group_id="crew"),
            said("I sing.", session="s2", user="a.b c"),
        ],
    )
    assert answer.is_success, answer.text


def test_users_and_groups_are_listed(door: Doors) -> None:
    talk(door)
    assert {one["user_id"] for one in door.get("/v1/users").json()["items"]} == {"ada", "bob", "a.b c"}
    (crew,) = door.get("/v1/groups").json()["items"]
    assert (crew["group_id"], crew["sessions"]) == ("crew", {"count": 1, "more": False})
    found = door.get("/v1/users", params={"prefix": "a"}).json()["items"]
    assert [one["user_id"] for one in found] == ["a.b c", "ada"]


def test_pages_follow_each_other_in_both_orders(door: Doors) -> None:
    talk(door)
    for order in ("id", "recent"):
        whole = door.get("/v1/users", params={"order": order}).json()["items"]
        seen, after = [], None
        while len(seen) < len(whole):
            page = door.get(
                "/v1/users", params={"order": order, "limit": 1} | ({"after": after} if after else {})
            ).json()
            seen, after = seen + page["items"], page["next"]
        assert seen == whole


def test_one_user_and_one_group_by_their_names(door: Doors) -> None:
    talk(door)
    assert door.get("/v1/users/a.b%20c/activity").json()["user_id"] == "a.b c"
    assert door.get("/v1/groups/crew/activity").json()["group_id"] == "crew"
    members = door.get("/v1/groups/crew/members").json()["items"]
    assert {one["user_id"]: one["messages"] for one in members} == {"ada": 1, "bob": 1}
    for path in ("/v1/users/nobody/activity", "/v1/groups/ada/activity", "/v1/groups/ada/members"):
        assert door.get(path).status_code == 404


def test_what_cannot_be_asked_is_refused_with_its_place(door: Doors) -> None:
    refused = door.get("/v1/users", params={"prefix": "a", "order": "recent"})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/order")
    refused = door.get("/v1/users", params={"after": "yesterday"})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/after")


def test_a_key_with_labels_is_refused_for_lists_do_not_enforce_them(door: Doors) -> None:
    made = door.post("/v1/keys", {"scopes": ["read"], "labels": ["staff"]}).json()
    assert door.get("/v1/users", key=made["key"]).status_code == 403


def test_an_erased_user_is_in_no_list(door: Doors) -> None:
    talk(door)
    assert door.ask("DELETE", "/v1/users/bob").is_success
    assert {one["user_id"] for one in door.get("/v1/users").json()["items"]} == {"ada", "a.b c"}
