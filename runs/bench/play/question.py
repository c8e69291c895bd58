"""One question of a bench for one model: an answer, asked once, and its judging.

It is held against both references of the question, or against the answer of one model, the anchor.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Generic, Literal, NamedTuple, TypeVar, cast

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.roles.judge import (
    ComparerView,
    JudgeCase,
    JudgingPlace,
    compare_once,
    judge_once,
    plurality,
)
from videoautoarena.memory.records.digests import canonical_json, unit_interval
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.records.records import Judging, Seats, VideoFrames
from videoautoarena.runs.bench.format.points import DEGREES, LEADS
from videoautoarena.runs.bench.format.results import (
    ANCHOR,
    REFERENCES,
    Against,
    Comparison,
    Ruling,
    Vote,
)
from videoautoarena.runs.bench.format.schema import Item
from videoautoarena.runs.bench.play.cast import BenchCast, Player
from videoautoarena.runs.bench.play.game import Game, Outcome, Said, no_frames, scope_of
from videoautoarena.runs.run.rundir.context import all_done

_OTHER: dict[Seats, Seats] = {"ab": "ba", "ba": "ab"}
Found = TypeVar("Found", Judging, ComparerView)
"""What one judge says from one seating."""


class Answered(NamedTuple):
    """An answer that can be judged."""

    item: Item
    player: Player
    text: str
    other: str
    """The anchor's answer; empty if it is held against the references."""


class QuestionSeating(NamedTuple):
    """One judging that a question asks for."""

    against: Against | Literal["anchor"]
    seats: Seats
    is_audit: bool = False
    """Whether it changes no ruling, and only shows whether the judge minds the seats."""


@dataclass(frozen=True)
class JudgedGame(Game, Generic[Found]):
    """Plays questions whose answers are held against others."""

    _asking: dict[str, asyncio.Lock] = field(default_factory=dict, repr=False)

    @cached_property
    def judges(self) -> tuple[Model, ...]:
        """Several are a panel, whose larger part decides."""
        return tuple(map(self.cast.config.model_of, self.cast.config.judges))

    async def play(self, item: Item, player: Player) -> Outcome:
        """Return how a question ended: one call for an answer, one a judging of each judge."""
        held = await self.held(item)
        # Where the anchor has no answer the player is not asked: nobody would judge its own.
        said = held if held.text is None else await self.answer(item, player)
        if held.text is None or said.text is None:
            return self.unanswered(item, said)
        answered = Answered(item, player, said.text, held.text)
        seatings = list(seatings_of(self.cast, item))
        judges = self.judges
        works = (self.judging(answered, seating, judge) for seating in seatings for judge in judges)
        # Every call is waited for even if one raises: its sibling's reply is paid and is kept.
        views = iter(await all_done(works))
        return self.settled(
            answered, [(seating, list(islice(views, len(judges)))) for seating in seatings]
        )

    def asked(self, item: Item) -> str:
        """Return what contestants are asked."""
        return item.question

    async def held(self, item: Item) -> Said:
        """Return the anchor's answer, asked for once; empty if the bench's own references serve."""
        if (anchor := self.cast.anchor) is None:
            return Said("")
        # All players reach a question at once and want the same answer.
        async with self._asking.setdefault(item.qid, asyncio.Lock()):
            said = await self.answer(item, anchor)
        if said.text is not None or said.is_ours:
            return said
        return Said(None, f"the anchor has no answer: {said.reason}", is_ours=True)

    async def looked_at(self, item: Item, judge: Model) -> VideoFrames:
        """Return the frames that a judge is shown a part of; its video may not be at hand."""
        return await self.frames(item) if judge.frame_limit("judge") else no_frames(item)

    @abstractmethod
    async def judging(self, answered: Answered, seating: QuestionSeating, judge: Model) -> Found:
        """Return a judge's view from one seating; of a failed call, that it failed."""

    @abstractmethod
    def unanswered(self, item: Item, said: Said) -> Outcome:
        """Return how a question ends that cannot be judged."""

    @abstractmethod
    def settled(
        self, answered: Answered, found: Sequence[tuple[QuestionSeating, Sequence[Found]]]
    ) -> Outcome:
        """Return how a question ends by the judges' views of all seatings."""


class ReferenceGame(JudgedGame[Judging]):
    """Holds answers against both references of each question."""

    async def judging(self, answered: Answered, seating: QuestionSeating, judge: Model) -> Judging:
        """Return a judge's view, "failed" if its call failed; `a` is the reference.

        Its place in the panel is no part of what it is asked, so that other panels know it, too.
        """
        item = answered.item
        # By what the player is and not by its name: renaming it in arena.toml pays for nothing
        # again.
        scope = f"{scope_of(item)}:{seating.against}:{answered.player.identity[:12]}"
        reference = item.reference(seating.against)
        try:
            found = await judge_once(
                self.prompter,
                judge,
                frames=await self.looked_at(item, judge),
                case=_case(item, reference, answered.text),
                place=JudgingPlace(scope, 0, seating.seats),
            )
        except UnusableVideo as why:
            return Judging(
                judge=judge.alias, seats=seating.seats, verdict="failed", reason=str(why)
            )
        if found.verdict == "failed":
            self.on_failed(scope)
        return found

    def unanswered(self, item: Item, said: Said) -> Outcome:
        """Return two losses, or two voids where nobody was asked."""
        verdict: Literal["void", "loss"] = "void" if said.is_ours else "loss"
        rulings = [
            Ruling(qid=item.qid, against=against, verdict=verdict, reason=said.reason)
            for against in REFERENCES
        ]
        return Outcome(rulings, [], "void" if said.is_ours else "forfeit", said.reason)

    def settled(
        self, answered: Answered, found: Sequence[tuple[QuestionSeating, Sequence[Judging]]]
    ) -> Outcome:
        """Return a ruling a seating that is no audit."""
        rulings = [_ruling(answered, *one) for one in found if not one[0].is_audit]
        said = {ruling.against: ruling.verdict for ruling in rulings}
        audits = [
            (verdict_of(judgings), said[cast("Against", seating.against)])
            for seating, judgings in found
            if seating.is_audit
        ]
        is_void = any(ruling.verdict == "void" for ruling in rulings)
        same = [one == other for one, other in audits if "void" not in (one, other)]
        return Outcome(rulings, same, "void" if is_void else "judged", _why(rulings))


class AnchorGame(JudgedGame[ComparerView]):
    """Holds answers against those of an anchor, which is asked once, whoever is held against it."""

    async def judging(
        self, answered: Answered, seating: QuestionSeating, judge: Model
    ) -> ComparerView:
        """Return by how much the player's answer is better, from one seating."""
        item = answered.item
        player = answered.player
        anchor = self.cast.anchor
        if anchor is None:
            raise RuntimeError("a bench was to be played against an anchor without one")
        scope = f"{scope_of(item)}:anchor:{anchor.identity[:12]}:{player.identity[:12]}"
        try:
            found = await compare_once(
                self.prompter,
                judge,
                frames=await self.looked_at(item, judge),
                case=_case(item, answered.other, answered.text),
                place=JudgingPlace(scope, 0, seating.seats),
            )
        except UnusableVideo as why:
            return ComparerView(None, None, str(why))
        if found.is_failed:
            self.on_failed(scope)
        return found

    def unanswered(self, item: Item, said: Said) -> Outcome:
        """Return that it is much worse, or void where nobody was asked."""
        verdict: Literal["void", "much_worse"] = "void" if said.is_ours else "much_worse"
        ruling = Comparison(qid=item.qid, verdict=verdict, reason=said.reason)
        return Outcome([ruling], [], "void" if said.is_ours else "forfeit", said.reason)

    def settled(
        self, answered: Answered, found: Sequence[tuple[QuestionSeating, Sequence[ComparerView]]]
    ) -> Outcome:
        """Return a ruling a seating."""
        rulings = [_comparison(answered, seating, one) for seating, (one,) in found]
        if any(ruling.verdict == "void" for ruling in rulings):
            return Outcome(rulings, [], "void", _why(rulings))
        leads = [LEADS[ruling.verdict] for ruling in rulings]
        # The same winner is enough: by how far it won may differ between the seatings.
        same = len({(lead > 0) - (lead < 0) for lead in leads}) == 1
        return Outcome(rulings, [same], "judged")


def _case(item: Item, reference: str, answer: str) -> JudgeCase:
    return JudgeCase(item.persona, item.question, reference, answer, language=item.language)


def _why(rulings: Sequence[Ruling | Comparison]) -> str | None:
    return next((ruling.reason for ruling in rulings if ruling.reason), None)


def seatings_of(cast: BenchCast, item: Item) -> Iterator[QuestionSeating]:
    """Yield the judgings of a question; seats are the same for every player.

    What the judge's liking for a seat does to one player it does to all, so that differences
    between players hold less of it.
    """
    if cast.anchor is not None:
        yield from (QuestionSeating(ANCHOR, "ab"), QuestionSeating(ANCHOR, "ba"))
        return
    seed = cast.config.seed
    swap = cast.config.swap
    for against in REFERENCES:
        u = unit_interval(seed, "bench seats", item.qid, against)
        first: Seats = "ab" if u < 0.5 else "ba"
        yield QuestionSeating(against, first)
        if swap == "all":
            yield QuestionSeating(against, _OTHER[first])
        elif unit_interval(seed, "bench swap", item.qid, against) < swap:
            yield QuestionSeating(against, _OTHER[first], is_audit=True)


def verdict_of(judgings: Sequence[Judging]) -> Literal["win", "tie", "loss", "void"]:
    """Return what a panel says of the candidate, who stands for `b`; an abstention is no vote."""
    found = plurality([judging.verdict for judging in judgings])
    return "void" if found is None else _for_candidate(found)


def _ruling(answered: Answered, seating: QuestionSeating, judgings: Sequence[Judging]) -> Ruling:
    verdict = verdict_of(judgings)
    alone = len(judgings) == 1
    words = {
        one.judge: {
            "verdict": one.verdict,
            **(one.analyses or {}),
            **one.model_dump(include={"own_answer", "standards"}),
        }
        for one in judgings
        if one.verdict != "failed"
    }
    said: object = next(iter(words.values()), None) if alone else {"judges": words}
    why = "; ".join(f"{one.judge}: {one.reason}" for one in judgings)
    return Ruling(
        qid=answered.item.qid,
        against=cast("Against", seating.against),
        verdict=verdict,
        seats=seating.seats,
        response=answered.text,
        words=canonical_json(said) if words else None,
        reason=None if verdict != "void" else judgings[0].reason if alone else why,
        votes=None
        if alone
        else [
            Vote(judge=one.judge, verdict=one.verdict)
            if one.verdict in ("abstain", "failed")
            else Vote(judge=one.judge, verdict=_for_candidate(one.verdict))
            for one in judgings
        ],
    )


def _for_candidate(verdict: str) -> Literal["win", "tie", "loss"]:
    """Return a verdict in terms of the candidate, who stands for `b`."""
    # Ties of both kinds are one here, and so is `split`, two equal camps of a panel.
    return "win" if verdict == "b" else "loss" if verdict == "a" else "tie"


def _comparison(answered: Answered, seating: QuestionSeating, found: ComparerView) -> Comparison:
    return Comparison(
        qid=answered.item.qid,
        verdict="void" if found.lead is None else DEGREES[found.lead],
        seats=seating.seats,
        response=answered.text,
        anchor_response=answered.other,
        words=canonical_json(found.reply.model_dump()) if found.reply else None,
        reason=found.reason,
    )
