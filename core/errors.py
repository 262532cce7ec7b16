"""Error hierarchy; the docstring of a class is its default message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault in a request: its place (a JSON pointer such as `/3/payload/role`) and what to do."""

    pointer: str
    detail: str


class ImprintError(Exception):
    """Something went wrong."""

    kind: ClassVar[str] = "Failed"
    """Title of the response, in two or three words; default: the words of the class name."""

    def __init_subclass__(cls, kind: str | None = None) -> None:
        cls.kind = kind or re.sub(r"(?<!^)(?=[A-Z])", " ", cls.__name__).capitalize()

    def __init__(self, detail: str = "") -> None:
        self.detail = detail or " ".join((self.__doc__ or "").split())
        super().__init__(self.detail)


class Invalid(ImprintError):
    """The request is invalid; every problem is listed with its place."""

    def __init__(self, problems: list[Problem], detail: str = "") -> None:
        self.problems = problems
        super().__init__(detail or "; ".join(f"{p.pointer or '/'}: {p.detail}" for p in problems))

    def below(self, pointer: str) -> Invalid:
        """Return the same problems, with pointers into the enclosing document."""
        return Invalid([Problem(f"{pointer}{problem.pointer}", problem.detail) for problem in self.problems])


class Malformed(ImprintError):
    """A header of the request is malformed. Send another value, or leave it out."""


class NotFound(ImprintError):
    """It does not exist, or belongs to someone else."""


class Conflict(ImprintError):
    """Your version is outdated. Read the current one and repeat the change on it."""


class Forbidden(ImprintError):
    """The key lacks the required scope. Create one with `imprint keys create --scopes …`."""


class Unauthorized(ImprintError):
    """The request has no valid key. Send `Authorization: Bearer <key>`; `imprint keys create` creates one."""


class TooLarge(ImprintError):
    """The request is larger than IMPRINT_REQUEST_BYTES allows. Send it in parts."""


class HeadersTooLarge(ImprintError):
    """The request has too many headers, or headers that are too long. Send fewer."""


class TooSlow(ImprintError):
    """The request did not arrive in time (IMPRINT_HTTP_BODY_SECONDS). Send it again, faster or in parts."""


class Overloaded(ImprintError):
    """The backlog limit is reached. Send the request again after the time in Retry-After."""

    def __init__(self, detail: str = "", retry_after_s: int = 1) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(detail)


class Misconfigured(ImprintError, kind="Wrong configuration"):
    """The service cannot start with this configuration."""


class Later(ImprintError, kind="Unavailable"):
    """The work failed and may succeed later. The ledger retries it, not before `after`."""

    def __init__(self, detail: str = "", after: timedelta | None = None) -> None:
        self.after = after
        super().__init__(detail)


class RateLimited(Later, kind="Rate limited"):
    """A service asked to be called later. Waiting for it is no failed attempt."""


class Never(ImprintError, kind="Failed"):
    """A retry would fail in the same way. The dispatch is set aside with this reason until someone replays it."""


class LeaseLost(ImprintError):
    """Another worker has taken over this dispatch; the result was discarded."""
