"""`POST /v1/answer`: a question answered from what is remembered, with what the answer rests on."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Response
from pydantic import AwareDatetime, Field

from api.http.search.answers import GivenAnswer
from api.http.search.results import result_json
from api.ingress import audience, dependencies
from api.ingress.answers import answers
from api.ingress.audience import ReaderLabels
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Reader, json_response
from api.ingress.large_json import Route
from core.answering import answer as answering
from core.answering.answer import LEAST, Answer, AnsweringDeps
from core.consolidation.echo import Served
from core.errors import Invalid, Misconfigured, Problem
from core.events.parsing import Content, Name, Time
from core.memory.as_of import Moment
from core.search.filters import Filters
from core.search.question import Question
from core.search.recall_log import Asker
from core.types import Json

router = APIRouter(prefix="/v1", tags=["search"], route_class=Route)

CHARACTERS = 1_000
"""Longest question."""


class AnswerRequest(RequestBody):
    """A question about a user or a group."""

    user_id: Annotated[Name | None, Field(description="Whose memory; `I` and `my` in the question mean this user")] = (
        None
    )
    group_id: Name | None = None
    question: Annotated[Content, Field(min_length=1, max_length=CHARACTERS)]
    by: Annotated[
        Literal["model", "statement"] | None,
        Field(
            description="`model`: a sentence of the language model, for which the key needs the scope `write`; "
            "`statement`: what was said, word for word. Default: the model, if there is one and the key has the scope"
        ),
    ] = None
    min_certainty: Annotated[
        float, Field(ge=0, le=1, description="Certainty from which a statement is an answer; lower: more answers")
    ] = LEAST
    session_id: Annotated[Name | None, Field(description="Look only at this session")] = None
    as_of: Annotated[AwareDatetime | None, Field(description="What was valid at this time")] = None
    known_at: Annotated[Time | None, Field(description="What was recorded by this time, as worded then")] = None
    now: Annotated[Time | None, Field(description="Time of the question; default: the current one")] = None
    audience: Annotated[
        Literal["group", "private"] | None,
        Field(description="`group`: only what all members may read, even if a user is given; default: both"),
    ] = None
    reader_labels: ReaderLabels = None


@router.post(
    "/answer", response_model=Json, operation_id="answerQuestion", responses=answers(GivenAnswer, refusals=(400,))
)
def post_answer(at: Deps, who: Reader, request: AnswerRequest) -> Response:
    """Answer a question from memories, messages and documents, and name what the answer rests on; or say: not known.

    Without a language model the answer is a statement, word for word, if it is certain enough.
    """
    if request.user_id is None and request.group_id is None:
        raise Invalid([Problem("/user_id", "say whose memory to ask: `user_id`, `group_id` or both")])
    if request.audience == "group" and request.group_id is None:
        raise Invalid([Problem("/audience", "name the group: `group_id`")])
    if request.by == "model":
        dependencies.require_scope(who, "write")
    began, at = time.perf_counter(), audience.for_reader(at, who, request.reader_labels)
    model = at.model if request.by == "model" or who.may("write") else None
    deps = AnsweringDeps(at.db, at.embedder, at.settings, model, at.replica)
    now = request.now or request.known_at or datetime.now(UTC)
    try:
        given = answering.answer(deps, who.tenant_id, _question(request, now), request.by, request.min_certainty)
    except Misconfigured as error:
        raise Invalid([Problem("/by", str(error))]) from None
    _note_recalls(at, who, request, given)
    at.note_search(who.tenant_id, hit=any(result.memory is not None for result in given.sources))
    return json_response(
        {
            "outcome": given.outcome,
            "answer": given.text,
            "by": given.by,
            "certainty": None if given.certainty is None else round(given.certainty, 3),
            "sources": [result_json(result, now, None) for result in given.sources],
            "note": given.note,
            "model": _model_use(given),
            "took_ms": round((time.perf_counter() - began) * 1000, 2),
        }
    )


def _question(request: AnswerRequest, now: datetime) -> Question:
    filters = Filters(session_id=request.session_id, moment=Moment(request.as_of, request.known_at))
    user_id = None if request.audience == "group" else request.user_id
    return Question(request.question, user_id, request.group_id, filters=filters, now=now)


def _note_recalls(at: Deps, who: Reader, request: AnswerRequest, given: Answer) -> None:
    """Count the memories behind an answer as used, and note what was served, so that its repetition is no news."""
    memories = [result.memory for result in given.sources if result.memory is not None]
    served = [Served(memory.content, memory.id) for memory in memories]
    served += [Served(result.message.content) for result in given.sources if result.message is not None]
    served += [Served(given.text)] if given.text and given.by == "model" else []
    asker = Asker(who.tenant_id, request.user_id, request.group_id)
    announced = at.settings.announce_recalls
    at.recalls.note(asker, served, announced=announced, query=request.question, session_id=request.session_id)


def _model_use(given: Answer) -> Json | None:
    if not given.calls:
        return None
    tokens = {name: sum(getattr(call, name) for call in given.calls) for name in ("input_tokens", "output_tokens")}
    return {"calls": len(given.calls), "model": given.calls[0].model, **tokens}
