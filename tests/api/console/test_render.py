from __future__ import annotations

import asyncio
import json
import re
import threading

import httpx
import pytest

from api.console import render
from api.console.render import HERE, LANGUAGES, RenderedPage


def catalogue(name: str) -> dict[str, str]:
    found: dict[str, str] = json.loads((HERE / "locales" / f"{name}.json").read_text(encoding="utf-8"))
    return found


def test_all_catalogues_have_the_same_strings_with_the_same_values() -> None:
    english = catalogue("en")
    for name in LANGUAGES:
        other = catalogue(name)
        assert other.keys() == english.keys()
        for key, text in other.items():
            assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", english[key])), key


def test_templates_name_only_strings_of_the_catalogue_and_all_of_them_are_used() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in HERE.rglob("*.html"))
    source += "".join(path.read_text(encoding="utf-8") for path in HERE.rglob("*.py"))
    english = catalogue("en")
    named = set(re.findall(r"\bt\('([\w.]+)'[,)]", source))
    named |= set(re.findall(r'(?:notice|translation)\("([\w.]+)"', source))
    assert named <= english.keys(), named - english.keys()
    prefixes = {f"{kind}." for kind in re.findall(r"\bterm\('(\w+)'", source)}
    prefixes |= {"nav.", "filter.", "category.", "status.", "trust.", "order."}
    unused = {key for key in english if key not in named and not key.startswith(tuple(prefixes))}
    assert not unused


def test_templates_hold_no_script_no_style_and_no_address_of_another_host() -> None:
    for path in HERE.rglob("*.html"):
        source = path.read_text(encoding="utf-8")
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style| style=| on[a-z]+=|javascript:|hx-on", source), path.name
        assert not re.search(r"https?://", source), path.name


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), ("2026-11-26T10:00:00Z", '<time datetime="2026-11-26T10:00:00+00:00">2026-11-26 10:00:00</time>')],
)
def test_a_time_is_shown_so_that_a_browser_can_write_it_in_its_own_zone(value: str | None, shown: str) -> None:
    assert str(render.moment(value)) == shown


def test_an_id_is_shown_by_its_end_and_escaped() -> None:
    assert str(render.short("01a21849-745a-74d2-a20d-c2228a46f1eb")).endswith(">…8a46f1eb</span>")
    assert str(render.short("<b>")) == "&lt;b&gt;"
    assert "<script>" not in str(render.short("<script>alert(1)</script>"))


def test_an_asset_is_addressed_by_its_content() -> None:
    assert re.fullmatch(r"/console/static/console\.css\?[0-9a-f]{12}", render.asset(render._digests(), "console.css"))


def test_pages_are_computed_off_the_event_loop_and_one_at_a_time() -> None:
    threads, running, together = set[str](), list[int](), list[int]()

    def compute() -> str:
        threads.add(threading.current_thread().name)
        running.append(1)
        together.append(len(running))
        running.pop()
        return "<p>done</p>"

    async def serve() -> list[httpx.Response]:
        transport = httpx.ASGITransport(RenderedPage(compute))
        async with httpx.AsyncClient(transport=transport, base_url="http://console") as client:
            return await asyncio.gather(*(client.get("/") for _ in range(20)))

    answers = asyncio.run(serve())
    assert {(answer.status_code, answer.text) for answer in answers} == {(200, "<p>done</p>")}
    assert {answer.headers["content-length"] for answer in answers} == {"11"}
    assert threading.current_thread().name not in threads
    assert together == [1] * 20
