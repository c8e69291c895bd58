"""A brain that looks at nothing and answers every role in its form, equally to the equal task."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from videoautoarena.agents.prompting.contracts import FORMAT_LINE
from videoautoarena.agents.prompting.fences import open_fences
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import DIFFICULTY_SCALES
from videoautoarena.memory.records.standards import STANDARDS

Brain = Callable[[str, Sequence[BaseMessage]], AIMessage]
VERDICTS = ("A", "B", "A", "B", "A", "B", "tie_good", "tie_bad")


def canned(_model: str, messages: Sequence[BaseMessage]) -> AIMessage:
    """Return a reply that follows from the task's words alone."""
    task = str(messages[-1].content_blocks[-1].get("text", ""))
    outside = open_fences(task)[0]
    _, is_asked, rest = outside.rpartition(FORMAT_LINE)
    role = rest.split(maxsplit=1)[0] if is_asked else "contestant"
    said = reply(role, digest(task))
    usage = {"input_tokens": 100, "output_tokens": 8, "total_tokens": 108}
    return AIMessage.model_validate({"content": said, "usage_metadata": usage})


def reply(role: str, code: str) -> str:
    """Return what `role` replies to the task with this digest."""
    if role == "contestant":
        return f"It is the heron of [00:12], number {code[:12]}."
    number = int(code[:8], 16)
    forms: dict[str, dict[str, Any]] = {
        "examiner": {"account": f"A street {code[:6]}.", "category": "Travel Guides"},
        "persona": {"personas": [f"A painter of {what} {code[:6]}" for what in ("a", "b", "c")]},
        "questioner": {"question": f"Which lamp is {code[:6]}?"},
        "judge": judged(VERDICTS[number % len(VERDICTS)], f"Fine: {code[:6]}."),
        "evolver": {name: [f"It left out {code[:6]}."] for name in ("faults_a", "faults_b")}
        | {name: ["Counting."] for name in ("weaknesses_a", "weaknesses_b")}
        | {"question": f"Which lamp is {code[:8]}, and which the next?"},
        "grader": {"question_1": _grade(2.5), "question_2": _grade(2.0 + number % 3)},
    }
    return json.dumps(forms[role])


def judged(verdict: str, words: str | Mapping[str, str], **better: str) -> dict[str, Any]:
    """Return what a judge replies, each standard decided as the whole is or as `better` says."""
    lead = "tie" if verdict.startswith("tie") else verdict
    said = dict.fromkeys(STANDARDS, words) if isinstance(words, str) else words
    return {
        "own_answer": "I would say so.",
        **{
            n: {"analysis": said.get(n, "Fine."), "verdict": better.get(n, lead)} for n in STANDARDS
        },
        "verdict": verdict,
    }


def _grade(overall: float) -> dict[str, float]:
    return dict.fromkeys((*DIFFICULTY_SCALES, "overall"), overall)


def chatty(brain: Brain, tokens: int) -> Brain:
    """Return a brain that says it took so many output tokens for each reply."""

    def say(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
        reply = brain(model, messages)
        usage = {"input_tokens": 40, "output_tokens": tokens, "total_tokens": tokens + 40}
        return AIMessage.model_validate({"content": reply.content, "usage_metadata": usage})

    return say


_PIECE = re.compile(r"[^\W\d_]{1,7}|\d{1,3}|[^\w\s]|_")


def billing(brain: Brain, *, frame_tokens: int) -> Brain:
    """Return a brain that counts tokens about as servers do: pieces of words, so many a frame."""

    def say(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
        reply = brain(model, messages)
        blocks = [block for message in messages for block in message.content_blocks]
        texts = [str(block["text"]) for block in blocks if block["type"] == "text"]
        frames = sum(block["type"] == "image" for block in blocks)
        into = sum(len(_PIECE.findall(text)) for text in texts) + frames * frame_tokens
        out = len(_PIECE.findall(str(reply.text)))
        usage = {"input_tokens": into, "output_tokens": out, "total_tokens": into + out}
        return AIMessage.model_validate({"content": reply.content, "usage_metadata": usage})

    return say
