"""Agents that build profiles, write episodes, learn skills and resolve disputes between memories."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from core.consolidation import dispute_resolution
from core.errors import Never
from core.events.pending import Labelled, Reported
from core.inference import local_reader
from core.reflection import episodes, profile, skills
from core.types import Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools, count_changes, id_of, note_call, session_of


def build_profile(tools: Tools, job: Job) -> Outcome:
    """Build the profile of the event's user, or of the group that the parameters name; a user's groups follow."""
    owner = _profile_owner(job)
    built = profile.build(tools.db, job.tenant_id, owner)
    then: Sequence[tuple[str, Json]] = ()
    if owner.user_id is not None:
        with tools.db.tenant(job.tenant_id) as tx:
            then = [(job.target, {"group_id": group}) for group in profile.groups_behind(tx, owner.user_id)]
    return Outcome(built, then)


def write_episodes(tools: Tools, job: Job) -> Outcome:
    """Write one episode of the event's session for each participant, or update those that exist."""
    model = job.model
    narrate = episodes.by_model(model, partial(note_call, tools, job)) if model else episodes.by_rules
    reader = local_reader.reader(tools.settings)
    with session_of(job) as session_id:
        written = episodes.session(tools.consolidation, job.tenant_id, session_id, narrate, reader)
    return Outcome(written, (), count_changes)


def learn_skill(tools: Tools, job: Job) -> Outcome:
    """Learn from an attempt that an event reports; with `chain`, a name, from the steps of the rules that led to it."""
    name = job.params.get("chain")
    with tools.db.tenant(job.tenant_id) as tx:
        tried = skills.attempt(tx, job.event) if name is None else skills.chain(tx, job.event, _name(job, name))
    if isinstance(tried, str):
        return Outcome(Reported({"learnt": False, "reason": tried}))
    learnt = skills.learn(tools.consolidation, job.tenant_id, tried)
    if learnt.upsert is None:
        return Outcome(Reported({"learnt": False, "reason": learnt.reason}))
    label = {"learnt": True, "skill": tried.name, "reason": learnt.reason}
    return Outcome(Labelled(label, learnt.upsert), (), count_changes)


def resolve_conflict(tools: Tools, job: Job) -> Outcome:
    """Resolve a dispute between two memories: keep the one that `keep` names, else apply `dispute_rules`."""
    ids = [id_of(job, name) for name in ("memory_id", "with")]
    keep = id_of(job, "keep") if job.params.get("keep") else None
    if keep is not None and keep not in ids:
        raise Never(
            f"{job.target}: `keep` names {keep}, which is neither of the disputed memories, {ids[0]}, {ids[1]}."
        )
    with tools.db.tenant(job.tenant_id) as tx:
        case = dispute_resolution.find(tx, ids[0], ids[1], keep)
    if case is None:
        return Outcome(Reported({"resolved": False, "reason": "They are not in dispute any more."}))
    return Outcome(case, (), count_changes)


def _profile_owner(job: Job) -> profile.ProfileOwner:
    """Return the owner of the profile: the one in the parameters, else the one of the event."""
    user, group = job.params.get("user_id"), job.params.get("group_id")
    if not user and not group:
        user, group = job.event.user_id, job.event.payload.get("group_id")
    if user:
        return profile.ProfileOwner(user_id=str(user))
    if group:
        return profile.ProfileOwner(group_id=str(group))
    raise Never(f"{job.target} needs a user or a group; {job.event.event_type} {job.event.id!r} names neither.")


def _name(job: Job, name: object) -> str:
    if isinstance(name, str) and name.strip():
        return name.strip()
    raise Never(f"{job.target}: `chain` must be the name of the skill that the chain forms, not {name!r:.200}.")
