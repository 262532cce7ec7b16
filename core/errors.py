"""Error hierarchy; the docstring of a class is its default message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault in a request: its place (a JSON pointer such as `/3/payload/role`) and what to do."""

    pointer: str
    detail: str


class ImprintError(Exception):
    """Something went wrong."""

    kind: ClassVar[str] = "Failed"
    """Title of the answer, in two or three words; by default the words of the class's name."""

    def __init_subclass__(cls, kind: str | None = None) -> None:
        cls.kind = kind or re.sub(r"(?<!^)(?=[A-Z])", " ", cls.__name__).capitalize()

    def __init__(self, detail: str = "") -> None:
        self.detail = detail or " ".join((self.__doc__ or "").split())
        super().__init__(self.detail)


class Invalid(ImprintError):
    """What was sent does not fit; every problem is listed with its place."""

    def __init__(self, problems: list[Problem], detail: str = "") -> None:
        self.problems = problems
        super().__init__(detail or "; ".join(f"{p.pointer or '/'}: {p.detail}" for p in problems))

    def below(self, pointer: str) -> Invalid:
        """Return the same problems with the pointer of the document in a larger one."""
        return Invalid([Problem(f"{pointer}{problem.pointer}", problem.detail) for problem in self.problems])


class NotFound(ImprintError):
    """There is nothing with that name here, or it belongs to someone else."""


class Conflict(ImprintError):
    """What you hold is no longer current. Read it again and repeat the change on what you find."""


class Forbidden(ImprintError):
    """The key is known but lacks the scope for this. Create one with `imprint keys create --scopes …`."""


class Unauthorized(ImprintError):
    """No valid key came with the request. Send `Authorization: Bearer <key>`; `imprint keys create` makes one."""


class TooLarge(ImprintError):
    """The request is larger than IMPRINT_REQUEST_BYTES allows. Send it in parts."""


class HeadersTooLarge(ImprintError):
    """The request has more headers, or longer ones, than are read. Send fewer."""


class TooSlow(ImprintError):
    """The request did not arrive in time (IMPRINT_HTTP_BODY_SECONDS). Send it again, faster or in parts."""


class Overloaded(ImprintError):
    """More is waiting than the backlog limit allows. Send again after the time in Retry-After."""

    def __init__(self, detail: str = "", retry_after_s: int = 1) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(detail)


class Misconfigured(ImprintError, kind="Wrong configuration"):
    """The service cannot start as it is set up."""


class Later(ImprintError, kind="Unavailable"):
    """It did not work now and may work later. The ledger tries again, never before `after`."""

    def __init__(self, detail: str = "", after: timedelta | None = None) -> None:
        self.after = after
        super().__init__(detail)


class Never(ImprintError, kind="Failed"):
    """Trying again would fail the same way. The dispatch is set aside with this reason until someone replays it."""


class LeaseLost(ImprintError):
    """Another worker has taken this dispatch over; what was thought here is thrown away."""
