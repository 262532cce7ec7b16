"""Keys of the tenant: who may do what, when each was used last."""

from __future__ import annotations

from typing import Final

from fastapi.responses import Response

from api.console.calls import ApiCalls
from api.console.routing import Form, FormLists, Rendering, Text, at, page, refresh

SCOPES: Final = ("read", "write", "publish", "rules", "raw", "admin")


@page("/keys")
async def get_keys(api: ApiCalls, pages: Rendering, after: Text = "") -> Response:
    listing = await api.get("/v1/keys", after=after)
    return pages.page("keys.html", keys=listing["items"], following=listing["next"], scopes=SCOPES)


@page("/keys", method="POST")
async def post_key(api: ApiCalls, pages: Rendering, form: FormLists) -> Response:
    name = form.get("name", [""])[0].strip()
    labels = form.get("labels", [""])[0].replace(",", " ").split()
    body = {"scopes": form.get("scope", []), "name": name or None} | ({"labels": labels} if labels else {})
    created = await api.post("/v1/keys", body)
    return pages.page("key_created.html", created=created)


@page("/keys/revoke", method="POST")
async def post_revoke(api: ApiCalls, form: Form) -> Response:
    await api.delete(at("keys", form.get("id", "")))
    return refresh()
