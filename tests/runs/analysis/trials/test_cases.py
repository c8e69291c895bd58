"""Which cases are made of a run's battles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.asking import frames_of, run
from tests.support.played import battle, judging, manifest, play, slot, video
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.fences import attacks, constants
from videoautoarena.memory.records.records import Battle, VideoFrames
from videoautoarena.runs.analysis.trials.cases import (
    attack_cases,
    constant_cases,
    has_clear_loser,
    is_complete,
    meetings,
    rejudge_cases,
    repeat_cases,
)
from videoautoarena.runs.analysis.trials.trial import (
    CaseMaker,
    Material,
    TrialCase,
    loading,
    seatings_of,
)
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.run.rundir.reader import RunReader, open_run

OWN, STRANGER = (Model(alias=name, model="offline:judge") for name in ("judge", "stranger"))


class Reel:
    """Frames of any video, without a decoder."""

    async def frames(self, video: str) -> VideoFrames:
        return frames_of(2, video=video)


def make(
    out: Path, maker: CaseMaker, *, count: int | None = None, judges: tuple[Model, ...] = (OWN,)
) -> list[TrialCase]:
    """Return the cases that are made of the run in `out`."""
    with open_run(out) as opened:
        return run(_made(maker, opened, count, judges))


async def _made(
    maker: CaseMaker, opened: RunReader, count: int | None, judges: tuple[Model, ...]
) -> list[TrialCase]:
    config = RunConfig.of_manifest(opened.manifest)
    given: dict[str, Any] = {"run_frames": Reel(), "decoders": None, "files": {}}
    return list(await maker(Material(opened, config, judges=judges, count=count, **given)))


def fought(number: int, **changed: Any) -> Battle:
    said = judging(verdict=changed.get("verdict", "a"), seats="ab")
    return battle(slot(video(), number), **{"verdicts": (said,), **changed})


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Five battles: won by a, by b, by a against one judge of two, a good tie, and a void."""
    dissent = (judging(seats="ab"), judging(judge="other", seats="ab", verdict="tie"))
    ours = [
        fought(0),
        fought(1, verdict="b"),
        fought(2, verdicts=dissent),
        fought(3, verdict="tie_good"),
        battle(slot(video(), 4), verdict="void", reason="no", verdicts=()),
    ]
    cast = {name: {**entry, "timeout_s": 60.0} for name, entry in manifest()["cast"].items()}
    return play(tmp_path / "out", ours, settings=manifest(cast=cast))


def battles_in(cases: list[TrialCase]) -> list[int]:
    return sorted({int((case.battle or "").rpartition("-r")[2]) for case in cases})


@given(st.integers(1, 12), st.integers(1, 9), st.integers(0, 200))
def test_texts_are_dealt_evenly_from_both_seats_and_no_meeting_comes_twice(
    texts: int, battles: int, count: int
) -> None:
    dealt = list(meetings(texts, battles=battles, count=count))
    assert len(dealt) == min(count, texts * battles)
    assert len({(one.text, one.battle) for one in dealt}) == len(dealt)
    for text in range(texts):
        seats = [one.seats for one in dealt if one.text == text]
        assert abs(len(seats) - len(dealt) / texts) < 1
        assert abs(seats.count("ab") - seats.count("ba")) <= 1


def test_without_battles_nothing_is_dealt() -> None:
    assert list(meetings(3, battles=0, count=None)) == []


def test_all_means_that_every_text_and_every_battle_has_had_its_turn() -> None:
    dealt = list(meetings(3, battles=7, count=None))
    assert {one.battle for one in dealt} == set(range(7))
    assert len(list(meetings(7, battles=3, count=None))) == 7


def test_only_a_loser_that_every_judge_sees_is_clear(out: Path) -> None:
    with open_run(out) as opened:
        clear = [battle.round for battle in opened.battles if has_clear_loser(battle)]
        complete = [battle.round for battle in opened.battles if is_complete(battle)]
    assert (clear, complete) == ([0, 1], [0, 1, 2, 3])


def test_a_decided_battle_is_judged_again_as_it_stands(out: Path) -> None:
    cases = make(out, repeat_cases)
    assert battles_in(cases) == [0, 1, 2, 3]
    assert {case.seatings for case in cases} == {("ab",)}
    assert cases[0].case.answer_a == "An onion, diced, from second 3 on."


def test_a_judge_that_never_judged_the_run_judges_twice(out: Path) -> None:
    cases = make(out, repeat_cases, judges=(OWN, STRANGER))
    wanted = seatings_of(cases, (OWN, STRANGER))
    assert [one.model.alias for one in wanted].count("judge") == 4
    assert [one.model.alias for one in wanted].count("stranger") == 8
    assert len({one.id for one in wanted}) == 12
    assert len({one.scope for one in wanted}) == 12


def test_an_attack_stands_on_the_losers_answer_and_nowhere_else(out: Path) -> None:
    cases = [case for case in make(out, attack_cases, count=4) if case.kind == "attack"]
    texts = {attack.name: attack.text.splitlines()[0] for attack in attacks()}
    assert len(cases) == 4
    assert battles_in(cases) == [0, 1]
    for case in cases:
        theirs = case.case.answer_a
        rival = case.case.answer_b
        if case.right == "b":
            theirs, rival = rival, theirs
        assert texts[case.name] in theirs
        assert rival in ("An onion, diced, from second 3 on.", "A carrot.")
        assert rival not in theirs


def test_beside_every_attack_the_same_battle_is_judged_from_the_same_seats(out: Path) -> None:
    cases = make(out, attack_cases, count=5)
    plain = {(case.battle, case.seats) for case in cases if case.kind == "repeat"}
    assert plain == {(case.battle, case.seats) for case in cases if case.kind == "attack"}


def test_attackers_are_read_first_and_second_in_turn(out: Path) -> None:
    cases = [case for case in make(out, attack_cases, count=40) if case.kind == "attack"]
    first = [(case.right == "a") == (case.seats == ("ab",)) for case in cases]
    assert first.count(True) == 20


def test_a_constant_answer_meets_one_that_was_found_good(out: Path) -> None:
    cases = make(out, constant_cases, count=3)
    assert battles_in(cases) == [0, 1, 3]
    names = {constant.name for constant in constants()}
    for case in cases:
        assert case.name in names
        assert (case.case.answer_a if case.right == "b" else case.case.answer_b) in (
            "An onion, diced, from second 3 on.",
            "A carrot.",
        )


def test_everything_that_was_judged_can_be_judged_anew(out: Path) -> None:
    cases = make(out, rejudge_cases)
    assert battles_in(cases) == [0, 1, 2, 3]
    assert battles_in(make(out, rejudge_cases, count=2)) != battles_in(cases)


def test_equal_runs_make_equal_cases(out: Path) -> None:
    assert make(out, attack_cases, count=9) == make(out, attack_cases, count=9)


def test_a_case_may_hand_over_the_bytes_of_its_own_frames(out: Path) -> None:
    (mine, usual) = make(out, repeat_cases, count=2)
    spliced = frames_of(2, video="spliced-1")

    async def load(video: str, digests: list[str]) -> list[bytes]:
        return [f"{video} {digest[:2]}".encode() for digest in digests]

    class Cache(Reel):
        async def jpegs(self, video: str, digests: Sequence[str]) -> list[bytes]:
            return [video.encode() for _ in digests]

    cases = [replace(mine, frames=spliced, load=load), usual]
    hand_over = loading(cast("RunFrames", Cache()), cases)
    assert run(hand_over("spliced-1", ["ab12"])) == [b"spliced-1 ab"]
    assert run(hand_over(usual.video, ["ab12"])) == [usual.video.encode()]


def test_the_id_of_a_trial_follows_from_all_that_the_judge_is_given(out: Path) -> None:
    (case,) = make(out, repeat_cases, count=1)
    first = seatings_of([case], [OWN])[0]
    others = [
        replace(case, case=replace(case.case, answer_b="A leek.")),
        replace(case, frames=frames_of(3)),
        replace(case, seats=("ba",)),
    ]
    ids = {first.id} | {seatings_of([other], [OWN])[0].id for other in others}
    ids |= {seatings_of([case], [OWN.with_settings(max_frames=1)])[0].id}
    assert len(ids) == 5
    assert seatings_of([case], [OWN])[0].id == first.id
