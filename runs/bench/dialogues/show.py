"""One dialogue in full: what is said, what each answer is held against, and what models replied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Published, Record
from videoautoarena.runs.bench.format.entries import Round, spoken
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import RoundLine, read_dialogues
from videoautoarena.runs.bench.format.schema import DIALOGUE, DialogueItem
from videoautoarena.runs.rundir.reader import counted
from videoautoarena.runs.text.battle_table import quoted
from videoautoarena.runs.text.terminal import safe

NAMED = 3
"""Dialogues that a message names, of those that may be meant."""


class Said(Record):
    """What one model replied, by one judge."""

    model: str
    judge: str
    history: str
    lines: tuple[RoundLine, ...]
    """One a scored round that it was asked."""


class ShownDialogue(Published):
    """A dialogue and the replies to it."""

    bench: str
    """Digest of the bench."""
    dialogue: DialogueItem
    """[Its line](#a-dialogue)."""
    results: tuple[Said, ...]
    """One a model and judge: `model`, `judge`, `history`, and those of its
    [`lines`](#a-result-on-dialogues) that are about the dialogue."""

    def as_lines(self) -> list[str]:
        """Return it as lines for a person, safe to print."""
        item = self.dialogue
        spans = "".join(f", {start:.1f}-{end:.1f} s" for start, end in item.spans)
        lines = [safe(f"{item.qid}: {spoken(item.ability)}, of {item.cluster}{spans}")]
        several = len({said.judge for said in self.results}) > 1
        for number, one in enumerate(item.rounds, 1):
            lines += ["", *_asked(one, number)]
            for said in self.results:
                name = f"{said.model} by {said.judge}" if several else said.model
                for line in said.lines:
                    lines += _replied(name, line, one) if line.round == number else ()
        return lines


def show_dialogue(bench: OpenBench[DialogueItem], qid: str) -> ShownDialogue:
    """Return the dialogue whose id begins so, with every reply; BadInput where there is not one."""
    if bench.manifest.kind != DIALOGUE:
        raise BadInput(
            f"{bench.folder} is a set of kind {bench.manifest.kind}; only dialogues are shown"
        )
    item = bench.by_qid.get(qid) or _only(bench, qid)
    return ShownDialogue(
        bench=bench.bench,
        dialogue=item,
        results=tuple(
            Said(
                model=one.model,
                judge=one.judge,
                history=one.history,
                lines=tuple(line for line in one.lines if line.qid == item.qid),
            )
            for one in read_dialogues(bench)
        ),
    )


def _only(bench: OpenBench[DialogueItem], qid: str) -> DialogueItem:
    found = [item for item in bench.items if item.qid.startswith(qid)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(safe(item.qid) for item in (found or bench.items)[:NAMED])
    if found:
        raise BadInput(f"{quoted(qid)} matches {counted(len(found), 'dialogue')}, such as {names}")
    raise BadInput(f"{bench.folder} has no dialogue {quoted(qid)}; there are {names} and others")


def _asked(one: Round, number: int) -> Iterator[str]:
    """Yield what is said in a round, and what its answer is held against."""
    back = "" if one.refers_to is None else f", goes back to round {one.refers_to}"
    yield f"round {number}{'' if one.is_scored else ', not scored'}{back}"
    yield from _text("user: ", one.user)
    yield from _text("reference: ", one.reference)
    for place, item in enumerate(one.checklist, 1):
        yield f"  {place}. {safe(' '.join(item.text.split()))} [{item.expected}]"


def _replied(name: str, line: RoundLine, one: Round) -> Iterator[str]:
    """Yield what a model replied to a scored round, and which items it missed."""
    came_to: str = line.end
    if line.answers:
        met = _met(line.answers, one)
        missed = ", ".join(str(place) for place, is_met in met.items() if not is_met)
        came_to = f"{sum(met.values())} of {len(met)}{f', missed {missed}' if missed else ''}"
    why = f" ({line.reason})" if line.reason else ""
    yield from _text(f"{name}, {came_to}{why}: ", line.response or "-")


def _met(answers: Sequence[str], one: Round) -> Mapping[int, bool]:
    pairs = zip(answers, one.checklist, strict=True)
    return {place: said == item.expected for place, (said, item) in enumerate(pairs, 1)}


def _text(head: str, text: str) -> Iterator[str]:
    first, *others = text.splitlines() or [""]
    yield f"  {safe(head + first)}"
    yield from (f"    {safe(other)}" for other in others)
