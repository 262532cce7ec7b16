"""Layout of a graph of memories: a force-directed drawing that is the same for the same graph.

The forces are those of Fruchterman and Reingold, "Graph Drawing by Force-directed Placement" (1991): all nodes repel
each other with k²/d, related ones attract each other with d²/k, and steps become smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.types import Json

WIDTH: Final = 1_000.0
HEIGHT: Final = 620.0
MARGIN: Final = 24.0

STEPS: Final = 120
SEED: Final = 7
NEAREST: Final = 1e-3
"""Distance below which two nodes count as that far apart."""

Points = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Node:
    """A memory and its place."""

    memory: Json
    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation and the places of its two ends."""

    relation: str
    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """Nodes and edges in a box of WIDTH by HEIGHT."""

    nodes: Sequence[Node]
    edges: Sequence[Edge]


def laid_out(graph: Json) -> GraphDrawing:
    """Return the graph of `GET /v1/memories/graph` with places for its nodes."""
    indices = {node["id"]: number for number, node in enumerate(graph["nodes"])}
    pairs = [(indices[edge["from"]], indices[edge["to"]]) for edge in graph["edges"]]
    points = _fit(_places(len(indices), pairs))
    nodes = [
        Node(node, float(x), float(y), 5 + min(9.0, 2.0 * node["degree"]))
        for node, (x, y) in zip(graph["nodes"], points, strict=True)
    ]
    edges = [
        Edge(edge["relation"], nodes[start].x, nodes[start].y, nodes[end].x, nodes[end].y)
        for edge, (start, end) in zip(graph["edges"], pairs, strict=True)
    ]
    return GraphDrawing(nodes, edges)


def _places(count: int, pairs: Sequence[tuple[int, int]]) -> Points:
    points: Points = np.random.default_rng(SEED).random((count, 2))
    if count < 2:  # noqa: PLR2004 - nothing to keep apart
        return points
    ideal = float(np.sqrt(1.0 / count))
    ends = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    for step in range(STEPS):
        between = points[:, None, :] - points[None, :, :]
        distance = np.maximum(np.linalg.norm(between, axis=2), NEAREST)
        push: Points = (between * (ideal**2 / distance**2)[:, :, None]).sum(axis=1)
        pull = points[ends[:, 0]] - points[ends[:, 1]]
        pull *= np.maximum(np.linalg.norm(pull, axis=1), NEAREST)[:, None] / ideal
        np.add.at(push, ends[:, 0], -pull)
        np.add.at(push, ends[:, 1], pull)
        push -= (points - points.mean(axis=0)) * 0.5  # Unconnected parts would drift apart for ever.
        length = np.maximum(np.linalg.norm(push, axis=1), NEAREST)
        points += push / length[:, None] * np.minimum(length, 0.1 * (1 - step / STEPS))[:, None]
    return points


def _fit(points: Points) -> Points:
    """Stretch the points over the box."""
    if not len(points):
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN])
    fitted: Points = np.round((points - low) / np.maximum(high - low, NEAREST) * room + MARGIN, 1)
    return fitted
