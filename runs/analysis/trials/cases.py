"""Makes cases from a run's own battles: repeated, attacked, against empty words, or as they are.

Which battles are taken follows from the run's seed and their ids alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Literal, NamedTuple

from videoautoarena.agents.prompting.fences import attacked, attacks, constants, worded
from videoautoarena.agents.roles.judge import JudgeCase
from videoautoarena.memory.records.digests import derive
from videoautoarena.memory.records.records import DECIDED, Battle, Seats
from videoautoarena.memory.store.evidence import TrialKind
from videoautoarena.runs.analysis.trials.trial import Material, TrialCase
from videoautoarena.runs.run.rundir.reader import contracts_of

Side = Literal["a", "b"]
_OTHER: dict[str, Side] = {"a": "b", "b": "a"}


class RepeatedJudging(NamedTuple):
    """One text of the kit, one battle, one seating."""

    text: int
    battle: int
    seats: Seats


class Change(NamedTuple):
    """What one side of a battle says in place of its answer."""

    kind: TrialKind
    name: str
    side: Side
    said: str


async def repeat_cases(material: Material) -> list[TrialCase]:
    """Return decided battles to judge again from seats ab, twice by judges that are new to them."""
    chosen = choose(material, "repeat", is_complete)
    own = material.run.manifest["judges"]
    strangers = tuple(model.alias for model in material.judges if model.alias not in own)
    again = [await plain_case(material, battle, seats="ab") for battle in chosen]
    if not strangers:
        return again
    # A judge that is new to the run has no first word to repeat, so it gives both here.
    return again + [
        await plain_case(material, battle, seats="ab", time=2, only=strangers) for battle in chosen
    ]


async def attack_cases(material: Material) -> list[TrialCase]:
    """Return clearly lost answers with an attack added to each, and the same battles without.

    Attacks are dealt in turn, and so are the seats of the attacker.
    """
    kit = attacks()
    battles = choose(material, "attack", has_clear_loser, most=None)
    number = contracts_of(material.run.manifest)
    cases: list[TrialCase] = []
    plain: dict[tuple[str, Seats], Battle] = {}
    for meeting in meetings(len(kit), battles=len(battles), count=material.count):
        battle = battles[meeting.battle]
        attack = kit[meeting.text]
        side = _OTHER[battle.verdict]
        seats = _seated(side, is_first=meeting.seats == "ab")
        lost = (battle.answer_a if side == "a" else battle.answer_b) or ""
        said = attacked(lost, attack, question=battle.question or "", contracts=number)
        # One control serves every attack on this battle from these seats.
        plain[battle.id, seats] = battle
        change = Change("attack", attack.name, side, said)
        cases.append(await _changed_case(material, battle, change, seats=seats))
    controls = [await plain_case(material, b, seats=seats) for (_, seats), b in plain.items()]
    return cases + controls


async def constant_cases(material: Material) -> list[TrialCase]:
    """Return answers that were found good, each against a constant answer."""
    kit = constants()
    battles = choose(
        material,
        "constant",
        lambda one: has_clear_loser(one) or (is_complete(one) and one.verdict == "tie_good"),
        most=None,
    )
    number = contracts_of(material.run.manifest)
    cases = []
    for meeting in meetings(len(kit), battles=len(battles), count=material.count):
        battle = battles[meeting.battle]
        constant = kit[meeting.text]
        # In a good tie either answer is a good one, and b gives way.
        side = _OTHER.get(battle.verdict, "b")
        said = worded(constant.text, question=battle.question or "", contracts=number)
        seats = _seated(side, is_first=meeting.seats == "ab")
        change = Change("constant", constant.name, side, said)
        cases.append(await _changed_case(material, battle, change, seats=seats))
    return cases


async def rejudge_cases(material: Material) -> list[TrialCase]:
    """Return answered battles, with or without verdict, from the seatings they had."""
    return [
        await _standing(
            material,
            battle,
            battle.id,
            kind="rejudge",
            seats=tuple(sorted({judging.seats for judging in battle.verdicts})),
        )
        for battle in choose(material, "rejudge", lambda one: bool(one.verdicts) and has_texts(one))
    ]


async def _standing(
    material: Material, battle: Battle, id_: str, *, kind: TrialKind, seats: tuple[Seats, ...]
) -> TrialCase:
    """Return a battle as it stands."""
    return TrialCase(
        id=id_,
        kind=kind,
        name="",
        video=battle.video,
        frames=await material.run_frames.frames(battle.video),
        case=JudgeCase(
            persona=battle.persona_text or "",
            question=battle.question or "",
            answer_a=battle.answer_a or "",
            answer_b=battle.answer_b or "",
            language=battle.language,
        ),
        battle=battle.id,
        seats=seats,
    )


def choose(
    material: Material,
    kind: TrialKind,
    is_fit: Callable[[Battle], bool],
    *,
    most: int | None = -1,
) -> list[Battle]:
    """Return fit battles in seeded order; `most` is None for all, -1 for as many as asked."""
    seed = material.config.seed
    run = material.run
    fit = [battle.id for battle in run.battles if is_fit(battle)]
    # By a digest of the id, so that a larger count holds the smaller one and pays only for what is
    # new.
    fit.sort(key=lambda battle: derive(seed, "trial", kind, battle))
    most = material.count if most == -1 else most
    # Only ids were held of all that fit; these alone are read again.
    found = (run.store.battle(battle) for battle in fit[:most])
    return [battle for battle in found if battle is not None]


def meetings(texts: int, *, battles: int, count: int | None) -> Iterator[RepeatedJudging]:
    """Deal texts over battles, no pair twice, seats in turn; no `count`: until all had one."""
    round_trip = math.lcm(texts, battles) or 1
    dealt = (
        # Within a round trip no pair comes twice; after it everybody moves on by one battle.
        RepeatedJudging(
            n % texts,
            (n + n // round_trip) % battles,
            # By both counts: by n alone an even number of texts would keep each in one seat.
            "ba" if (n // texts + n % texts) % 2 else "ab",
        )
        for n in range(texts * battles)
    )
    return islice(dealt, max(texts, battles) if count is None else count)


async def plain_case(
    material: Material, battle: Battle, *, seats: Seats, time: int = 1, only: tuple[str, ...] = ()
) -> TrialCase:
    """Return a battle as it stands, to be judged for the `time`-th time."""
    id_ = f"{battle.id}+{time}"
    case = await _standing(material, battle, id_, kind="repeat", seats=(seats,))
    return replace(case, only=only)


async def _changed_case(
    material: Material, battle: Battle, change: Change, *, seats: Seats
) -> TrialCase:
    """Return a battle in which one side says something else."""
    id_ = f"{change.name}:{battle.id}"
    found = await _standing(material, battle, id_, kind=change.kind, seats=(seats,))
    case = (
        replace(found.case, answer_a=change.said)
        if change.side == "a"
        else replace(found.case, answer_b=change.said)
    )
    return replace(found, name=change.name, case=case, right=change.side)


def _seated(side: Side, *, is_first: bool) -> Seats:
    """Return the seating in which a side is read first, or second."""
    return "ab" if (side == "a") == is_first else "ba"


def is_complete(battle: Battle) -> bool:
    """Return whether there are two answers and a verdict on them."""
    return battle.verdict in DECIDED and has_texts(battle)


def has_texts(battle: Battle) -> bool:
    """Return whether a battle has every text that a judge is shown."""
    return all((battle.persona_text, battle.question, battle.answer_a, battle.answer_b))


def has_clear_loser(battle: Battle) -> bool:
    """Return whether every judging with a verdict named the same winner."""
    said = {j.verdict for j in battle.verdicts if j.verdict not in ("abstain", "failed")}
    return is_complete(battle) and battle.verdict in ("a", "b") and said == {battle.verdict}
