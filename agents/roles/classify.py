"""The roles that sort questions after play: the classifier, and who names a topic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from videoautoarena.agents.calls.replies import BadReply, answer_of, read_reply
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import (
    READINGS,
    ClassifierReply,
    TopicNamerReply,
    read_decision,
)
from videoautoarena.agents.prompting.layout import thinned
from videoautoarena.agents.roles.prompter import Prompter, Task
from videoautoarena.memory.records.records import (
    QUESTION_CATEGORIES,
    Decision,
    QuestionCategory,
    VideoFrames,
)

FRAMES = 8
"""Frames sent with a question: a sign or diagram is seen in one of them, and more cost more."""
_NO_FRAMES = "No frames of the video are at hand: decide by the words of the question alone."
_MOST_SHOWN = 30
"""Questions of a topic that its namer reads."""
_LONGEST_SHOWN = 300
_NAME = r"[\s_-]*".join


class Classification(NamedTuple):
    """A classifier's reply as it was read."""

    categories: dict[QuestionCategory, Decision]
    reason: str | None = None
    """Why nothing could be read."""


async def classify(
    prompter: Prompter, model: Model, *, frames: VideoFrames | None, question: str, scope: str
) -> Classification:
    """Return the categories of a question. One model call, never a second; or CallFailed.

    Without frames the words decide, and the classifier is told so. A reply that cannot be read
    leaves every category unknown.
    Source: VisionArena (2412.08687), categories as yes/no questions to a cheap model.
    """
    task = Task(
        "classifier",
        None if frames is None else thinned(frames, FRAMES),
        scope=scope,
        texts={"question": question},
        note=_NO_FRAMES if frames is None else "",
    )
    row = await prompter.ask_row(model, task, ClassifierReply)
    reading = prompter.prompts.reading
    return read_categories(row.reply or "", ending=row.ending, reading=reading)


def read_categories(
    reply: str, *, ending: str | None = None, reading: int = READINGS
) -> Classification:
    """Return what a reply says of each category: as the object asked for, else line by line."""
    why = "the reply says yes or no to nothing"
    found: dict[QuestionCategory, Decision] = {}
    try:
        told = read_reply(reply, ClassifierReply, ending=ending, reading=reading).model_dump()
        found = {name: told[name] for name in QUESTION_CATEGORIES}
    except BadReply as fault:
        why = str(fault)
    if set(found.values()) <= {"unknown"}:
        said = answer_of(reply, reading=reading)
        found = {name: _said_of(name, said) for name in QUESTION_CATEGORIES}
    if set(found.values()) == {"unknown"}:
        return Classification(found, why)
    return Classification(found)


def _said_of(name: str, text: str) -> Decision:
    """Return what follows a category's name wherever it stands; unknown if that disagrees."""
    named = re.compile(
        rf"(?<![^\W_]){_NAME(map(re.escape, name.split('_')))}[\"'*`\s]*(?::|=|->|\u2013|\|)"
        r"\s*(?P<said>[^\n,;}|]{1,200})",
        re.IGNORECASE,
    )
    said = {read_decision(match["said"]) for match in named.finditer(text)}
    return said.pop() if len(said) == 1 else "unknown"


async def name_topic(
    prompter: Prompter, model: Model, *, questions: Sequence[str], scope: str
) -> str:
    """Return a name for what these questions have in common; one or two calls, or CallFailed.

    The name is anybody's text: it is neither short nor harmless by itself.
    """
    shown = (" ".join(one.split())[:_LONGEST_SHOWN] for one in questions[:_MOST_SHOWN])
    task = Task("topic_namer", None, scope=scope, texts={"questions": "\n".join(shown)})
    return (await prompter.ask_json(model, task, TopicNamerReply)).name
