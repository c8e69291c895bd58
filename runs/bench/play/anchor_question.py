"""One question of a bench for one model against an anchor: two answers, read from both seats.

The anchor's answer is asked for once, whoever is held against it. As in
`runs.bench.play.question`, nothing is decided here that the journal does not tell again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.judge import Case, Compared, Place, compare_once
from videoautoarena.memory.records.digests import canonical_json
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.records.records import Seats
from videoautoarena.runs.bench.format.anchor_results import DEGREES, LEADS, Anchored, Comparison
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.schema import Item
from videoautoarena.runs.bench.play.cast import BenchCast
from videoautoarena.runs.bench.play.question import BenchGame, Player, Said, scope_of
from videoautoarena.runs.bench.play.tally import asked_of

SEATINGS: tuple[Seats, Seats] = ("ab", "ba")


class AnchorOutcome(NamedTuple):
    """What a question came to for one player."""

    rulings: list[Comparison]
    end: Literal["judged", "forfeit", "void"]


@dataclass(frozen=True)
class AnchorGame:
    """Plays questions against an anchor."""

    game: BenchGame
    """Has the prompter, the judge and the videos."""
    anchor: Player
    _asking: dict[str, asyncio.Lock] = field(default_factory=dict, repr=False)

    async def play(self, item: Item, player: Player) -> AnchorOutcome:
        """Return what a question came to: one call for each answer, two to compare them.

        Raises:
            JournalMiss: the prompter only repeats what is known, and this is not.
        """
        held = await self.anchor_answer(item)
        if held.text is None:
            why = held.reason if held.is_ours else f"the anchor has no answer: {held.reason}"
            return _unread(item, "void", why)
        said = await self.game.answer(item, player)
        if said.text is None:
            return _unread(item, "void" if said.is_ours else "much_worse", said.reason)
        works = (self.compared(item, player, seats, said, held) for seats in SEATINGS)
        # Every call is waited for even if one raises: its sibling's reply is paid and is kept.
        done = await asyncio.gather(*works, return_exceptions=True)
        rulings = []
        for seats, outcome in zip(SEATINGS, done, strict=True):
            if isinstance(outcome, BaseException):
                raise outcome
            rulings.append(_ruling(item, seats, outcome, texts=(said.text, held.text)))
        is_void = any(ruling.verdict == "void" for ruling in rulings)
        return AnchorOutcome(rulings, "void" if is_void else "judged")

    async def anchor_answer(self, item: Item) -> Said:
        """Return what the anchor answers; of all who want it one asks."""
        async with self._asking.setdefault(item.qid, asyncio.Lock()):
            return await self.game.answer(item, self.anchor)

    async def compared(
        self, item: Item, player: Player, seats: Seats, said: Said, held: Said
    ) -> Compared:
        """Return by how much the player's answer is better, from one seating."""
        game = self.game
        scope = f"{scope_of(item)}:anchor:{self.anchor.identity[:12]}:{player.identity[:12]}"
        case = Case(item.persona, item.question, held.text or "", said.text or "")
        try:
            found = await compare_once(
                game.prompter,
                game.judges[0],
                frames=await game.run_frames.frames(game.films[item.video_id]),
                case=case,
                place=Place(scope, 0, seats),
            )
        except UnusableVideo as why:
            return Compared(None, None, str(why))
        if found.is_failed:
            game.on_failed(scope)
        return found


def _unread(
    item: Item, verdict: Literal["void", "much_worse"], reason: str | None
) -> AnchorOutcome:
    ruling = Comparison(qid=item.qid, verdict=verdict, reason=reason)
    return AnchorOutcome([ruling], "void" if verdict == "void" else "forfeit")


def _ruling(item: Item, seats: Seats, found: Compared, *, texts: tuple[str, str]) -> Comparison:
    return Comparison(
        qid=item.qid,
        verdict="void" if found.lead is None else DEGREES[found.lead],
        seats=seats,
        response=texts[0],
        anchor_response=texts[1],
        words=canonical_json(found.reply.model_dump()) if found.reply else None,
        reason=found.reason,
    )


def anchored_of(
    bench: OpenBench,
    cast: BenchCast,
    items: Sequence[Item],
    outcomes: Mapping[tuple[str, str], AnchorOutcome],
    *,
    prompts: PromptSet,
) -> list[Anchored]:
    """Return the result of each player, its comparisons in the order of the bench."""
    ordered = asked_of(bench, items)
    return [
        _result(bench, cast, player, [outcomes[player.name, qid] for qid in ordered], prompts)
        for player in cast.players
    ]


def _result(
    bench: OpenBench,
    cast: BenchCast,
    player: Player,
    outcomes: Sequence[AnchorOutcome],
    prompts: PromptSet,
) -> Anchored:
    if cast.anchor is None:
        raise RuntimeError("a result against an anchor was made without one")
    ends = Counter(outcome.end for outcome in outcomes)
    anchor = cast.anchor.model
    read = [one.rulings for one in outcomes if one.end == "judged"]
    return Anchored(
        bench=bench.bench,
        model=player.name,
        judge=cast.judge,
        anchor=cast.anchor.name,
        how="run",
        comparisons=[ruling for outcome in outcomes for ruling in outcome.rulings],
        facts={
            "model": player.model.resolved if player.model else None,
            "anchor": anchor.resolved if anchor else None,
            "max_frames": player.model.frame_limit("contestant") if player.model else None,
            "judge": cast.config.model_of(cast.judge).resolved,
            "prompts": {role: prompts.digests[role] for role in ("contestant", "comparer")},
            "contracts": prompts.contracts,
            "seed": cast.config.seed,
            "questions": len(outcomes),
            "forfeits": ends["forfeit"],
            "voids": ends["void"],
            "same_from_both_seats": sum(_agree(rulings) for rulings in read),
        },
    )


def _agree(rulings: Sequence[Comparison]) -> bool:
    """Return whether both seatings found the same answer better, or neither."""
    signs = {(lead > 0) - (lead < 0) for lead in (LEADS[ruling.verdict] for ruling in rulings)}
    return len(signs) == 1
