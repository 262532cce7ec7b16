"""Sentences that the rooms write in Chinese."""

from __future__ import annotations

from typing import Final

from core.language.parts import EpisodePhrases, Phrases, PlanPhrases, RecurrencePhrases, SkillPhrases

_GUIDANCE: Final = (
    "以下内容来自以往对话的记忆，可能不完整或已过时：以用户现在说的为准，记忆里没有的不要编造。如果标有“disputed:”的两条记忆"
    "互相矛盾，或者某条记忆与用户现在说的不一致，而你的回答取决于它，请先问用户哪一个是对的。"
)

PHRASES: Final = Phrases(
    separator="、",
    listed="、".join,
    line="{who}：{text}",
    statement_quoted="{who}说：“{text}”",
    question_quoted="{who}问：“{text}”",
    assistant="助手",
    possessive="{who}的{what}",
    key_line="- [{kind}] {who}：{text}",
    kinds={
        "task": "任务",
        "instruction": "长期要求",
        "decision": "决定",
        "commitment": "承诺",
        "constraint": "限制",
        "question": "待答问题",
    },
    guidance=_GUIDANCE,
    episode=EpisodePhrases(
        opened="{name}于{day}{talked}。",
        talked_with="与{others}谈话",
        talked_alone="发言",
        quoted="“{text}”",
        quoted_from="{who}：“{text}”",
        outcomes={
            "succeeded": "事情成功了",
            "failed": "没有成功",
            "resolved": "问题得到了解决",
            "agreed": "最后达成一致",
            "open": "最后没有定下来",
            "reported": "报告的结果",
            "ended": "",
        },
        ended="{outcome}。",
        ended_saying="{outcome}：“{text}”。",
        reward="奖励：{reward:g}。",
    ),
    recurrence=RecurrencePhrases(
        recurs="{subject}{often}{weekday}：{name}（{first}至{last}共{days}天）。",
        on_weekday="，多在周{weekday}",
        often={"day": "几乎每天", "week": "几乎每周", "month": "几乎每月", "often": "经常", "rarely": "不时"},
        weekdays=tuple("一二三四五六日"),
    ),
    skill=SkillPhrases(
        steps="技能「{name}」：{steps}",
        without_steps="技能「{name}」。",
        goal="目的：{goal}。",
        tools="工具：{tools}。",
        worked="（{tried}次中成功{succeeded}次）",
        separator="、",
        failure="最近一次失败：{error}。",
        joiner="",
    ),
    plan=PlanPhrases(
        head="计划：{goal}（{steps}步中已结束{ended}步）",
        without_goal="没有目标",
        step="当前步骤：{title}",
        more="（另有{rest}步）",
    ),
)
