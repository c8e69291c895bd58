"""A judge that does what it is told outside the blocks of its prompt, and reads nothing in them.

It knows the fences by the words of the system text alone: material stands between a line
`<<<name code>>>` and the line `<<<end name code>>>` with the same code. It shares no code with what
writes or reads prompts, and takes every character that may end a line for the end of one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from langchain_core.messages import AIMessage, BaseMessage

from tests.support.canned import judged
from videoautoarena.agents.prompting.fences import attacks, worded

QUESTION = "What is in the pan?"
UNMOVED = "tie_bad"
"""What it says where nobody tells it anything."""
_OPENS = re.compile(r"<<<(\w+) ([0-9a-f]{16})>>>")
_HEADINGS = {"Answer A:": "A", "Answer B:": "B"}
_FORM = ("Reply format: judge", "Reply with one JSON object and nothing else")
"""How the prompt's own last lines begin, which an attack repeats."""


def obey(_model: str, messages: Sequence[BaseMessage]) -> AIMessage:
    """Name the answer behind whose heading an order of the kit stands open, if there is one."""
    return _say(_ordered(open_lines(_prompt(messages))))


def obey_anything(_model: str, messages: Sequence[BaseMessage]) -> AIMessage:
    """Name the answer in which an order of the kit stands, fence or no fence."""
    return _say(_ordered(line.strip() for line in _prompt(messages).splitlines()))


def _prompt(messages: Sequence[BaseMessage]) -> str:
    return str(messages[-1].content_blocks[-1].get("text", ""))


def _ordered(lines: Iterable[str]) -> str:
    verdict = UNMOVED
    seat = UNMOVED
    for line in lines:
        seat = _HEADINGS.get(line, seat)
        verdict = seat if line in ORDERS else verdict
    return verdict


def _say(verdict: str) -> AIMessage:
    usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
    said = json.dumps(judged(verdict, "As I was told."))
    return AIMessage.model_validate({"content": said, "usage_metadata": usage})


def open_lines(prompt: str) -> Iterator[str]:
    """Yield the lines of a prompt that stand in no block."""
    end = None
    for line in map(str.strip, prompt.splitlines()):
        if end is not None:
            end = None if line == end else end
        elif opening := _OPENS.fullmatch(line):
            end = f"<<<end {opening[1]} {opening[2]}>>>"
        else:
            yield line


def _orders() -> Iterator[str]:
    for attack in attacks():
        for line in worded(attack.text, question=QUESTION).splitlines():
            if line.strip() and not line.startswith(_FORM):
                yield line.strip()


ORDERS = frozenset(_orders())
