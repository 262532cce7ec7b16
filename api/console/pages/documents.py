"""The knowledge base: its documents, and one of them with its passages."""

from __future__ import annotations

from uuid import UUID

from fastapi.responses import Response

from api.console.calls import ApiCalls
from api.console.routing import Rendering, Text, at, go_to, page


@page("/documents")
async def get_documents(
    api: ApiCalls, pages: Rendering, user_id: Text = "", group_id: Text = "", after: Text = ""
) -> Response:
    listing = await api.get("/v1/documents", user_id=user_id, group_id=group_id, after=after, limit=50)
    return pages.page("documents.html", documents=listing["items"], following=listing["next"])


@page("/documents/{document_id}")
async def get_document(api: ApiCalls, pages: Rendering, document_id: UUID) -> Response:
    document = await api.get(at("documents", str(document_id)), passages="true")
    return pages.page("document.html", document=document)


@page("/documents/{document_id}/erase", method="POST")
async def post_erase(api: ApiCalls, document_id: UUID) -> Response:
    await api.delete(at("documents", str(document_id)))
    return go_to("/console/documents")
