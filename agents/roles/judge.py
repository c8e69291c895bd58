"""The judges: two anonymous answers on four standards, or which is how much better; panels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import (
    ComparerReply,
    comparer_reply,
    judge_reply,
    judges_in_full,
)
from videoautoarena.agents.prompting.languages import language_note
from videoautoarena.agents.roles.prompter import Prompter, Task, all_done
from videoautoarena.memory.records.errors import CallFailed
from videoautoarena.memory.records.records import (
    TIES,
    Choice,
    Judging,
    Seats,
    Verdict,
    VideoFrames,
)
from videoautoarena.memory.records.standards import Standard

_CHOICES: dict[tuple[str, Seats], Literal["a", "b"]] = {
    ("A", "ab"): "a",
    ("B", "ab"): "b",
    ("A", "ba"): "b",
    ("B", "ba"): "a",
}


UNDECIDED = "the judge could not tell"


@dataclass(frozen=True, slots=True)
class JudgeCase:
    """What a judge is shown, and whether from both seatings."""

    persona: str
    question: str
    answer_a: str
    answer_b: str
    swap: bool = False
    """Judge a second time with the answers in each other's place."""
    language: str | None = None
    """What was asked in, as a code; None if nobody drew one."""

    @property
    def note(self) -> str:
        """What a judge is told about the language; empty if none was drawn."""
        if self.language is None:
            return ""
        return language_note(self.language, "The user asks in it and expects the answer in it.")

    def texts(self, seats: Seats = "ab") -> dict[str, str]:
        """Return the fenced texts of this case, answers in the order of `seats`."""
        answers = (self.answer_a, self.answer_b)[:: 1 if seats == "ab" else -1]
        asked = {"persona": self.persona, "question": self.question}
        return asked | dict(zip(("answer_a", "answer_b"), answers, strict=True))


class JudgingPlace(NamedTuple):
    """Where one judging stands."""

    scope: str
    """The slot's id; a trial has one of its own."""
    panel: int
    """Which of the judges it is, from 0."""
    seats: Seats


async def judge(
    prompter: Prompter, judges: Sequence[Model], *, frames: VideoFrames, case: JudgeCase, slot: str
) -> tuple[Judging, ...]:
    """Return every judge's view: from seats ab, then from ba where the case is swapped.

    One model call per judge and seating, all at the same time; a call that fails becomes a
    judging with verdict "failed" and its reason.

    Source: VideoAutoArena, Automatic Judging (A.3); the second seating is our own.
    """
    seatings: tuple[Seats, ...] = ("ab", "ba") if case.swap else ("ab",)
    judgings = [
        judge_once(
            prompter, model, frames=frames, case=case, place=JudgingPlace(slot, panel, seats)
        )
        for panel, model in enumerate(judges)
        for seats in seatings
    ]
    # Every call is waited for even if one raises: its sibling's reply is paid and must be kept.
    return tuple(await all_done(judgings))


async def judge_once(
    prompter: Prompter, model: Model, *, frames: VideoFrames, case: JudgeCase, place: JudgingPlace
) -> Judging:
    """Return one judge's view from one seating, "failed" where its call did. 1 or 2 model calls."""
    # Each judge and seating asks for itself, so that no two calls share a key.
    ask = 2 * place.panel + (place.seats == "ba")
    texts = case.texts(place.seats)
    task = Task("judge", frames, scope=place.scope, ask=ask, texts=texts, note=case.note)
    try:
        number = prompter.prompts.contracts
        reply = await prompter.ask_json(model, task, judge_reply(number))
    except CallFailed as failure:
        # A record, and never a tie: the other judges of the panel still decide.
        return Judging(judge=model.alias, seats=place.seats, verdict="failed", reason=str(failure))
    verdict = reply.verdict
    analyses: dict[Standard, str] = {}
    decided: dict[Standard, Choice] = {}
    for name, said in reply.by_standard().items():
        if isinstance(said, str):
            analyses[name] = said
            continue
        analyses[name] = said.analysis
        if said.verdict != "abstain":
            tied = said.verdict == "tie"
            decided[name] = "tie" if tied else _CHOICES[said.verdict, place.seats]
    in_full = judges_in_full(number)
    return Judging(
        judge=model.alias,
        seats=place.seats,
        verdict=_CHOICES[verdict, place.seats] if verdict == "A" or verdict == "B" else verdict,
        own_answer=reply.own_answer if in_full else None,
        analyses=analyses,
        standards=decided if in_full else None,
        reason=UNDECIDED if verdict == "abstain" else None,
    )


def settle_standard(
    judgings: Sequence[Judging], standard: Standard, *, audit_only: bool
) -> Verdict | None:
    """Return the panel's verdict by one standard, like `settle_verdict`; None: nobody asked.

    A judge that was asked and left it open gave its words on it, so that it abstains.
    """
    said = [
        one.model_copy(update={"verdict": one.standards.get(standard, "abstain")})
        for one in judgings
        if one.standards is not None and (one.analyses is None or standard in one.analyses)
    ]
    return settle_verdict(said, audit_only=audit_only)[0] if said else None


def first_analyses(judgings: Sequence[Judging]) -> dict[Standard, str] | None:
    """Return the first analyses that call the answers what the battle calls them, if any are."""
    return next((j.analyses for j in judgings if j.analyses and j.seats == "ab"), None)


def settle_verdict(judgings: Sequence[Judging], *, audit_only: bool) -> tuple[Verdict, str | None]:
    """Return the panel's verdict, and why when it is void.

    The plurality of the judgings from seats ab decides; without one, it is "split". Judges that
    abstained or failed do not vote. Unless the second seating is an audit only, it decides too:
    where both seatings have a verdict and they differ, it is "split". Ties of both kinds are one
    camp; it keeps its kind where its voters agree.
    """
    front = plurality([j.verdict for j in judgings if j.seats == "ab"])
    back = None if audit_only else plurality([j.verdict for j in judgings if j.seats == "ba"])
    if front is None and back is None:
        reasons = "; ".join(f"{j.judge} ({j.seats}): {j.reason}" for j in judgings)
        return "void", f"no judge decided: {reasons}" if reasons else "no judge was asked"
    if front is None or back is None or front == back:
        return front or back or "void", None
    return "tie" if {front, back} <= TIES - {"split"} else "split", None


def plurality(verdicts: Sequence[str]) -> Verdict | None:
    """Return what most voters chose, "split" if two camps are equally large, None without voters.

    Who abstained or failed does not vote. Ties of both kinds are one camp.
    """
    votes = [v for v in verdicts if v not in ("abstain", "failed")]
    camps = Counter("tie" if v in TIES else v for v in votes)
    if not camps:
        return None
    (winner, most), *rest = camps.most_common(2)
    if rest and rest[0][1] == most:
        return "split"
    if winner != "tie":
        return "a" if winner == "a" else "b"
    kinds = {v for v in votes if v in TIES}
    if kinds == {"tie_good"}:
        return "tie_good"
    return "tie_bad" if kinds == {"tie_bad"} else "tie"


LEADS = {"A>>B": -2, "A>B": -1, "A=B": 0, "B>A": 1, "B>>A": 2}
"""How far the answer that is read second leads, by degree."""


class ComparerView(NamedTuple):
    """The outcome of one comparison."""

    lead: int | None
    """How far the second answer leads, -2 to 2, wherever it sat; None if nothing was said."""
    reply: ComparerReply | None
    reason: str | None = None
    is_failed: bool = False
    """The call failed for good, so that it may be made again."""


async def compare_once(
    prompter: Prompter, model: Model, *, frames: VideoFrames, case: JudgeCase, place: JudgingPlace
) -> ComparerView:
    """Return by how much one answer is better, read from one seating. One or two model calls.

    Source: VisionArena and arena-hard for the five degrees and the answer of one's own.
    """
    ask = 2 * place.panel + (place.seats == "ba")
    texts = case.texts(place.seats)
    task = Task("comparer", frames, scope=place.scope, ask=ask, texts=texts, note=case.note)
    try:
        schema = comparer_reply(prompter.prompts.contracts)
        reply = await prompter.ask_json(model, task, schema)
    except CallFailed as failure:
        return ComparerView(None, None, str(failure), is_failed=True)
    lead = LEADS.get(reply.verdict)
    if lead is None:
        return ComparerView(None, reply, UNDECIDED)
    return ComparerView(lead if place.seats == "ab" else -lead, reply)
