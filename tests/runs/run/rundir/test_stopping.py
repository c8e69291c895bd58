"""A rule stops a run at whole waves, says why, and promises no more than it may."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.runs.run.rundir.test_slots import VIDEOS
from videoautoarena.memory.records.errors import BadInput, StoreError
from videoautoarena.memory.records.records import Slot
from videoautoarena.memory.store.store import BattleEnding, Store
from videoautoarena.runs.run.config.run_config import resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.config.stopping_rule import (
    UNTIL_FILE,
    KeptRule,
    RuleReading,
    StoppingRule,
    keep_met,
    keep_rule,
    kept_rule,
    parse_rule,
)
from videoautoarena.runs.run.rundir.slots import new_slots, superseding_slots
from videoautoarena.runs.run.rundir.waves import Watch, Waves, read_rule
from videoautoarena.scoring.design.stopping import WRONG

CAST = ("offline:hawk", "offline:owl", "offline:mole")
CONFIG = resolve(RunRequest(models=CAST)).config
SLOTS = new_slots(VIDEOS[:4], rounds=3, block=2, existing=[])
"""Six waves of six slots."""


class Game:
    """A run under a rule, whose battles end as they are told to."""

    def __init__(self, rule: str, slots: list[Slot] = SLOTS) -> None:
        named = parse_rule(rule)
        assert named
        self.rule = named
        self.slots = slots
        self.waves = Waves(slots, CAST)
        self.told: list[RuleReading] = []
        self.watch = Watch(named, CONFIG, self.waves, self.told.append)

    def settle(self, wave: int, *, decided: int = 6) -> None:
        for place, slot in enumerate(self.of(wave)):
            self.waves.note(BattleEnding(slot.id, *CAST[:2], "a" if place < decided else "void"))

    def of(self, wave: int) -> list[Slot]:
        return self.slots[6 * wave : 6 * wave + 6]

    async def played(self) -> list[bool | None]:
        """Return for each wave whether its slots are played; None where that cannot be told yet."""
        tasks = [asyncio.ensure_future(self.watch.turn(self.of(k)[0].id)) for k in range(6)]
        for _ in range(20):
            await asyncio.sleep(0)
        found = [task.result() if task.done() else None for task in tasks]
        for task in tasks:
            task.cancel()
        return found


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("separated", StoppingRule("separated")),
        ("ci=40", StoppingRule("ci", 40)),
        ("ci=2.5", StoppingRule("ci", 2.5)),
        ("battles=500", StoppingRule("battles", 500)),
        ("rounds", None),
    ],
)
def test_a_rule_is_read_and_told_as_it_was_given(text: str, rule: StoppingRule | None) -> None:
    assert parse_rule(text) == rule
    assert rule is None or str(rule) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "never", "separated=1", "rounds=3"),
        *("ci", "ci=", "ci=0", "ci=-1", "ci=nan", "ci=inf"),
        *("battles=0", "battles=1.5", "battles=many"),
    ],
)
def test_what_names_no_rule_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(BadInput, match="give separated, ci=POINTS, battles=N or rounds"):
        parse_rule(text)


def test_the_promise_of_separated_names_the_share_that_the_bound_is_made_for() -> None:
    assert f"at most {WRONG:.0%}".replace("%", " %") in StoppingRule("separated").promise


def test_a_slot_is_played_unless_the_waves_up_to_two_before_it_met_the_rule() -> None:
    async def go() -> list[list[bool | None]]:
        game = Game("battles=10")
        seen = [await game.played()]
        for wave in range(3):
            game.settle(wave, decided=5)
            seen.append(await game.played())
        assert game.watch.met
        assert (game.watch.met.wave, game.watch.met.battles) == (1, 10)
        assert [(reading.wave, reading.is_met) for reading in game.told] == [(0, False), (1, True)]
        return seen

    assert asyncio.run(go()) == [
        [True, True, None, None, None, None],
        [True, True, True, None, None, None],
        [True, True, True, False, False, False],
        [True, True, True, False, False, False],
    ]


def test_nobody_waits_for_a_wave_that_the_rule_keeps_from_being_played() -> None:
    async def go() -> list[bool | None]:
        game = Game("battles=1")
        game.settle(0)
        game.settle(1)
        return await game.played()

    assert asyncio.run(go()) == [True, True, False, False, False, False]


@given(st.permutations(range(36)))
def test_where_a_run_stops_does_not_follow_from_which_battle_ended_first(order: list[int]) -> None:
    game = Game("battles=20")
    for place in order:
        game.waves.note(BattleEnding(SLOTS[place].id, *CAST[:2], "a"))
        game.watch.look()
    assert game.watch.met
    assert game.watch.met.wave == 3


def test_what_is_played_again_is_played_if_its_place_was() -> None:
    async def go() -> tuple[bool, bool]:
        failed = SLOTS[6].id
        again = superseding_slots({failed}, existing=SLOTS)
        game = Game("battles=1", [*SLOTS, *again])
        game.settle(0)
        return await game.watch.turn(again[0].id), await game.watch.turn(again[1].id)

    assert asyncio.run(go()) == (True, False)


def fight(game: Game, wins: int) -> None:
    """Let the models stand in roster order, each beating the next `wins` times out of six."""
    for place, slot in enumerate(game.slots):
        pair = CAST[place % 2 : place % 2 + 2]
        game.waves.note(BattleEnding(slot.id, *pair, "a" if place // 2 % 6 < wins else "b"))


@pytest.mark.parametrize("rule", ["separated", "ci=40"])
def test_nothing_is_met_while_some_model_cannot_be_compared(rule: str) -> None:
    game = Game(rule)
    for wave in range(6):
        game.settle(wave)
    reading = read_rule(CONFIG, game.waves, game.rule, 5)
    assert (reading.is_met, reading.pair, reading.ratio, reading.width) == (False, None, None, None)
    assert reading.battles == 36
    assert "not yet known" in reading.how_near


def test_how_near_a_rule_is_is_told_in_its_own_terms() -> None:
    game = Game("separated")
    fight(game, 4)
    reading = read_rule(CONFIG, game.waves, game.rule, 5)
    assert reading.pair
    assert reading.ratio is not None
    assert reading.bound is not None
    assert 0 < reading.ratio < reading.bound
    assert not reading.is_met
    assert f"smallest gap {reading.ratio:.1f} of {reading.bound:.1f}" in reading.how_near
    wide = read_rule(CONFIG, game.waves, StoppingRule("ci", 9999), 5)
    assert wide.is_met
    assert wide.how_near == f"intervals {wide.width:.1f} points wide, 9999 required"
    assert not read_rule(CONFIG, game.waves, StoppingRule("ci", 1), 5).is_met


def test_a_rule_is_kept_with_the_run_until_another_is_given(tmp_path: Path) -> None:
    with Store.create(tmp_path / "run.sqlite", {}) as store:
        assert kept_rule(store) == KeptRule()
        keep_rule(store, "separated")
        keep_rule(store, None)
        met = RuleReading(StoppingRule("separated"), 4, 90, True, 3.2, 3.1, ("hawk", "owl"), 60.5)
        keep_met(store, met)
        keep_rule(store, "separated")
        assert kept_rule(store) == KeptRule(StoppingRule("separated"), met)
        keep_rule(store, "ci=40")
        assert kept_rule(store) == KeptRule(StoppingRule("ci", 40))
        keep_rule(store, "rounds")
        assert kept_rule(store) == KeptRule()


@pytest.mark.parametrize(
    "text",
    ["[]", "{}", '{"rule": "ci=-3", "met": null}', '{"rule": "separated", "met": {"pair": 3}}'],
)
def test_a_rule_that_nobody_here_wrote_is_one_line(text: str, tmp_path: Path) -> None:
    with Store.create(tmp_path / "run.sqlite", {}) as store:
        store.put_file(UNTIL_FILE, text)
        with pytest.raises(StoreError, match="local/until cannot be read"):
            kept_rule(store)
