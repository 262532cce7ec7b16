"""Models of conditions: comparisons, and groups of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self, Union

from pydantic import AfterValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator

from rules.document.fields import FieldPath, Model, refuse
from rules.expressions.operators import DEFAULT_THRESHOLD, OPERATORS, Unfit, is_finite, kind

MAX_LEAVES = 200
MAX_LIST = 1_000


def _scalar(value: object) -> object:
    is_scalar = kind(value) in {"string", "bool", "null"} or (kind(value) == "number" and is_finite(value))
    if not is_scalar:
        raise refuse("must be a text, a finite number, true, false or null")
    return value


Scalar = Annotated[Any, AfterValidator(_scalar), WithJsonSchema({"type": ["string", "number", "boolean", "null"]})]
Scalars = Annotated[list[Scalar], Field(max_length=MAX_LIST)]


def _shape_of_value(value: object) -> str:
    if isinstance(value, Mapping):
        return "<reference>" if set(value) == {"field"} else _shape_of_node(value)
    if isinstance(value, Reference | Leaf | Group):
        return {Reference: "<reference>", Leaf: "<leaf>"}.get(type(value), "<group>")
    return "<list>" if isinstance(value, list) else "<scalar>"


def _shape_of_node(value: object) -> str:
    if isinstance(value, Mapping):
        return "<leaf>" if {"op", "field", "value"} & set(value) else "<group>"
    return "<leaf>" if isinstance(value, Leaf) else "<group>"


class Reference(Model):
    """Another field to compare with."""

    field: FieldPath


Condition = Annotated[
    Union[Annotated["Leaf", Tag("<leaf>")], Annotated["Group", Tag("<group>")]],  # noqa: UP007
    Discriminator(_shape_of_node),
]
Value = Annotated[
    Union[  # noqa: UP007
        Annotated[Scalar, Tag("<scalar>")],
        Annotated[Scalars, Tag("<list>")],
        Annotated[Reference, Tag("<reference>")],
        Annotated["Leaf", Tag("<leaf>")],
        Annotated["Group", Tag("<group>")],
    ],
    Discriminator(_shape_of_value),
]
OperatorName = Literal[
    "==", "!=", ">", ">=", "<", "<=", "between", "in", "not_in",
    "contains", "not_contains", "contains_any", "contains_all",
    "starts_with", "ends_with", "iequals", "matches", "wildcard",
    "exists", "missing", "is_null", "length_==", "length_>", "length_<",
    "older_than", "newer_than", "any_of", "all_of", "means",
]  # fmt: skip


class Leaf(Model):
    """A comparison. A missing field makes it false, except for the operator `missing`."""

    field: FieldPath
    op: Annotated[OperatorName, Field(description="Operator")]
    value: Annotated[Value, Field(description='Value to compare with; `{"field": …}` refers to another field')] = None
    threshold: Annotated[
        float | None,
        Field(ge=-1, le=1, description=f"Only for `means`: minimum cosine similarity; default {DEFAULT_THRESHOLD}"),
    ] = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        operator = OPERATORS[self.op]
        if self.threshold is not None and operator.takes != "meaning":
            raise refuse("`threshold` belongs to `means`; leave it out", "threshold")
        if operator.takes == "nothing":
            self._check_presence()
        elif "value" not in self.model_fields_set:
            raise refuse(f"`{self.op}` needs a value to compare with", "value")
        elif operator.takes == "condition":
            self._check_inner()
        elif isinstance(self.value, Leaf | Group):
            raise refuse('an object is no value here; compare with a literal or with `{"field": "…"}`', "value")
        elif isinstance(self.value, Reference):
            self._check_reference()
        else:
            self._check_literal()
        return self

    def _check_presence(self) -> None:
        if "value" in self.model_fields_set and self.value is not True:
            other = {"exists": "use `missing`", "missing": "use `exists`", "is_null": "put it under `none`"}[self.op]
            raise refuse(f"`{self.op}` takes no value; for the opposite {other}", "value")

    def _check_inner(self) -> None:
        if not isinstance(self.value, Leaf | Group):
            raise refuse('give a condition on `item`: {"field": "item.name", "op": "==", "value": "search"}', "value")

    def _check_reference(self) -> None:
        if not OPERATORS[self.op].referable:
            raise refuse(f"`{self.op}` cannot compare with another field; write the value itself", "value")

    def _check_literal(self) -> None:
        if self.value == []:
            raise refuse("an empty list decides nothing; list at least one value", "value")
        try:
            OPERATORS[self.op].bind(self.value)
        except Unfit as error:
            raise refuse(f"`{self.op}`: {error}", "value") from error


Nodes = Annotated[list[Condition], Field(min_length=1, max_length=MAX_LEAVES)]


class Group(Model):
    """A group of conditions; if several of `all`, `any` and `none` are given, each of them must hold."""

    all: Annotated[Nodes | None, Field(description="All of these must hold")] = None
    any: Annotated[Nodes | None, Field(description="At least one of these must hold")] = None
    none: Annotated[Nodes | None, Field(description="None of these may hold")] = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not any((self.all, self.any, self.none)):
            raise refuse("say `all`, `any` or `none` with at least one condition, or leave `conditions` out: always")
        return self

    def members(self) -> Iterator[tuple[str, list[Leaf | Group]]]:
        """Return the lists of the group, each with its keyword."""
        for keyword, nodes in (("all", self.all), ("any", self.any), ("none", self.none)):
            if nodes:
                yield keyword, nodes

    def children(self, pointer: str) -> Iterator[tuple[str, Leaf | Group]]:
        """Return the conditions of the group, each with its place below that of the group."""
        for keyword, nodes in self.members():
            for index, node in enumerate(nodes):
                yield f"{pointer}/{keyword}/{index}", node


def leaves(node: Leaf | Group, pointer: str) -> Iterator[tuple[str, Leaf]]:
    """Return the comparisons of a tree with their places, except those about list items."""
    if isinstance(node, Leaf):
        yield pointer, node
        return
    for at, child in node.children(pointer):
        yield from leaves(child, at)


for _model in (Leaf, Group):
    _model.model_rebuild()
