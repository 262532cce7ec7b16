"""Ordered statements per table.

Bound in every statement: `user`, the user; `alone` and `shared`, the sessions in which they spoke alone and with
others; `seqs` and `events`, the places and ids of all that the log holds of them; `pepper`, a secret that nobody keeps,
by which names that others' rows refer to are replaced, each by one that says nothing; `spelt`, the user's name as it
stands in JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import TextClause, text

from core.erasure.log_redaction import GONE


@dataclass(frozen=True, slots=True)
class Step:
    """One statement, and in words what it does to its table."""

    table: str
    treatment: str
    statement: TextClause


def _nameless(column: str) -> str:
    """SQL for an id of something erased that others' rows still refer to."""
    return f"'erased:' || md5(:pepper || {column})"


def _of_sessions(table: str) -> TextClause:
    """What is kept of the sessions in which the user spoke, alone or with others."""
    return text(f"DELETE FROM {table} WHERE session_id = ANY(:alone) OR session_id = ANY(:shared)")


_MINE = "(SELECT id FROM memories WHERE user_id = :user)"

_SEQS = "cast(:seqs AS bigint[])"
"""Of the column's own type: only then is a long list looked up by hash, and not from its beginning for each row."""

_LIST = "CASE jsonb_typeof({0}) WHEN 'array' THEN {0} ELSE '[]' END"

_REFERRED_TO = """
    (EXISTS (SELECT FROM dispatches d WHERE d.event_seq = e.seq)
     OR e.seq IN (SELECT unnest(f.event_seqs) FROM flows f))
"""

STEPS: Final = (
    Step(
        "model_calls",
        "stay, as they were paid for; what a model answered goes",
        text(f"""
            UPDATE model_calls SET answer = NULL WHERE answer IS NOT NULL AND dispatch_id = ANY(ARRAY(
                SELECT id FROM dispatches WHERE event_seq = ANY({_SEQS})
                UNION SELECT d.id FROM dispatches d JOIN events e ON e.seq = d.event_seq
                WHERE e.session_id = ANY(:shared)))
        """),
    ),
    Step(
        "verdicts",
        "deleted, with those of others that quote the user",
        text(f"""
            DELETE FROM verdicts v WHERE v.user_id = :user OR v.memory_id IN {_MINE} OR EXISTS (
                SELECT FROM jsonb_array_elements({_LIST.format("v.candidate -> 'evidence'")}) AS cited
                JOIN messages m ON m.session_id = cited ->> 'session_id' AND m.id = cited ->> 'message_id'
                WHERE m.session_id = ANY(:shared) AND m.user_id = :user)
        """),
    ),
    Step(
        "evidence",
        "deleted, with the quotes of the user that others' memories hold",
        text(f"""
            DELETE FROM evidence e WHERE e.memory_id IN {_MINE}
                OR EXISTS (SELECT FROM messages m WHERE m.session_id = e.session_id AND m.id = e.message_id
                                                    AND m.user_id = :user)
                OR (e.session_id = '' AND e.event_id = ANY(:events))
        """),
    ),
    Step(
        "relations",
        "deleted, to and from the user's memories",
        text(f"DELETE FROM relations WHERE from_id IN {_MINE} OR to_id IN {_MINE}"),
    ),
    Step("memory_versions", "deleted", text(f"DELETE FROM memory_versions WHERE memory_id IN {_MINE}")),
    Step(
        "profiles",
        "deleted, the user's and those of their groups, which are built anew from what remains",
        text("""
            DELETE FROM profiles WHERE owner = 'user:' || :user OR owner = ANY(ARRAY(
                SELECT 'group:' || group_id FROM memories WHERE user_id = :user AND group_id IS NOT NULL
                UNION SELECT 'group:' || group_id FROM sessions WHERE id = ANY(:shared) AND group_id IS NOT NULL))
        """),
    ),
    Step("memories", "deleted", text("DELETE FROM memories WHERE user_id = :user")),
    Step("servings", "deleted", text("DELETE FROM servings WHERE user_id = :user")),
    Step("mirrors", "deleted, and the files with them", text("DELETE FROM mirrors WHERE user_id = :user")),
    Step("sweeps", "deleted", text("DELETE FROM sweeps WHERE user_id = :user")),
    Step(
        "rebuilds",
        "deleted, with what was being made anew",
        text("DELETE FROM rebuilds WHERE user_id = :user"),
    ),
    Step(
        "notices",
        "deleted",
        text("DELETE FROM notices WHERE user_id = :user OR event_id = ANY(:events)"),
    ),
    Step(
        "passages",
        "of the user's own documents: deleted",
        text("DELETE FROM passages p USING documents d WHERE d.id = p.document_id AND d.user_id = :user"),
    ),
    Step("documents", "the user's own: deleted", text("DELETE FROM documents WHERE user_id = :user")),
    Step(
        "units",
        "of all sessions in which the user spoke: deleted, those with others are cut anew",
        _of_sessions("units"),
    ),
    Step("summaries", "likewise", _of_sessions("summaries")),
    Step("plans", "likewise", _of_sessions("plans")),
    Step("contexts", "of all sessions in which the user spoke: deleted", _of_sessions("contexts")),
    Step("working", "of all sessions in which the user spoke: deleted", _of_sessions("working")),
    Step("hidden_messages", "likewise: what was hidden is shown again", _of_sessions("hidden_messages")),
    Step(
        "events",
        "that tell of a message that was hidden in a session with others: without the reason",
        text("""
            UPDATE events SET payload = payload - 'reason'
            WHERE session_id = ANY(:shared) AND event_type = 'message.hidden'
        """),
    ),
    Step("messages", "deleted", text("DELETE FROM messages WHERE session_id = ANY(:alone)")),
    Step(
        "messages",
        "in sessions with others: they keep their place, without text, speaker or any name",
        text(f"""
            UPDATE messages SET content = '', speaker = NULL, extras = NULL, user_id = '', agent_id = NULL,
                                importance = NULL, id = {_nameless("id")}, event_id = {_nameless("event_id")}
            WHERE session_id = ANY(:shared) AND user_id = :user
        """),
    ),
    Step(
        "messages",
        "of others, who named the user as taking part: without that name",
        text("""
            UPDATE messages
                SET extras = jsonb_set(extras, '{participants}', (extras -> 'participants') - cast(:user AS text))
            WHERE session_id = ANY(:shared) AND jsonb_exists(extras -> 'participants', :user)
        """),
    ),
    Step("sessions", "deleted", text("DELETE FROM sessions WHERE id = ANY(:alone)")),
    Step(
        "sessions",
        "with others: stay, and are the user's no longer",
        text("""
            UPDATE sessions SET user_id = CASE WHEN user_id <> :user THEN user_id END, state = '{}'
            WHERE id = ANY(:shared)
        """),
    ),
    Step("decisions", "deleted", text(f"DELETE FROM decisions WHERE event_seq = ANY({_SEQS})")),
    Step(
        "flows",
        "deleted, unless others' events wait in one, too",
        text(f"""
            DELETE FROM flows WHERE key = 'user:' || :user
                OR key = ANY(ARRAY(SELECT 'session:' || unnest(cast(:alone AS text[]))))
                OR (event_seqs <> '{{}}' AND event_seqs <@ {_SEQS})
                OR EXISTS (SELECT FROM unnest(cast(:spelt AS text[])) AS s WHERE strpos(key, s) > 0)
        """),
    ),
    Step(
        "dispatches",
        "from which a memory of someone else came: stay, without parameters, result, error or name",
        text(f"""
            UPDATE dispatches d SET
                params = '{{}}', result = NULL, approval = NULL, lease = NULL, wake_at = NULL, hold = NULL,
                alone = NULL, lane = NULL, correlation_id = {_nameless("d.correlation_id")},
                error = CASE WHEN ended_at IS NULL THEN '{GONE}' END,
                status = CASE WHEN ended_at IS NULL THEN 'cancelled' ELSE status END,
                ended_at = coalesce(ended_at, clock_timestamp())
            WHERE event_seq = ANY({_SEQS}) AND EXISTS (SELECT FROM memory_versions v WHERE v.dispatch_id = d.id)
        """),
    ),
    Step(
        "dispatches",
        "deleted, also what came from the bus and could not be read but names the user",
        text(f"""
            DELETE FROM dispatches d
            WHERE (event_seq = ANY({_SEQS}) AND NOT EXISTS (SELECT FROM memory_versions v WHERE v.dispatch_id = d.id))
               OR (event_seq IS NULL AND EXISTS (
                      SELECT FROM unnest(cast(:spelt AS text[])) AS s WHERE strpos(params ->> 'body', s) > 0))
        """),
    ),
    Step(
        "dispatches",
        "that served several at once: without the user's sessions and events",
        text(f"""
            UPDATE dispatches d SET params = params || jsonb_strip_nulls(jsonb_build_object(
                'sessions', (SELECT jsonb_agg(s) FROM jsonb_array_elements_text(params -> 'sessions') s
                             WHERE s <> ALL(:alone)),
                'gathered', (SELECT jsonb_agg(g) FROM jsonb_array_elements_text(params -> 'gathered') g
                             WHERE g <> ALL(:events))))
            WHERE (jsonb_exists(params, 'sessions') AND EXISTS (
                      SELECT FROM jsonb_array_elements_text({_LIST.format("params -> 'sessions'")}) s
                      WHERE s = ANY(:alone)))
               OR (jsonb_exists(params, 'gathered') AND EXISTS (
                      SELECT FROM jsonb_array_elements_text({_LIST.format("params -> 'gathered'")}) g
                      WHERE g = ANY(:events)))
        """),
    ),
    Step(
        "events",
        "of others that followed from the user's: refer to them by a name that says nothing",
        text(f"""
            WITH RECURSIVE down AS (
                SELECT e.seq, e.id FROM events e WHERE e.causation_id = ANY(:events) AND e.seq <> ALL({_SEQS})
                UNION
                SELECT e.seq, e.id FROM down JOIN events e ON e.causation_id = down.id WHERE e.seq <> ALL({_SEQS})
            )
            UPDATE events e SET
                causation_id = CASE WHEN e.causation_id = ANY(:events) THEN {_nameless("e.causation_id")}
                                    ELSE e.causation_id END,
                correlation_id = CASE WHEN e.correlation_id = ANY(:events) THEN {_nameless("e.correlation_id")}
                                      ELSE e.correlation_id END
            FROM down WHERE e.seq = down.seq
        """),
    ),
    Step(
        "dispatches",
        "of others that followed from the user's events: likewise",
        text(f"""
            UPDATE dispatches d SET correlation_id = {_nameless("d.correlation_id")}
            WHERE d.correlation_id = ANY(:events)
        """),
    ),
    Step(
        "events",
        "of others in a session with the user: without the user's name among those who took part",
        text(f"""
            UPDATE events
                SET payload = jsonb_set(payload, '{{participants}}', (payload -> 'participants') - cast(:user AS text))
            WHERE session_id = ANY(:shared) AND seq <> ALL({_SEQS}) AND jsonb_exists(payload -> 'participants', :user)
        """),
    ),
    Step(
        "events",
        "from which a memory of someone else came: keep their place, without payload or name",
        text(f"""
            UPDATE events e SET payload = '{{"erased": true}}', subject = NULL, session_id = NULL, user_id = NULL,
                                extensions = NULL, id = {_nameless("e.id")},
                                causation_id = CASE WHEN e.causation_id = ANY(:events)
                                               THEN {_nameless("e.causation_id")} ELSE e.causation_id END,
                                correlation_id = CASE WHEN e.correlation_id = ANY(:events)
                                                 THEN {_nameless("e.correlation_id")} ELSE e.correlation_id END
            WHERE e.seq = ANY({_SEQS}) AND {_REFERRED_TO}
        """),
    ),
    Step(
        "events",
        "deleted",
        text(f"DELETE FROM events e WHERE e.seq = ANY({_SEQS}) AND NOT {_REFERRED_TO}"),
    ),
    Step(
        "search_changes",
        "deleted, and those of groups of which nothing is left: who has no rows at all needs no notes",
        text("""
            DELETE FROM search_changes c WHERE c.owner = 'user:' || :user OR (c.owner LIKE 'group:%' AND NOT EXISTS (
                SELECT FROM search_index i WHERE i.group_id = substr(c.owner, 7)))
        """),
    ),
    Step(
        "schedules",
        "that are being handed to one user after another: begin this page again a little earlier",
        text("UPDATE schedules SET page_after = left(cast(:user AS text), -1) WHERE page_after = :user"),
    ),
)
"""Each table of a tenant that can hold something of a user, with what is done in it, in this order."""

KEPT: Final[Mapping[str, str]] = {
    "api_keys": "belong to services; users have none",
    "endpoints": "addresses that a tenant's rules post to",
    "receipts": "say what was erased, of whom by a salted hash alone",
    "secrets": "credentials of a tenant's receivers, encrypted",
    "webhooks": "where a tenant's rules may post",
    "rule_versions": "a tenant's policy; what it says, people wrote into it",
    "rules": "a tenant's policy; what it says, people wrote into it",
    "search_index": "the user's rows are deleted, and others' beside them weighed anew: `core.index.removal`",
    "term_counts": "the user's are deleted, those of their groups counted down: `core.index.removal`",
    "tenant_settings": "limits of a tenant, numbers alone",
    "tombstones": "keep what was erased away; one of the user as a whole is added",
}
"""Every other table, and why no statement stands here for it."""
