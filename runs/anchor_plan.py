"""What it takes to hold models against an anchor, and what of it is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from memory.errors import JournalMiss
from runs.anchor_game import SEATINGS, AnchorGame
from runs.bench_cast import BenchCast
from runs.bench_films import BenchFilms
from runs.bench_game import Player, Said
from runs.bench_plan import Left
from runs.notice import REPAIR
from runs.sealing import Item


async def look_ahead_anchored(
    game: AnchorGame | None, cast: BenchCast, items: Sequence[Item], films: BenchFilms
) -> Left:
    """Return what is left to be called; the anchor's answer counts once a question.

    Args:
        game: repeats what is known, and nothing else; None where nothing was ever played.
        cast: who plays, and against whom.
        items: what is asked.
        films: where the videos are.
    """
    left = Left()
    for item in items:
        if item.video_id in films.lost:
            left.known += len(cast.players)
            continue
        is_seen = game is not None and game.game.footage.has(films.videos[item.video_id].id)
        seen = game if is_seen else None
        held, calls = await _anchor(seen, cast, item)
        for player in cast.players:
            mine = await _unknown(seen, cast, item, player, held)
            left.known += not mine and held is not None
            calls += mine
        left.calls += calls
        left.videos |= {item.video_id} if calls else set()
    return left


async def _anchor(
    game: AnchorGame | None, cast: BenchCast, item: Item
) -> tuple[Said | None, Counter[str]]:
    """Return what the anchor is known to answer, or the call that it takes."""
    anchor = cast.anchor
    if anchor is None:
        raise RuntimeError("a plan against an anchor was made without one")
    if game is not None:
        with suppress(JournalMiss):
            return await game.anchor_answer(item), Counter()
    return None, Counter({anchor.name: 1} if anchor.model is not None else {})


async def _unknown(
    game: AnchorGame | None, cast: BenchCast, item: Item, player: Player, held: Said | None
) -> Counter[str]:
    """Return the calls of one question for one player that a repetition lacks."""
    if held is not None and held.text is None:
        return Counter()
    both = REPAIR * len(SEATINGS)
    calls = Counter({cast.judge: both})
    said = None
    if game is not None:
        with suppress(JournalMiss):
            said = await game.game.answer(item, player)
    if said is None:
        calls[player.name] += player.model is not None
        return calls
    if said.text is None:
        return Counter()
    if game is None or held is None:
        return calls
    calls = Counter[str]()
    for seats in SEATINGS:
        try:
            await game.compared(item, player, seats, said, held)
        except JournalMiss:
            calls[cast.judge] += REPAIR
    return calls
