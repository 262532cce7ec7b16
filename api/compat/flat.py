"""The flat routes of mem0's own server, below `/compat/mem0/oss`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from api.compat import adding, changing, finding, shapes
from api.compat.answers import Mem0Added, Mem0FlatMemory, Mem0FlatResults, Mem0Message, Mem0Version
from api.compat.platform import ByQuery, Reading
from api.compat.requests import PAGE, AddRequest, FindRequest, UpdateRequest
from api.ingress.answers import answers
from api.ingress.dependencies import Deps, Publisher, Reader, Writer
from api.ingress.large_json import Route
from core.types import Json

router = APIRouter(prefix="/compat/mem0/oss", tags=["mem0"], route_class=Route)


@router.post("/memories", operation_id="mem0OssAdd", responses=answers(Mem0Added))
def post_memories(deps: Deps, caller: Publisher, request: AddRequest) -> Json:
    """Learn from messages in the background; with `infer` false keep them as memories, which needs the scope write."""
    return {"results": [], **adding.add(deps, caller, request)}


@router.get("/memories", operation_id="mem0OssList", responses=answers(Mem0FlatResults))
def get_memories(
    deps: Reading, caller: Reader, request: ByQuery, top_k: Annotated[int, Query(ge=1, le=PAGE)] = 100
) -> Json:
    """List the memories of the ids in the query string, newest first."""
    return {"results": [shapes.flat_json(memory) for memory in finding.page(deps, caller, request)[:top_k]]}


@router.delete("/memories", operation_id="mem0OssDeleteAll", responses=answers(Mem0Message))
def delete_memories(deps: Deps, caller: Writer, request: ByQuery) -> Json:
    """Erase the memories of the ids in the query string."""
    changing.delete_all(deps, caller, request)
    return {"message": "All relevant memories deleted"}


@router.post("/search", operation_id="mem0OssSearch", responses=answers(Mem0FlatResults))
def post_search(deps: Reading, caller: Reader, request: FindRequest) -> Json:
    """Search memories that pass a filter."""
    return {"results": [shapes.flat_json(memory) for memory in finding.search(deps, caller, request)]}


@router.get("/memories/{memory_id}", operation_id="mem0OssGet", responses=answers(Mem0FlatMemory))
def get_memory(deps: Reading, caller: Reader, memory_id: str) -> Json:
    """Return a memory."""
    return shapes.flat_json(finding.by_id(deps, caller, memory_id))


@router.put("/memories/{memory_id}", operation_id="mem0OssUpdate", responses=answers(Mem0Message, refusals=(409,)))
def put_memory(deps: Deps, caller: Writer, memory_id: str, request: UpdateRequest) -> Json:
    """Change the words, metadata or dates of a memory."""
    changing.update(deps, caller, memory_id, request)
    return {"message": "Memory updated successfully!"}


@router.delete("/memories/{memory_id}", operation_id="mem0OssDelete", responses=answers(Mem0Message, refusals=(409,)))
def delete_memory(deps: Deps, caller: Writer, memory_id: str) -> Json:
    """Erase a memory."""
    changing.delete(deps, caller, memory_id)
    return {"message": "Memory deleted successfully!"}


@router.get("/memories/{memory_id}/history", operation_id="mem0OssHistory", responses=answers(list[Mem0Version]))
def get_history(deps: Reading, caller: Reader, memory_id: str) -> list[Json]:
    """List the versions of a memory, oldest first."""
    return finding.history(deps, caller, memory_id)
