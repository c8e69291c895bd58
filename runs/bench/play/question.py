"""One question of a bench for one model: an answer, asked once, and its judging by both references.

The contestant and the judge are those of a run, with the same prompts, fences and journal. Nothing
is decided here that the journal does not tell again: to play a question twice costs nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.roles.answer import answer
from videoautoarena.agents.roles.judge import Case, Place, judge_once, plurality
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.digests import canonical_json, unit_interval
from videoautoarena.memory.records.errors import CallFailed, FramesLost, UnusableVideo
from videoautoarena.memory.records.records import Judging, Seats
from videoautoarena.runs.bench.format.results import REFERENCES, Against, Ruling, Vote
from videoautoarena.runs.bench.format.schema import Item, digest_of
from videoautoarena.runs.rundir.frames import RunFrames

Swap = float | Literal["all"]
NO_VIDEO = "no video"
"""How the reason begins of what is void since its video is lost."""
_OTHER: dict[Seats, Seats] = {"ab": "ba", "ba": "ab"}


@dataclass(frozen=True)
class Player:
    """Whose answers are judged."""

    name: str
    identity: str
    """Digest of what it is, whatever it is called."""
    model: Model | None = None
    """None where its answers were handed in."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Answers that were handed in, by qid."""


class Said(NamedTuple):
    """What a player answered; without an answer, why."""

    text: str | None
    reason: str | None = None
    is_ours: bool = False
    """It was never asked, so that it is not its fault."""


class Seating(NamedTuple):
    """One judging that a question asks for."""

    against: Against
    seats: Seats
    is_audit: bool
    """It changes no ruling; it tells whether the judge minds the seats."""


class Judged(NamedTuple):
    """What all judges said from one seating."""

    seating: Seating
    judgings: tuple[Judging, ...]
    """One a judge, in the order of the panel."""

    @property
    def verdict(self) -> Literal["win", "tie", "loss", "void"]:
        """What it means for the candidate, who stands for `b`; who cannot tell does not vote."""
        found = plurality([judging.verdict for judging in self.judgings])
        if found is None:
            return "void"
        return "win" if found == "b" else "loss" if found == "a" else "tie"


class Reasoned(Protocol):
    """A ruling that may say why it is as it is."""

    @property
    def reason(self) -> str | None:
        """Why it is void, or how it came to be."""


class Settled(Protocol):
    """What a question came to for one player, whatever the answer was held against."""

    @property
    def rulings(self) -> Sequence[Reasoned]:
        """Every judging of it."""

    @property
    def end(self) -> Literal["judged", "forfeit", "void"]:
        """How it ended."""


class Outcome(NamedTuple):
    """What a question came to for one player."""

    rulings: list[Ruling]
    audits: list[bool]
    """Of those judged from both seats as an audit, whether the judge said the same twice."""
    end: Literal["judged", "forfeit", "void"]


@dataclass(frozen=True)
class BenchGame:
    """Plays questions through a prompter."""

    prompter: Prompter
    judges: tuple[Model, ...]
    """Several are a panel, whose larger part decides."""
    run_frames: RunFrames
    films: Mapping[str, str]
    """Id of a video in the bench to that of the file that was found."""
    lost: Mapping[str, str]
    """Likewise to why there is none."""
    seed: int
    swap: Swap
    on_failed: Callable[[str], None] = lambda _scope: None
    """Hears the scope of every call that failed for good."""

    async def play(self, item: Item, player: Player) -> Outcome:
        """Return what a question came to: one call for the answer, one a judging of each judge.

        Raises:
            JournalMiss: the prompter only repeats what is known, and this is not.
        """
        said = await self.answer(item, player)
        if said.text is None:
            return _unanswered(item, said)
        seatings = list(seatings_of(item, seed=self.seed, swap=self.swap))
        works = (
            self.judging(item, player, said.text, seating, judge=judge)
            for seating in seatings
            for judge in self.judges
        )
        # Every call is waited for even if one raises: its sibling's reply is paid and is kept.
        done = await asyncio.gather(*works, return_exceptions=True)
        judgings = list[Judging]()
        for outcome in done:
            if isinstance(outcome, BaseException):
                raise outcome
            judgings.append(outcome)
        each = len(self.judges)
        judged = [
            Judged(seating, tuple(judgings[k * each : (k + 1) * each]))
            for k, seating in enumerate(seatings)
        ]
        return _settled(item, said.text, judged)

    async def answer(self, item: Item, player: Player) -> Said:
        """Return what a player answers; what was handed in is not asked for."""
        if (why := self.lost.get(item.video_id)) is not None:
            return Said(None, f"{NO_VIDEO}: {why}", is_ours=True)
        if player.model is None:
            told = player.given.get(item.qid, "")
            return Said(told) if told.strip() else Said(None, "no answer was handed in")
        scope = scope_of(item)
        try:
            frames = await self.run_frames.frames(self.films[item.video_id])
            said = await answer(
                self.prompter,
                player.model,
                frames=frames,
                question=item.question,
                slot=scope,
                seat=0,
            )
        except (CallFailed, UnusableVideo) as failure:
            if isinstance(failure, CallFailed):
                self.on_failed(scope)
            is_ours = not isinstance(failure, CallFailed) or isinstance(failure, FramesLost)
            return Said(None, f"no answer: {failure}", is_ours=is_ours)
        return Said(said.text)

    async def judging(
        self, item: Item, player: Player, text: str, seating: Seating, *, judge: Model
    ) -> Judging:
        """Return a judge's view, "failed" where its call failed; `a` is the reference.

        Its place in the panel is no part of what it is asked, so that other panels know it, too.
        """
        scope = f"{scope_of(item)}:{seating.against}:{player.identity[:12]}"
        is_selected = seating.against == "selected"
        case = Case(
            persona=item.persona,
            question=item.question,
            answer_a=item.selected_answer if is_selected else item.rejected_answer,
            answer_b=text,
        )
        try:
            found = await judge_once(
                self.prompter,
                judge,
                frames=await self.run_frames.frames(self.films[item.video_id]),
                case=case,
                place=Place(scope, 0, seating.seats),
            )
        except UnusableVideo as why:
            return Judging(
                judge=judge.alias, seats=seating.seats, verdict="failed", reason=str(why)
            )
        if found.verdict == "failed":
            self.on_failed(scope)
        return found


def seatings_of(item: Item, *, seed: int, swap: Swap) -> Iterator[Seating]:
    """Yield the judgings of a question; seats are the same for every player.

    What the judge's liking for a seat does to one player it does to all, so that differences
    between players hold less of it.
    """
    for against in REFERENCES:
        u = unit_interval(seed, "bench seats", item.qid, against)
        first: Seats = "ab" if u < 0.5 else "ba"
        yield Seating(against, first, is_audit=False)
        if swap == "all":
            yield Seating(against, _OTHER[first], is_audit=False)
        elif unit_interval(seed, "bench swap", item.qid, against) < swap:
            yield Seating(against, _OTHER[first], is_audit=True)


def scope_of(item: Item) -> str:
    """Return the scope of a question's answers; a qid may hold anything, a scope does not."""
    return f"bench-{digest_of(item.qid)[:16]}"


def _unanswered(item: Item, said: Said) -> Outcome:
    rulings = [
        Ruling(
            qid=item.qid,
            against=against,
            verdict="void" if said.is_ours else "loss",
            reason=said.reason,
        )
        for against in REFERENCES
    ]
    return Outcome(rulings, [], "void" if said.is_ours else "forfeit")


def _settled(item: Item, text: str, judged: Sequence[Judged]) -> Outcome:
    rulings = [_ruling(item, text, one) for one in judged if not one.seating.is_audit]
    said = {one.seating.against: one.verdict for one in judged if not one.seating.is_audit}
    audits = [
        one.verdict == said[one.seating.against]
        for one in judged
        if one.seating.is_audit and "void" not in (one.verdict, said[one.seating.against])
    ]
    is_void = any(ruling.verdict == "void" for ruling in rulings)
    return Outcome(rulings, audits, "void" if is_void else "judged")


def _ruling(item: Item, text: str, judged: Judged) -> Ruling:
    seating, judgings, verdict = judged.seating, judged.judgings, judged.verdict
    alone = len(judgings) == 1
    words = {one.judge: _words(one) for one in judgings if one.verdict != "failed"}
    told: object = next(iter(words.values()), None) if alone else {"judges": words}
    why = "; ".join(f"{one.judge}: {one.reason}" for one in judgings)
    return Ruling(
        qid=item.qid,
        against=seating.against,
        verdict=verdict,
        seats=seating.seats,
        response=text,
        words=canonical_json(told) if words else None,
        reason=None if verdict != "void" else judgings[0].reason if alone else why,
        votes=None if alone else [_vote(one) for one in judgings],
    )


def _words(judging: Judging) -> dict[str, object]:
    analyses = judging.analyses
    said = judging.model_dump(include={"own_answer", "standards"})
    return {"verdict": judging.verdict, **(analyses.model_dump() if analyses else {}), **said}


def _vote(judging: Judging) -> Vote:
    said = judging.verdict
    if said == "abstain" or said == "failed":
        return Vote(judge=judging.judge, verdict=said)
    return Vote(
        judge=judging.judge, verdict="win" if said == "b" else "loss" if said == "a" else "tie"
    )
