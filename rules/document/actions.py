"""Models of the actions of a rule."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, Self

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    HttpUrl,
    JsonValue,
    Tag,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from core.forgetting import params as forgetter_params
from core.settings import secret_names
from rules import problems
from rules.document.fields import MAX_TEXT, Model, Zone, concrete_type, refuse
from rules.expressions import templates


def _well_formed(value: JsonValue) -> JsonValue:
    fault = templates.fault(value)
    if fault:
        raise refuse(fault.detail, fault.pointer)
    return value


CLOCK: Final = r"^([01]\d|2[0-3]):[0-5]\d$"
"""A time of day, to the minute."""

Params = Annotated[
    dict[str, JsonValue],
    AfterValidator(_well_formed),
    Field(
        description="Parameters; values may contain {{payload.user_id}}. A missing field becomes null, or an "
        "empty string within a text",
        examples=[{"user_id": "{{payload.user_id}}", "reason": "said at {{time}}"}],
    ),
]
TemplatedText = Annotated[str, Field(max_length=MAX_TEXT), AfterValidator(_well_formed)]

FORGETTER: Final = "memory_forgetter"
"""Name of the agent that carries out requests to forget."""

NOTIFIER: Final = "notifier"
"""Name of the agent that carries out `notify`."""


class RunAgent(Model):
    """Runs one of Imprint's agents."""

    action_type: Literal["run_agent"]
    target: Annotated[
        str, Field(description="Name of the agent; `docs/event-types.md` lists them", examples=["memory_consolidator"])
    ]
    params: Params = Field(default_factory=dict)

    @field_validator("target")
    @classmethod
    def _exists(cls, target: str, info: ValidationInfo) -> str:
        agents = (info.context or {}).get("agents")
        if agents is not None and target not in agents:
            raise refuse(problems.unknown("agent", target, sorted(agents)))
        return target

    @model_validator(mode="after")
    def _can_forget(self) -> Self:
        fault = forgetter_params.fault(self.params) if self.target == FORGETTER else None
        if fault is not None:
            raise refuse(fault[1], f"params/{fault[0]}")
        return self

    @model_validator(mode="after")
    def _can_tell(self) -> Self:
        """Require valid parameters of `notify` for the notifier agent: it is the same agent under its own name."""
        if self.target != NOTIFIER:
            return self
        try:
            self.as_notice()
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            path = "/".join(map(str, first["loc"]))
            detail = str(first.get("ctx", {}).get("detail") or first["msg"])
            raise refuse(f"the notifier takes what `notify` takes: {path}: {detail}", f"params/{path}") from None
        return self

    def as_notice(self) -> Notify | None:
        """Return the notification of an action; None: another agent is run."""
        if self.target != NOTIFIER:
            return None
        return Notify.model_validate({"action_type": "notify", **self.params})


class Emit(Model):
    """Publishes an event that rules can react to."""

    action_type: Literal["emit"]
    event_type: Annotated[
        str,
        AfterValidator(concrete_type),
        Field(description="Type of the event; no wildcard", examples=["policy.matched"]),
    ]
    payload: Params = Field(default_factory=dict)


class Quiet(Model):
    """Hours of the day without notifications; those due in them are sent together at their end."""

    from_: Annotated[
        str, Field(alias="from", pattern=CLOCK, description="Start of the quiet hours", examples=["22:00"])
    ]
    to: Annotated[
        str, Field(pattern=CLOCK, description="End of the quiet hours, possibly on the next day", examples=["07:00"])
    ]
    timezone: Annotated[Zone, Field(description="IANA time zone", examples=["Europe/Lisbon"])] = "UTC"

    @model_validator(mode="after")
    def _have_a_length(self) -> Self:
        if self.from_ == self.to:
            raise refuse("`from` and `to` are the same: give hours that begin and end, or leave `quiet` out")
        return self


class Digest(Model):
    """Collects notifications and sends them together: at an interval, or once a day."""

    every_seconds: Annotated[
        int | None, Field(ge=60, le=7 * 86_400, description="Alternatively: interval in seconds", examples=[3600])
    ] = None
    at: Annotated[str | None, Field(pattern=CLOCK, description="Time of day", examples=["08:00"])] = None
    timezone: Annotated[Zone, Field(description="IANA time zone", examples=["Europe/Lisbon"])] = "UTC"

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.every_seconds is None) == (self.at is None):
            raise refuse("give either `every_seconds` or `at`")
        return self


class Notify(Model):
    """Notifies people."""

    action_type: Literal["notify"]
    channel: Annotated[
        str, Field(min_length=1, max_length=200, description="`log`, or the name of a channel", examples=["log", "ops"])
    ]
    template: Annotated[
        TemplatedText,
        Field(
            min_length=1,
            description="Text of the notification; {{payload.user_id}} is replaced by that field of the event",
            examples=["Important about {{payload.user_id}}: {{payload.content}}"],
        ),
    ]
    subject: Annotated[
        TemplatedText | None, Field(description="Subject of an e-mail; default: the first line", examples=["Stock"])
    ] = None
    quiet: Annotated[
        Quiet | None, Field(description="Hours without notifications", examples=[{"from": "22:00", "to": "07:00"}])
    ] = None
    digest: Annotated[Digest | None, Field(description="Send notifications together", examples=[{"at": "08:00"}])] = (
        None
    )


class SecretName(Model):
    """Reference to a secret of the tenant; its value is inserted when the request is sent, and stored nowhere else."""

    secret: Annotated[
        str,
        Field(
            pattern=secret_names.NAME,
            description="Name of the secret, as shown by `imprint tenant secrets list`",
            examples=["crm-token"],
        ),
    ]


HeaderValue = Annotated[
    Annotated[TemplatedText, Tag("<text>")] | Annotated[SecretName, Tag("<secret>")],
    Discriminator(lambda value: "<secret>" if isinstance(value, dict | SecretName) else "<text>"),
]


class Webhook(Model):
    """Posts JSON to an allowed host."""

    action_type: Literal["webhook"]
    url: Annotated[
        str,
        Field(
            max_length=2_000,
            description="Address: https, or http if the tenant allows it; `imprint tenant webhooks` lists the allowed"
            " hosts",
            examples=["https://hooks.example.com/imprint"],
        ),
    ]
    headers: Annotated[
        dict[str, HeaderValue],
        Field(
            max_length=50,
            description="Additional headers; a credential must be a reference to a secret",
            examples=[{"x-user": "{{payload.user_id}}", "Authorization": {"secret": "crm-token"}}],
        ),
    ] = Field(default_factory=dict)
    payload: Annotated[Params | None, Field(description="Body of the request; default: the event")] = None

    @field_validator("url")
    @classmethod
    def _reachable(cls, url: str) -> str:
        if "{{" in url:
            raise refuse("a template cannot choose where to post; write the address itself")
        if not _SPELLING.fullmatch(url):
            raise refuse(
                "write an http or https address in ASCII, without a user name in it; other signs of a path as %XX, "
                "other letters of a host as its xn-- form"
            )
        try:
            _URL.validate_python(url, strict=False)
        except ValidationError as error:
            raise refuse("write an http or https address") from error
        return url


_URL: Final = TypeAdapter(HttpUrl)

_SPELLING: Final = re.compile(r"(?i:https?)://(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::\d{1,5})?(?:[/?#][!-\[\]-~]*)?")
"""Addresses in which every parser finds the same host, because checking and calling use different ones."""


class CeleryTask(Model):
    """Sends a task to another service's Celery workers."""

    action_type: Literal["celery"]
    task: Annotated[
        str,
        Field(
            min_length=1,
            max_length=300,
            description="Name of the task as registered",
            examples=["billing.tasks.recount"],
        ),
    ]
    queue: Annotated[
        str,
        Field(min_length=1, max_length=200, description="Queue; must be allowed by the settings", examples=["billing"]),
    ]
    kwargs: Params = Field(default_factory=dict)

    @field_validator("task")
    @classmethod
    def _is_named(cls, task: str) -> str:
        if "{{" in task:
            raise refuse("a template cannot choose which task runs; write its name itself")
        return task


Action = Annotated[RunAgent | Emit | Notify | Webhook | CeleryTask, Discriminator("action_type")]
