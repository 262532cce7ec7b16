"""Pictures of the console: those of the README, or with a folder every page in each look, to be looked at."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import quote

from bench.stand import Stand
from tests.browser import engine
from tests.browser.pages import DESK, PHONE, RULE, Chromium, Look, Watched, all_pages

PICTURES: Final = engine.ROOT / "docs/pictures"
WIDE: Final = Look("wide, light", 1180, 740, "light")
DARK: Final = Look("wide, dark", 1180, 740, "dark")


def of_readme(chromium: Chromium, stand: Stand) -> None:
    """Write the pictures of the README."""
    event = stand.call("GET", "/v1/events?type=session.ended&limit=1")["items"][0]["id"]
    with chromium.logged_in(stand.key, WIDE) as watched:
        take(watched, "", PICTURES / "console-now.png")
        take(watched, f"/events/{quote(event, safe='')}", PICTURES / "console-trace.png")
    with chromium.logged_in(stand.key, DARK) as watched:
        watched.open(f"/rules/{RULE}")
        watched.page.locator(".cm-line", has_text="action_mode").click()
        watched.page.keyboard.press("End")
        watched.page.keyboard.type(',\n"')
        watched.page.locator(".cm-tooltip-autocomplete li").first.wait_for()
        watched.page.screenshot(path=PICTURES / "console-rule.png")


def of_all(chromium: Chromium, stand: Stand, folder: Path) -> None:
    """Write every page, at its whole height, in each look."""
    folder.mkdir(parents=True, exist_ok=True)
    for look in (DESK, replace(DESK, scheme="dark"), PHONE, replace(PHONE, scheme="light")):
        with chromium.logged_in(stand.key, look) as watched:
            for number, path in enumerate(all_pages(stand)):
                name = f"{number:02}-{re.sub(r'[^a-z]+', '-', path)[:30]}-{look.width}-{look.scheme}.png"
                take(watched, path, folder / name, whole=True)


def take(watched: Watched, path: str, file: Path, *, whole: bool = False) -> None:
    watched.open(path)
    watched.page.wait_for_timeout(700)  # Charts and the editor draw after what they need has come.
    watched.page.screenshot(path=file, full_page=whole)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", type=Path, metavar="FOLDER")
    asked = parser.parse_args()
    with engine.demo() as running, engine.opened(running) as browser:
        of_all(browser, running, asked.all) if asked.all else of_readme(browser, running)
