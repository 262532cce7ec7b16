"""Sentences that the rooms write in English."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.language.parts import EpisodePhrases, Phrases, PlanPhrases, RecurrencePhrases, SkillPhrases

_GUIDANCE: Final = (
    "What follows is remembered from earlier conversations. It may be incomplete or out of date: prefer what the user "
    "says now, and do not make up what is not there. If two statements marked `disputed:` contradict each other, or a "
    "remembered one contradicts what the user says now, and your answer depends on it, ask the user which one is right."
)


def _listed(items: Sequence[str]) -> str:
    return f"{', '.join(items[:-1])} and {items[-1]}" if len(items) > 1 else "".join(items)


PHRASES: Final = Phrases(
    separator=", ",
    listed=_listed,
    line="{who}: {text}",
    statement_quoted="{who} said: “{text}”",
    question_quoted="{who} asked: “{text}”",
    assistant="the assistant",
    possessive="{who}'s {what}",
    key_line="- [{kind}] {who}: {text}",
    kinds={},
    guidance=_GUIDANCE,
    episode=EpisodePhrases(
        opened="{name} {talked} on {day}.",
        talked_with="talked with {others}",
        talked_alone="spoke",
        quoted=" “{text}”",
        quoted_from=" {who}: “{text}”",
        outcomes={
            "succeeded": "It succeeded",
            "failed": "It failed",
            "resolved": "It was resolved",
            "agreed": "It ended in agreement",
            "open": "It was left open",
            "reported": "Its outcome was reported",
            "ended": "",
        },
        ended=" {outcome}.",
        ended_saying=" {outcome}: “{text}”",
        reward=" Reward: {reward:g}.",
    ),
    recurrence=RecurrencePhrases(
        recurs="{subject}, {often}{weekday}: {name} (on {days} days from {first} to {last}).",
        on_weekday=", mostly on {weekday}s",
        often={
            "day": "most days",
            "week": "most weeks",
            "month": "most months",
            "often": "often",
            "rarely": "now and then",
        },
        weekdays=("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    ),
    skill=SkillPhrases(
        steps="To {name}: {steps}",
        without_steps="Skill “{name}”.",
        goal="Goal: {goal}.",
        tools="Tools: {tools}.",
        worked="(worked {succeeded} of {tried} times)",
        separator=", ",
        failure="Last failure: {error}.",
        joiner=" ",
    ),
    plan=PlanPhrases(
        head="Plan: {goal} ({ended} of {steps} steps ended)",
        without_goal="without a goal",
        step="Current step: {title}",
        more="(and {rest} more)",
    ),
)
