"""A page in a real browser that notes what it must not do, and is measured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from api.console.render import NAVIGATION
from bench.stand import Stand

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

SEEN_BY_ALL = """
addEventListener('securitypolicyviolation', (e) => console.error(
  'policy violated:', e.effectiveDirective, e.blockedURI, e.sourceFile, e.lineNumber, e.sample));
"""

RULE = "consolidate_on_session_end"

AREAS = tuple(path.removeprefix("/console") for _, path in NAVIGATION)

TOO_WIDE = """
() => {
  if (document.documentElement.scrollWidth <= innerWidth) return [];
  const wide = ['the page is wider than its window'];
  const walk = (root) => {
    for (const one of root.querySelectorAll('*')) {
      if (one.shadowRoot) walk(one.shadowRoot);
      const { right } = one.getBoundingClientRect();
      if (right > innerWidth + 1 && !one.closest('.scroll, dialog, pre')) wide.push(`${one.tagName}.${one.className}`);
    }
  };
  walk(document);
  return wide.slice(0, 6);
}
"""

TOO_NARROW = """
() => [...document.querySelectorAll('th, td')]
  .filter((one) => one.clientWidth && one.clientWidth < 40 && /\\S{9}/.test(one.innerText))
  .map((one) => `${one.tagName} of ${one.clientWidth} px: ${one.innerText}`).slice(0, 6)
"""
"""Cells whose words are broken into single letters."""


GRAVE = {"serious", "critical"}


def all_pages(stand: Stand) -> list[str]:
    """A path of every page and of every kind of thing in the conversation of the demo."""
    event = stand.call("GET", "/v1/events?type=session.ended&limit=1")["items"][0]
    memory = stand.call("GET", "/v1/memories?limit=1&order=uses")["items"][0]["id"]
    place = quote(event["id"], safe="")
    return [
        *AREAS, "/events?type=memory.*", "/rules?q=memory&state=live", "/costs?by=user&span=7d",
        f"/rules/{RULE}", f"/rules/{RULE}?event={place}", f"/memories/{memory}",
        f"/events/{place}", f"/sessions/{event['payload']['session_id']}", "/people/maya",
        "/people/maya?true_then=40&known_then=70", "/people?kind=group", "/people?kind=session", "/graph?user_id=maya",
        "/timeline?user_id=maya", "/timeline?user_id=maya&axis=known&span=month", "/bulk",
        "/search?user_id=maya&query=Where+does+she+live%3F",
        *(f"/work/{place}" for place in ("approvals", "dead", "conflicts", "quarantine", "deliveries")),
        f"/context?user_id=maya&session_id={event['payload']['session_id']}",
        "/context?user_id=maya&query=Where+does+she+live%3F&then=What+does+she+eat%3F",
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Look:
    """A size of window and a colour scheme."""

    name: str
    width: int
    height: int
    scheme: str


DESK = Look("desk, light", 1440, 900, "light")
PHONE = Look("phone, dark", 390, 844, "dark")


@dataclass
class Watched:
    """A page with a login, and what went wrong on it."""

    page: Page
    axe: str
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))

    def open(self, path: str) -> int:
        """Open a page of the console and wait until its scripts have run; returns the status."""
        answer = self.page.goto(f"/console{path}", wait_until="load")
        assert answer is not None
        self.settle()
        return answer.status

    def settle(self) -> None:
        """Wait until what the page has asked for has come; the live stream never ends, so it does not count."""
        self.page.locator("[data-waiting], .htmx-request").first.wait_for(state="detached")

    def overflow(self) -> list[str]:
        """Return what is wider than the window once scripts have drawn, and cells that break words."""
        if self.page.evaluate(TOO_WIDE):
            self.page.wait_for_timeout(500)
        found: list[str] = [*self.page.evaluate(TOO_WIDE), *self.page.evaluate(TOO_NARROW)]
        return found

    def barriers(self) -> list[str]:
        """Findings of axe that are serious or critical."""
        if not self.page.evaluate("typeof axe === 'object'"):
            self.page.evaluate(self.axe)
        told: dict[str, Any] = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{one['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
            for one in told["violations"]
            if one["impact"] in GRAVE
            for node in one["nodes"][:3]
        ]


@dataclass(frozen=True)
class Chromium:
    """A running browser at a stack."""

    browser: Browser
    stand: Stand
    axe: str

    @contextmanager
    def logged_in(self, key: str, look: Look = DESK, language: str = "en-GB") -> Iterator[Watched]:
        """A window of its own with the login of a key."""
        with self.window(look, language) as context:
            watched = Watched(context.new_page(), self.axe)
            watched.page.goto("/console/login")
            watched.page.fill("#key", key)
            watched.page.click("button.main")
            watched.page.wait_for_url("**/console")
            yield watched

    @contextmanager
    def window(self, look: Look, language: str = "en-GB") -> Iterator[BrowserContext]:
        context = self.browser.new_context(
            base_url=self.stand.url,
            viewport={"width": look.width, "height": look.height},
            color_scheme=look.scheme,  # type: ignore[arg-type]
            locale=language,
            reduced_motion="reduce",
        )
        context.set_default_timeout(15_000)
        context.add_init_script(SEEN_BY_ALL)
        try:
            yield context
        finally:
            context.close()
