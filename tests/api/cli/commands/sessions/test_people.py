from __future__ import annotations

from core.storage.db import Database
from tests.commands import Imprint
from tests.samples import accept, ended, said
from tests.works import Works


def test_people_are_listed_read_about_and_decided_about(imprint: Imprint, app: Database, works: Works) -> None:
    assert "Nobody is known" in imprint("user", "people", "ada").err + imprint("user", "people", "ada").out
    accept(app, said("My sister Nora moved to Lyon.", speaker="Ada"), said("Nora's husband Tom sings."), ended())
    works.settle()
    listed = imprint("user", "people", "ada")
    assert (listed.code, "Nora" in listed.out, "Nora's husband" in listed.out) == (0, True, True), listed.err
    assert [entity["name"] for entity in imprint("user", "people", "ada", "--find", "tom", "--json").json["items"]] == [
        "Tom"
    ]
    about = imprint("user", "about", "ada", "my sister")
    assert (about.code, "Nora" in about.out, "Lyon" in about.out) == (0, True, True), about.err
    same = imprint("user", "same", "ada", "Tom", "Bear")
    assert (same.code, "Bear" in same.out) == (0, True), same.err
    apart = imprint("user", "apart", "ada", "Bear", "Tom")
    assert (apart.code, "Tom" in apart.out) == (0, False), apart.err
    assert imprint("user", "about", "ada", "Nobody").code != 0
