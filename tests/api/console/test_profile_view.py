from __future__ import annotations

from api.console import profile_view


def test_every_line_of_a_profile_has_the_memories_behind_it() -> None:
    attributes = {
        "topics": {"work": [{"content": "Ada works on billing.", "category": "fact", "memories": ["m4"]}]},
        "slots": {
            "home.city": {
                "value": "Lisbon",
                "memories": ["m1"],
                "confidence": 0.85,
                "alternatives": [{"value": "Porto", "memories": ["m2"], "disputed": True}],
            }
        },
        "lists": {"allergy": [{"value": "peanuts", "memories": ["m3"], "negated": True}]},
        "people": {
            "Ada's sister": {"slots": {"age": {"value": "30", "memories": ["m5"]}}, "lists": {}, "statements": []}
        },
        "facts": [{"content": "We ship on Friday.", "by": "bob", "memories": ["m6"]}],
        "habits": [],
    }
    sections = {one.name: one.lines for one in profile_view.sections_of(attributes)}
    assert list(sections) == ["slots", "lists", "topics", "people", "facts"]
    assert [(one.label, one.text, one.disputed) for one in sections["slots"]] == [
        ("home.city", "Lisbon", False),
        ("home.city", "Porto", True),
    ]
    assert sections["lists"][0].negated
    assert (sections["people"][0].label, sections["people"][0].text) == ("Ada's sister · age", "30")
    assert sections["facts"][0].by == ["bob"]
    assert [line.memories for lines in sections.values() for line in lines] == [
        ["m1"],
        ["m2"],
        ["m3"],
        ["m4"],
        ["m5"],
        ["m6"],
    ]


def test_a_value_without_memories_is_shown_as_it_is() -> None:
    (section,) = profile_view.sections_of({"members": ["ada", ""]})
    assert [one.text for one in section.lines] == ["ada"]
