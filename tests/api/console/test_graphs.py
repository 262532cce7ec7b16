from __future__ import annotations

from itertools import combinations
from math import dist

from api.console.graphs import HEIGHT, WIDTH, laid_out
from core.types import Json


def a_graph(nodes: int, *pairs: tuple[int, int]) -> Json:
    return {
        "nodes": [{"id": str(one), "degree": sum(one in pair for pair in pairs)} for one in range(nodes)],
        "edges": [{"from": str(one), "to": str(other), "relation": "refines"} for one, other in pairs],
    }


def test_the_same_graph_is_drawn_the_same_and_within_its_box() -> None:
    graph = laid_out(a_graph(12, (0, 1), (1, 2)))
    assert graph == laid_out(a_graph(12, (0, 1), (1, 2)))
    assert all(0 <= node.x <= WIDTH and 0 <= node.y <= HEIGHT for node in graph.nodes)


def test_related_memories_stand_nearer_than_others() -> None:
    graph = laid_out(a_graph(10, *combinations(range(5), 2), *combinations(range(5, 10), 2)))
    place = [(node.x, node.y) for node in graph.nodes]
    within = [dist(place[a], place[b]) for a, b in combinations(range(5), 2)]
    across = [dist(place[a], place[b]) for a in range(5) for b in range(5, 10)]
    assert sum(within) / len(within) < sum(across) / len(across) / 2


def test_nothing_and_one_memory_can_be_drawn() -> None:
    assert not laid_out(a_graph(0)).nodes
    assert len(laid_out(a_graph(1)).nodes) == 1
