"""Prompts of a tenant's own: list, show, store, preview, reset."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from api.http.tenant import prompt_examples
from api.http.tenant.answers import Prompt, PromptPage, PromptSummary, RenderedPrompt
from api.ingress import paging
from api.ingress.answers import answers
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Admin, Deps, Reader, author
from api.ingress.large_json import Route
from api.ingress.paging import After, WholeLimit
from core.inference import own_prompts, prompts, structured_output
from core.inference.own_prompts import CHARACTERS, OwnPrompt, PromptDraft
from core.language.terms import token_estimate
from core.types import Json

router = APIRouter(prefix="/v1", tags=["tenant"], route_class=Route)

Name = Annotated[str, Path(max_length=100, description="Name of a packaged prompt, such as `judge`")]
PromptText = Annotated[
    str, Field(max_length=CHARACTERS, description="The prompt; `{{packaged}}` and `{{schema}}` are filled in")
]


class PromptPut(RequestBody):
    """A prompt to store as a new version."""

    text: PromptText
    share: Annotated[
        float,
        Field(gt=0, le=1, description="Share of the sessions that it is used for; the others get the packaged one"),
    ] = 1.0
    comment: Annotated[str, Field(max_length=500, description="Why it was changed")] = ""


class PromptPreview(RequestBody):
    """A prompt to preview."""

    text: Annotated[PromptText | None, Field(description="Default: the prompt in force")] = None


@router.get("/tenant/prompts", operation_id="listPrompts", responses=answers(PromptPage))
def get_prompts(deps: Deps, caller: Reader, after: After = None, limit: WholeLimit = paging.MOST) -> Json:
    """List the packaged prompts, each with the tenant's own version in force."""
    with deps.db.tenant(caller.tenant_id) as tx:
        own = own_prompts.in_force(tx)
    names = list(own_prompts.packaged_names())
    return paging.cut(names, lambda name: _summary(name, own.get(name)), str, after, limit)


@router.get("/tenant/prompts/{name}", operation_id="getPrompt", responses=answers(Prompt))
def get_prompt(
    deps: Deps,
    caller: Reader,
    name: Name,
    version: Annotated[int | None, Query(ge=1, description="Version to show; default: the one in force")] = None,
) -> Json:
    """Return a prompt: the packaged text, the tenant's own, and its newest versions."""
    packaged = own_prompts.packaged_name(name)
    with deps.db.tenant(caller.tenant_id) as tx:
        versions = own_prompts.versions(tx, name)
        displayed = own_prompts.get(tx, name, version) if version else next(iter(versions), None)
        own = own_prompts.in_force(tx).get(name)
    texts = {"packaged_text": prompts.load(packaged), "text": displayed.text if displayed else None}
    return _summary(name, own) | texts | {"versions": [stored.as_json() for stored in versions]}


@router.put("/tenant/prompts/{name}", operation_id="putPrompt", responses=answers(PromptSummary))
def put_prompt(deps: Deps, caller: Admin, name: Name, request: PromptPut) -> Json:
    """Store a new version of a prompt; it is in force for every question from now on."""
    draft = PromptDraft(request.text, request.share, request.comment)
    with deps.db.tenant(caller.tenant_id) as tx:
        stored = own_prompts.put(tx, caller.tenant_id, name, draft, by=author(caller).name)
    return _summary(name, stored)


@router.delete("/tenant/prompts/{name}", status_code=204, operation_id="resetPrompt")
def delete_prompt(deps: Deps, caller: Admin, name: Name) -> Response:
    """Use the packaged prompt again; the versions remain readable."""
    with deps.db.tenant(caller.tenant_id) as tx:
        own_prompts.reset(tx, caller.tenant_id, name, by=author(caller).name)
    return Response(status_code=204)


@router.post("/tenant/prompts/{name}/preview", operation_id="previewPrompt", responses=answers(RenderedPrompt))
def preview_prompt(deps: Deps, caller: Reader, name: Name, request: PromptPreview) -> Json:
    """Render a prompt with an example question, without asking the model."""
    packaged = prompts.load(own_prompts.packaged_name(name))
    with deps.db.tenant(caller.tenant_id) as tx:
        own = own_prompts.in_force(tx).get(name)
    written = request.text if request.text is not None else own.text if own and own.text else "{{packaged}}"
    own_prompts.require_valid(written)
    example = prompt_examples.example(name)
    system = own_prompts.render(written, packaged, example.shape)
    return {
        "system": system,
        "user": example.question,
        "answer_schema": structured_output.schema(example.shape),
        "estimated_tokens": token_estimate(system) + token_estimate(example.question),
    }


def _summary(name: str, own: OwnPrompt | None) -> Json:
    """Return what is in force; `recorded_as`: how the ledger of calls names it."""
    packaged = own_prompts.packaged_name(name)
    return {
        "name": name,
        "packaged": packaged,
        "version": own.version if own else None,
        "share": own.share if own else None,
        "recorded_as": own.label if own else packaged,
    }
