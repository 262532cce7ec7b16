"""Parameters of a dispatch that a person has edited: checked like the action of a rule with its templates rendered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from core.agents import FOR_ACTION
from core.errors import Invalid, Problem
from core.settings.secret_names import MASK
from core.types import Json
from rules import problems as rule_problems
from rules.document import masking
from rules.document.actions import Action, CeleryTask, Emit, Notify, Webhook
from rules.document.fields import Model
from rules.document.schema import FIELDS, MAX_NESTING, MAX_NODES
from rules.document.targets import TARGETS
from rules.problems import escape_step
from rules.registry import limits
from rules.registry.limits import Allowed

KEPT: Final = "gathered"
"""Parameter that the service sets: ids of the events that flow control has gathered."""

MASKED: Final = (MASK, "[redacted")
"""Marks of a text from which something was removed before it was shown."""

UNKNOWN: Final = "has a masked part that is not known here; write the whole value, or leave it as it was"

MODELS: Final[Mapping[str, type[Model]]] = {"emit": Emit, "notify": Notify, "webhook": Webhook, "celery": CeleryTask}

_ACTION: Final[TypeAdapter[Action]] = TypeAdapter(Action)


def restore(stored: Any, displayed: Any, edited: Any, pointer: str = "/params") -> Any:
    """Return edited parameters, with what was masked when they were shown and left as it was.

    Invalid: a value that was masked in part was edited, and still has the mask.
    """
    problems: list[Problem] = []
    whole = _restore(stored, displayed, edited, pointer, problems)
    if problems:
        raise Invalid(problems)
    return whole


def check(action_type: str, target: str, stored: Json, params: Json, allowed: Allowed, characters: int) -> None:
    """Refuse parameters that no dispatch of this kind may have. Invalid, with pointers below `/params`."""
    problems = list(_problems(action_type, target, stored, params, allowed, characters))
    if problems:
        raise Invalid(problems)


def schema(action_type: str) -> Json:
    """Return the JSON Schema of the parameters of a type of action, as a dispatch of it stores them."""
    model = MODELS.get(action_type)
    if model is None:
        return {"type": "object", "description": "Parameters of the agent"}
    described: Json = model.model_json_schema()
    described["properties"].pop("action_type", None)
    described["required"] = [name for name in described.get("required", ()) if name != "action_type"]
    if action_type == "webhook":
        named = {"type": "object", "additionalProperties": {"type": "string"}}
        described["properties"]["secrets"] = named | {"description": "Headers whose value is a secret of the tenant"}
        described["properties"]["headers"] = named | {"description": "Additional headers"}
    if action_type == "celery":
        described["required"].append("kwargs")
    return described


def _restore(stored: Any, displayed: Any, edited: Any, pointer: str, problems: list[Problem]) -> Any:
    if edited == displayed:
        return stored
    if isinstance(stored, dict) and isinstance(displayed, dict) and isinstance(edited, dict):
        return {
            name: _restore(stored[name], displayed.get(name), value, f"{pointer}/{escape_step(name)}", problems)
            if name in stored
            else value
            for name, value in edited.items()
        }
    if isinstance(stored, list) and isinstance(displayed, list) and isinstance(edited, list):
        if len(edited) != len(displayed):
            return [
                _restore_moved(stored, displayed, item, f"{pointer}/{at}", problems) for at, item in enumerate(edited)
            ]
        return [
            _restore(*values, f"{pointer}/{index}", problems)
            for index, values in enumerate(zip(stored, displayed, edited, strict=True))
        ]
    if stored != displayed and isinstance(edited, str) and _is_masked(edited):
        problems.append(Problem(pointer, UNKNOWN))
    return edited


def _restore_moved(stored: list[Any], displayed: list[Any], item: Any, pointer: str, problems: list[Problem]) -> Any:
    """Return an item of a list that has become longer or shorter: its place does not tell any more what it was."""
    meant = [was for was, seen in zip(stored, displayed, strict=True) if seen == item]
    if meant and all(candidate == meant[0] for candidate in meant):
        return meant[0]
    if meant or (stored != displayed and _is_masked(json.dumps(item, ensure_ascii=False))):
        problems.append(Problem(pointer, UNKNOWN))
    return item


def _is_masked(value: str) -> bool:
    return any(mark in value for mark in MASKED)


def _problems(
    action_type: str, target: str, stored: Json, params: Json, allowed: Allowed, characters: int
) -> Iterator[Problem]:
    if params.get(KEPT) != stored.get(KEPT):
        yield Problem(f"/params/{KEPT}", "names the events that flow control gathered; leave it as it was")
    if (size := len(json.dumps(params, ensure_ascii=False))) > characters:
        yield Problem("/params", f"has {size:,} characters as JSON, {characters:,} are allowed")
        return
    given = _without_templates({name: value for name, value in params.items() if name != KEPT})
    problems = list(rule_problems.size_problems(given, MAX_NESTING, MAX_NODES, characters))
    document, moved = _as_action(action_type, target, given)
    problems += _credentials(stored, given)
    if not problems:
        try:
            action = _ACTION.validate_python(document, context={"agents": {*TARGETS, target}})
            problems = list(limits.action_refusals(action, "", allowed.outlets))
        except ValidationError as error:
            problems = rule_problems.translate(error, document, FIELDS)
    yield from (_moved(problem, moved) for problem in problems)


def _credentials(stored: Json, params: Json) -> Iterator[Problem]:
    """Yield headers that hold a new credential, whatever sends them."""
    headers, before = params.get("headers"), stored.get("headers")
    for name, value in headers.items() if isinstance(headers, dict) else ():
        is_new = not isinstance(before, dict) or before.get(name) != value
        if is_new and masking.is_credential(name, value):
            yield Problem(f"/headers/{escape_step(name)}", "holds a credential; name a secret of the tenant instead")


def _as_action(action_type: str, target: str, params: Json) -> tuple[Json, Mapping[str, str]]:
    """Return the action of a rule that would have these parameters, and where its parts stand in them."""
    if FOR_ACTION.get(action_type) is None:
        return {"action_type": action_type, "target": target, "params": params}, {"/params": ""}
    if action_type != "webhook":
        return {"action_type": action_type, **params}, {}
    secrets = params.get("secrets") or {}
    plain = {name: value for name, value in params.items() if name != "secrets"}
    if not isinstance(secrets, dict) or not isinstance(plain.get("headers") or {}, dict):
        return {"action_type": action_type, **params}, {}  # The model says what is wrong.
    named = {name: {"secret": value} for name, value in secrets.items()}
    moved = {f"/headers/{escape_step(name)}": f"/secrets/{escape_step(name)}" for name in secrets}
    return {"action_type": action_type, **plain, "headers": {**(plain.get("headers") or {}), **named}}, moved


def _without_templates(value: Any) -> Any:
    """Return values in which nothing looks like a template: these have been rendered, and are sent as they are."""
    if isinstance(value, str):
        return value.replace("{{", "{ {")
    if isinstance(value, dict):
        return {name: _without_templates(part) for name, part in value.items()}
    return [_without_templates(part) for part in value] if isinstance(value, list) else value


def _moved(problem: Problem, moved: Mapping[str, str]) -> Problem:
    pointer = problem.pointer
    for begin, instead in moved.items():
        if pointer == begin or pointer.startswith(f"{begin}/"):
            pointer = instead + pointer[len(begin) :].removesuffix("/secret")
            break
    return Problem(f"/params{pointer}", problem.detail)
