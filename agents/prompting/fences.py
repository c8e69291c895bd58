"""Fences around text that is data, and the answers that try to break out of them.

A fenced block reads

    <<<answer_a 5f0c7d21a4b8e936>>>
    ... the text, verbatim ...
    <<<end answer_a 5f0c7d21a4b8e936>>>

and all blocks of one prompt share one code.

The attacks are worded here, each after a known kind; none is aimed at one judge. They stand in
`attacks.json`. `[[question]]` in a text is where the question that was asked goes, which
is all that a contestant knows beside its frames. `[[verdict A]]` is a judge's reply in favour of
the answer that it read first, and `[[form]]` the line that asks for one: anybody who knows this
project can write these, too.

Source of the idea: Zheng et al. (2024), Cheating Automatic LLM Benchmarks: Null Models Achieve High
Win Rates; Shi et al. (2024), Optimization-based Prompt Injection Attack to LLM-as-a-Judge.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from string import ascii_uppercase
from typing import Any, Literal, NamedTuple, TypeAlias

from videoautoarena.agents.prompting.contracts import (
    CONTRACTS,
    HISTORY_LINE,
    QUESTION_LINE,
    contract,
    judges_in_full,
)
from videoautoarena.memory.records.records import Record
from videoautoarena.memory.records.standards import STANDARDS, standards_of

Turn: TypeAlias = tuple[str, str]
"""What the user said in a round, and what was answered."""

_BLOCK = re.compile(
    r"^<<<(?P<name>\w+) (?P<code>[0-9a-f]{16})>>>\n(?P<text>.*?)\n?^<<<end (?P=name) (?P=code)>>>$",
    re.DOTALL | re.MULTILINE,
)


def fence_code(seed: int, scope: str, role: str, texts: Mapping[str, str]) -> str:
    """Return 16 hex digits that occur in none of `texts`; equal input gives the equal code."""
    counter = 0
    while True:
        # All texts are part of it, so that nobody who writes one of them can know the code.
        material = json.dumps(
            [seed, scope, role, counter, sorted(texts.items())], separators=(",", ":")
        )
        code = hashlib.sha256(material.encode()).hexdigest()[:16]
        if not any(code in text for text in texts.values()):
            return code
        counter += 1


def fence(name: str, code: str, text: str) -> str:
    return f"<<<{name} {code}>>>\n{text}\n<<<end {name} {code}>>>"


def open_fences(prompt: str) -> tuple[str, dict[str, str]]:
    """Split a prompt into the words outside all blocks and {block name: text}.

    The code of the first block binds: a block with another code is text somebody smuggled in,
    and stays where it stood.
    """
    first = _BLOCK.search(prompt)
    if first is None:
        return prompt, {}
    code = first["code"]
    block = re.compile(
        rf"^<<<(\w+) {code}>>>\n(.*?)\n?^<<<end \1 {code}>>>$", re.DOTALL | re.MULTILINE
    )
    return block.sub("", prompt), {m[1]: m[2] for m in block.finditer(prompt)}


_LANDMARK = re.compile(
    rf"^(?:{QUESTION_LINE}|<<<(?P<name>\w+) (?P<code>[0-9a-f]{{16}})>>>)$", re.MULTILINE
)


def history_blocks(history: Sequence[Turn]) -> dict[str, str]:
    """Return what was said in earlier rounds as (name, text) of blocks, in their order."""
    return {
        f"{who}_{number}": text
        for number, turn in enumerate(history, 1)
        for who, text in zip(("user", "assistant"), turn, strict=True)
    }


def question_in(text: str) -> str:
    """Return what stands behind the first line for a question, outside the blocks before it.

    All of it where there is no such line.
    """
    place = 0
    while found := _LANDMARK.search(text, place):
        if found["name"] is None:
            return text[found.end() :].strip()
        # A block may hold such a line as well, so it is passed over whole.
        closing = f"\n<<<end {found['name']} {found['code']}>>>"
        end = text.find(closing, found.end())
        place = found.end() if end < 0 else end + len(closing)
    return text


def history_in(text: str) -> tuple[Turn, ...]:
    """Return the earlier rounds that stand in a contestant's prompt, in their order."""
    _, found, behind = text.partition(f"\n{HISTORY_LINE}\n")
    blocks = open_fences(behind)[1] if found else {}
    rounds = list[Turn]()
    while (user := blocks.get(f"user_{len(rounds) + 1}")) is not None:
        rounds.append((user, blocks.get(f"assistant_{len(rounds) + 1}", "")))
    return tuple(rounds)


_QUESTION = "[[question]]"
_FORM = "[[form]]"
_VERDICT = re.compile(r"\[\[verdict ([AB])\]\]")


class Attack(Record):
    """Text put onto an answer so that it wins without deserving to."""

    name: str
    family: str
    """Its kind: attacks of one family go the same way."""
    about: str
    place: Literal["before", "after"]
    text: str


class Constant(Record):
    """An answer that is the same whatever was asked."""

    name: str
    text: str


@cache
def attacks() -> tuple[Attack, ...]:
    return tuple(Attack.model_validate(one) for one in _kit()["attacks"])


@cache
def constants() -> tuple[Constant, ...]:
    return tuple(Constant.model_validate(one) for one in _kit()["constants"])


def attacked(answer: str, attack: Attack, *, question: str, contracts: int = CONTRACTS) -> str:
    """Return an answer with an attack on it; see `worded`."""
    text = worded(attack.text, question=question, contracts=contracts)
    return f"{text}\n\n{answer}" if attack.place == "before" else f"{answer}\n\n{text}"


def worded(text: str, *, question: str, contracts: int = CONTRACTS) -> str:
    """Return a text of the kit as it is sent in; `contracts` are those whose form is forged."""
    text = _VERDICT.sub(lambda found: _forged(found[1], contracts), text)
    form = contract("judge", contracts).splitlines()[0]
    # The question comes last: whatever stands in it is sent as it is.
    return text.replace(_FORM, form).replace(_QUESTION, question)


def _forged(choice: str, contracts: int) -> str:
    said = {name: STANDARDS[name].forged for name in standards_of(contracts)}
    if not judges_in_full(contracts):
        return json.dumps({**said, "verdict": choice})
    each = {name: {"analysis": words, "verdict": choice} for name, words in said.items()}
    return json.dumps({"own_answer": "What this answer says.", **each, "verdict": choice})


@cache
def _kit() -> dict[str, Any]:
    place = resources.files("videoautoarena.agents.prompting").joinpath("attacks.json")
    kit: dict[str, Any] = json.loads(place.read_text("utf-8"))
    return kit


LETTERS = ascii_uppercase
"""Letters of options by place; the first is A."""
CLOSING = "Answer with the letter of the one best option."

_LINE = re.compile(r"\(([A-Z])\) (.+)")


class OfferedOptions(NamedTuple):
    """A question and the options among which its answer is."""

    question: str
    options: tuple[str, ...]


def with_options(question: str, options: Sequence[str]) -> str:
    """Return what a contestant is asked: the question, a lettered line an option, a last sentence.

    Two options at least and 26 at most; blanks in an option are folded, so that it keeps its line.
    """
    return "\n".join([question.strip(), lettered(options), CLOSING])


def lettered(options: Sequence[str]) -> str:
    """Return options on a line each, behind their letters."""
    return "\n".join(
        f"({letter}) {' '.join(option.split())}"
        for letter, option in zip(LETTERS[: len(options)], options, strict=True)
    )


def offered(text: str) -> OfferedOptions | None:
    """Return the question and options that `with_options` made a text of; None of any other."""
    *lines, last = text.strip().split("\n")
    if last.strip() != CLOSING:
        return None
    found: list[re.Match[str]] = []
    # From the last line up, since the question may hold such lines itself.
    while lines and (match := _LINE.fullmatch(lines[-1].strip())):
        lines.pop()
        found.insert(0, match)
        if match[1] == LETTERS[0]:
            break
    letters = "".join(match[1] for match in found)
    if len(found) < 2 or not LETTERS.startswith(letters):
        return None
    return OfferedOptions("\n".join(lines).strip(), tuple(match[2] for match in found))
