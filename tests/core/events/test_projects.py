"""A project is named by the last part of its path, so that everybody who works on it shares its memory."""

from __future__ import annotations

import pytest

from core.events import projects


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("/home/ada/work/Imprint", "project:imprint"),
        ("/home/ada/work/Imprint/", "project:imprint"),
        ("C:\\work\\My Shop", "project:my-shop"),
        ("git@github.com:acme/shop.git", "project:shop"),
        ("https://github.com/acme/shop.git", "project:shop"),
        ("/home/ada/项目", "project:项目"),
        ("/", None),
        ("", None),
        ("..", None),
    ],
)
def test_a_project_is_named_by_the_last_part_of_its_path(path: str, group: str | None) -> None:
    assert projects.group_of(path) == group
