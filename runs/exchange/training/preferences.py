"""Battles with a winner as pairs of a chosen and a rejected answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from videoautoarena.agents.roles.judge import plurality
from videoautoarena.memory.records.records import TIES, Battle
from videoautoarena.runs.bench.freeze.items import Choice, choose, votes_of
from videoautoarena.runs.exchange.training.rows import Preference, Ruled
from videoautoarena.runs.exchange.training.sources import Sources, there
from videoautoarena.runs.run.rundir.reader import Run

TIE = "tie"
SPLIT = "split"
VOID = "void"
FORFEIT = "forfeit"
FAILED = "failed judging"
PEOPLE = "people saw no winner"
SAME = "both answers are the same"
LEFT_OUT = (TIE, SPLIT, VOID, FORFEIT, FAILED, PEOPLE, SAME)
"""Why a battle gives no pair, in the order in which that is shown."""


def preferences(run: Run, sources: Sources, left_out: Counter[str]) -> Iterator[Preference]:
    """Yield a pair of each battle that counts and has a winner, in slot order.

    Judges must have decided it for one of the two; where people labelled it, most of them choose,
    and where they see no winner there is no pair.

    Args:
        run: whose battles.
        sources: what is known of videos and questions.
        left_out: counts what gives no pair, by the reason; complete at the end.
    """
    votes = votes_of(run.store.evidence.labels())
    for battle in run.battles:
        choice = choose(battle, votes.get(battle.id))
        why = why_no_pair(battle, choice)
        if why is None:
            won, lost = ("a", "b") if choice.seat == "a" else ("b", "a")
            yield Preference(
                **sources.about(battle),
                battle=battle.id,
                round=battle.round,
                origin=there(battle, "origin"),
                prompt=there(battle, "question"),
                categories=sources.categories_of(battle),
                chosen=there(battle, f"answer_{won}"),
                rejected=there(battle, f"answer_{lost}"),
                chosen_model=there(battle, f"model_{won}"),
                rejected_model=there(battle, f"model_{lost}"),
                chosen_frames=sources.sent(battle.video, getattr(battle, f"frames_{won}")),
                rejected_frames=sources.sent(battle.video, getattr(battle, f"frames_{lost}")),
                verdict="a" if battle.verdict == "a" else "b",
                chosen_seat="a" if won == "a" else "b",
                chosen_by=choice.by,
                seats_agree=seats_agree(battle),
                judgings=tuple(
                    Ruled(judge=one.judge, seats=one.seats, verdict=one.verdict)
                    for one in battle.verdicts
                ),
            )
        else:
            left_out[why] += 1


def why_no_pair(battle: Battle, choice: Choice) -> str | None:
    """Return which of LEFT_OUT holds of a battle; None where it gives a pair."""
    failed = [one.verdict in ("abstain", "failed") for one in battle.verdicts]
    if battle.verdict == "void":
        return FAILED if failed and all(failed) else VOID
    if battle.verdict in ("forfeit_a", "forfeit_b"):
        return FORFEIT
    if battle.verdict in TIES:
        return SPLIT if battle.verdict == "split" else TIE
    if failed and all(failed):
        return FAILED
    if choice.seat is None:
        return PEOPLE
    is_same = (battle.answer_a or "").split() == (battle.answer_b or "").split()
    return SAME if is_same else None


def seats_agree(battle: Battle) -> bool | None:
    """Return whether both seatings of a battle came to one verdict; None without two of them.

    That of a seating is what most of its judges chose; both kinds of tie are one.
    """
    front, back = (
        plurality([one.verdict for one in battle.verdicts if one.seats == seats])
        for seats in ("ab", "ba")
    )
    if front is None or back is None:
        return None
    return front == back or {front, back} <= TIES - {"split"}
