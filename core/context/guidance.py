"""Instructions for a model on how to use the memory in its context. Pure."""

from __future__ import annotations

from typing import Final

from core.language.zh.recognition import is_chinese

LEAST: Final = 512
"""Smallest limit, in tokens, of a context with guidance: in a smaller one it would take the memories' room."""

ENGLISH: Final = (
    "What follows is remembered from earlier conversations. It may be incomplete or out of date: prefer what the user "
    "says now, and do not make up what is not there. If two statements marked `disputed:` contradict each other, or a "
    "remembered one contradicts what the user says now, and your answer depends on it, ask the user which one is right."
)

CHINESE: Final = (
    "以下内容来自以往对话的记忆，可能不完整或已过时：以用户现在说的为准，记忆里没有的不要编造。如果标有“disputed:”的两条记忆"
    "互相矛盾，或者某条记忆与用户现在说的不一致，而你的回答取决于它，请先问用户哪一个是对的。"
)


def guidance(question: str, limit: int) -> str:
    """Return the guidance in the language of the question; empty if the limit has no room for it."""
    if limit < LEAST:
        return ""
    return CHINESE if is_chinese(question) else ENGLISH
