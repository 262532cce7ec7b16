from __future__ import annotations

from api.console import rule_names


def test_a_rule_and_its_shadow_name_each_other() -> None:
    assert rule_names.shadow_of("tell") == "tell.shadow"
    assert rule_names.original_of("tell.shadow") == "tell"
    assert (rule_names.shadow_of("tell.shadow"), rule_names.original_of("tell")) == (None, None)
    assert rule_names.shadow_of("x" * 94) is None


def test_a_rule_is_compared_with_its_counterpart_first() -> None:
    assert rule_names.counterparts_first("tell", ["a", "tell", "tell.shadow"]) == ["tell.shadow", "a"]
    assert rule_names.counterparts_first("tell.shadow", ["a", "tell"]) == ["tell", "a"]
