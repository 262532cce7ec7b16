"""Rendering of pages: templates, catalogues of strings, and how values are shown."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape
from starlette.types import Receive, Scope, Send

from api.console.gate import OPENED
from core.types import Json

HERE: Final = Path(__file__).parent

LANGUAGES: Final[Mapping[str, str]] = {"en": "English", "zh-CN": "简体中文"}
"""Catalogues in `locales/`, by the language's own name."""

LANGUAGE_COOKIE: Final = "imprint_language"
THEME_COOKIE: Final = "imprint_theme"
THEMES: Final = frozenset({"light", "dark"})

NAVIGATION: Final = (
    ("now", "/console"),
    ("events", "/console/events"),
    ("rules", "/console/rules"),
    ("memories", "/console/memories"),
    ("search", "/console/search"),
    ("try", "/console/try"),
    ("people", "/console/people"),
    ("context", "/console/context"),
    ("documents", "/console/documents"),
    ("add", "/console/add"),
    ("imports", "/console/imports"),
    ("work", "/console/work"),
    ("costs", "/console/costs"),
    ("keys", "/console/keys"),
    ("service", "/console/service"),
    ("health", "/console/health"),
)
"""Areas in the order of the sidebar: the name of each in the catalogues (`nav.…`), and its first page."""


class RenderedPage(HTMLResponse):
    """A page that is computed when it is sent: in a thread, so that other requests continue, and one at a time."""

    def __init__(self, render: Callable[[], str], status: int = 200) -> None:
        super().__init__(status_code=status)
        self._render = render

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Render and send it."""
        text = await asyncio.get_running_loop().run_in_executor(_RENDERING, self._render)
        self.body = self.render(text)
        self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


_RENDERING: Final = ThreadPoolExecutor(1, "console")


@dataclass(frozen=True, slots=True)
class Renderer:
    """Templates and catalogues, read once a process, for the browser of one request."""

    templates: Environment
    catalogues: Mapping[str, Mapping[str, str]]
    request: Request

    @property
    def translation(self) -> Callable[..., str]:
        """Return the function that turns a key of the catalogue, with its values, into the browser's language."""
        return partial(translate, self.catalogues[language_of(self.request)])

    def page(self, template: str, status: int = 200, **content: Any) -> HTMLResponse:
        """Render a template. A value that is a `partial` is called for it."""
        request, language = self.request, language_of(self.request)
        theme = request.cookies.get(THEME_COOKIE, "")
        shared: Json = {
            "t": self.translation,
            "term": partial(term, self.catalogues[language]),
            "language": language,
            "languages": LANGUAGES,
            "theme": theme if theme in THEMES else "",
            "login": request.scope.get(OPENED),
            "navigation": NAVIGATION,
            "here": request.url.path,
            "query": request.query_params,
        }
        return RenderedPage(partial(self._render, template, shared, content), status)

    def _render(self, template: str, shared: Json, content: Json) -> str:
        values = {name: value() if isinstance(value, partial) else value for name, value in content.items()}
        return self.templates.get_template(template).render(shared | values)

    def notice(self, key: str, *, bad: bool = False, **values: Any) -> HTMLResponse:
        """Answer a request of a page with a line of the catalogue, shown beside the page."""
        return self._notice(self.translation(key, **values), bad=bad)

    def notice_of(self, problem: Json) -> HTMLResponse:
        """Answer a request of a page with the problem details of a refusal."""
        more = "; ".join(f"{error['pointer']}: {error['detail']}" for error in problem.get("errors") or ())
        return self._notice(more or problem["detail"], bad=True)

    def _notice(self, text: str, *, bad: bool) -> HTMLResponse:
        answer = self.page("notice.html", text=text, kind="bad" if bad else "good")
        answer.headers["HX-Retarget"], answer.headers["HX-Reswap"] = "#notices", "innerHTML"
        return answer


def load() -> Callable[[Request], Renderer]:
    """Read templates and catalogues; return what renders with them."""
    templates = Environment(
        loader=FileSystemLoader(HERE / "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    templates.filters |= {"moment": moment, "pretty": pretty, "short": short, "count": count, "decimal": decimal}
    templates.filters |= {"bytes": size}
    templates.globals["asset"] = partial(asset, _digests())
    catalogues = {
        name: json.loads((HERE / "locales" / f"{name}.json").read_text(encoding="utf-8")) for name in LANGUAGES
    }
    return partial(Renderer, templates, catalogues)


def language_of(request: Request) -> str:
    """Return the language that a browser has chosen, else the first of its own that has a catalogue."""
    chosen = request.cookies.get(LANGUAGE_COOKIE)
    if chosen is not None and chosen in LANGUAGES:
        return chosen
    for accepted in request.headers.get("accept-language", "")[:500].split(","):
        tag = accepted.partition(";")[0].strip().lower()
        for name in LANGUAGES:
            if tag.partition("-")[0] == name.partition("-")[0]:
                return name
    return "en"


def translate(catalogue: Mapping[str, str], key: str, **values: Any) -> str:
    """Return a string of the catalogue with its values. KeyError: there is none, which a test finds."""
    return catalogue[key].format(**values)


def term(catalogue: Mapping[str, str], kind: str, value: str) -> str:
    """Return a value of the API (a state, a category, …) in the language of the catalogue, else as it is."""
    return catalogue.get(f"{kind}.{value}", value)


def asset(digests: Mapping[str, str], name: str) -> str:
    """Return the address of a file in `static/`, which changes with its content and may be kept by browsers."""
    return f"/console/static/{name}?{digests[name]}"


def _digests() -> Mapping[str, str]:
    folder = HERE / "static"
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()[:12] for path in files}


def moment(value: str | None) -> Markup | str:
    """Show a time; the browser writes it in its own zone and form."""
    if not value:
        return "–"
    at = datetime.fromisoformat(value).astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(at.isoformat(), at.strftime("%Y-%m-%d %H:%M:%S"))


def pretty(value: Any) -> str:
    """Show a JSON value over several lines."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def short(value: str, characters: int = 8) -> Markup:
    """Show the end of an id, which tells ids of the same minute apart; the whole stands in its title."""
    if len(value) <= characters:
        return escape(value)
    return Markup('<span class="id" title="{}">…{}</span>').format(value, value[-characters:])


def count(value: float | None) -> str:
    """Show a number with thousands."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,}"


def size(value: int) -> str:
    """Show a number of bytes in the largest unit of which there is one."""
    number, unit = float(value), "B"
    for bigger in ("kB", "MB", "GB", "TB"):
        if number < THOUSAND:
            break
        number, unit = number / THOUSAND, bigger
    return f"{number:.0f} {unit}" if unit == "B" or number >= WHOLE else f"{number:.1f} {unit}"


THOUSAND: Final = 1_000
WHOLE: Final = 100
"""From here on a decimal says nothing."""


def decimal(value: float | None, digits: int = 2) -> str:
    """Show a number with a fixed number of decimals."""
    return "–" if value is None else f"{value:.{digits}f}"
