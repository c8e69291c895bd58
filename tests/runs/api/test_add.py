"""A newcomer meets stored answers: what is drawn, what is kept, and that it can be played again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.clips import draw_folder
from tests.support.played import invoke
from tests.support.small_runs import TRIO, alter, battles_of, play, play_again
from videoautoarena.graph.slot_ids import is_newcomer, place_of
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Battle
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.api.add import AddRequest, add, plan_addition
from videoautoarena.runs.api.simulate import Finished, resume
from videoautoarena.runs.bench.freeze.freeze import freeze
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.console.progress.events import nobody
from videoautoarena.runs.rating.method import weigh_battles
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.reader import RUN_FILE

NEW = "offline:trickster"


class Met(NamedTuple):
    """A run that a newcomer was added to."""

    out: Path
    said: list[str]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of one clip, three lineages, two rounds."""
    root = tmp_path_factory.mktemp("added")
    draw_folder(root / "clips", 1)
    play(root / "clips", root / "run", pairing="uniform", swap=0.5)
    return root / "run"


@pytest.fixture
def run(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "run"))


@pytest.fixture(scope="module")
def met(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Met:
    """The run once a newcomer has met all its answers, and what was said; copy, never change."""
    out = Path(shutil.copytree(template, tmp_path_factory.mktemp("met") / "run"))
    said: list[str] = []
    added(out, said=said)
    return Met(out, said)


def added(out: Path, *, said: list[str] | None = None, **request: Any) -> Finished:
    say = (said if said is not None else []).append
    return run_async(add(AddRequest(out=out, **{"model": NEW, **request}), say=say, hear=nobody))


def _silent(_line: str) -> None:
    """Hear nothing."""


def guests(out: Path) -> list[Battle]:
    return [battle for battle in battles_of(out) if is_newcomer(battle.id)]


def test_a_newcomer_takes_one_side_and_the_other_keeps_its_answer(template: Path, met: Met) -> None:
    before = {battle.id: battle for battle in battles_of(template)}
    new = guests(met.out)
    assert len(new) == 6
    for battle in new:
        assert battle.borrowed is not None
        source = before[battle.borrowed.battle]
        seat = battle.borrowed.seat
        other = "b" if seat == "a" else "a"
        for field in ("question", "origin", "aimed_at", "difficulty", "persona_text", "category"):
            assert getattr(battle, field) == getattr(source, field)
        for field in ("model", "answer", "frames"):
            assert getattr(battle, f"{field}_{seat}") == getattr(source, f"{field}_{seat}")
        assert getattr(battle, f"model_{other}") == NEW
        assert getattr(battle, f"answer_{other}") != getattr(source, f"answer_{other}")
        assert battle.id == f"{place_of(source.id)}+1"
    assert {battle.borrowed.seat for battle in new if battle.borrowed} == {"a", "b"}


def test_it_is_rated_and_everything_replays_byte_for_byte(template: Path, met: Met) -> None:
    before = {b.id: b.model_dump_json() for b in battles_of(template)}
    found = play_again(met.out)
    assert (found.others, found.differences) == (0, [])
    assert {b.id: b.model_dump_json() for b in battles_of(met.out) if b.id in before} == before
    board = json.loads(invoke("leaderboard", met.out, "--json").output)
    rows = {row["model"]: row for row in board["models"]}
    assert rows[NEW]["battles"] == sum(b.verdict != "void" for b in guests(met.out))
    assert len(board["components"]) == 1


def test_battles_of_a_run_say_nothing_of_borrowing_and_those_of_a_newcomer_do(met: Met) -> None:
    lines = invoke("battles", met.out, "--jsonl").output.splitlines()
    assert ["borrowed" in json.loads(line) for line in lines] == [False] * 6 + [True] * 6


def test_a_newcomer_meets_at_most_what_is_there_and_each_answer_once(
    template: Path, met: Met
) -> None:
    decided = sum(b.verdict in ("a", "b") or "tie" in b.verdict for b in battles_of(template))
    sources = [b.borrowed.battle for b in guests(met.out) if b.borrowed]
    assert len(sources) == len(set(sources)) == decided
    assert f"the run has only {decided} battles to draw from, each used once" in " ".join(met.said)


def test_a_second_time_only_what_is_missing_is_added(run: Path) -> None:
    added(run, battles=3)
    first = [b.id for b in guests(run)]
    said: list[str] = []
    added(run, battles=3, said=said)
    assert [b.id for b in guests(run)] == first
    assert "nothing is left to play" in said
    added(run, battles=5)
    assert len(guests(run)) == 5
    assert {b.id[-2:] for b in guests(run)} == {"+1", "+2"}
    assert len({place_of(b.id) for b in guests(run)}) == 5
    assert play_again(run).others == 0


def test_another_newcomer_gets_the_next_generation(run: Path) -> None:
    added(run, battles=3)
    added(run, battles=3, model="offline:blind")
    with Store.open(run / RUN_FILE, write=False) as store:
        config = RunConfig.of_manifest(store.manifest())
    assert config.guests == {NEW: (1,), "offline:blind": (2,)}
    assert config.joined == {NEW: 1, "offline:blind": 2}
    pairs = [{b.model_a, b.model_b} for b in guests(run)]
    assert {NEW, "offline:blind"} not in pairs
    assert play_again(run).others == 0


@pytest.mark.slow
def test_the_same_seed_draws_the_same_battles_at_any_concurrency(run: Path, met: Met) -> None:
    added(run, battles=6, concurrency=1)
    assert [b.model_dump_json() for b in guests(run)] == [
        b.model_dump_json() for b in guests(met.out)
    ]


def test_what_was_stopped_goes_on_with_resume_and_ends_the_same(met: Met, tmp_path: Path) -> None:
    other = Path(shutil.copytree(met.out, tmp_path / "other"))
    lost = guests(other)[2:]
    for battle in lost:
        alter(other, "DELETE FROM battles WHERE id = :id", id=battle.id)
    alter(other, "DELETE FROM draws WHERE slot = :id", id=lost[-1].id)
    finished = run_async(resume(RunRequest(out=other), say=_silent, hear=nobody))
    assert (finished.settled, finished.total) == (12, 12)
    assert [b.model_dump_json() for b in guests(met.out)] == [
        b.model_dump_json() for b in guests(other)
    ]


@pytest.mark.slow
def test_later_rounds_are_played_by_the_newcomer_too(run: Path) -> None:
    added(run, battles=2)
    with Store.open(run / RUN_FILE, write=False) as store:
        file = store.file("local/videos")
        assert file is not None
        folder = Path(file.text)
    play(folder, run, pairing="uniform", swap=0.5, rounds=3)
    late = [b for b in battles_of(run) if b.round > 1]
    assert NEW in {name for b in late for name in (b.model_a, b.model_b)}
    assert play_again(run).others == 0


@pytest.mark.slow
def test_who_joins_later_need_not_name_those_who_met_stored_answers(run: Path) -> None:
    added(run, battles=2)
    with Store.open(run / RUN_FILE, write=False) as store:
        folder = Path((store.file("local/videos") or pytest.fail("no folder is kept")).text)
    models = ("offline:blind", *TRIO)
    play(folder, run, pairing="uniform", swap=0.5, rounds=4, models=models)
    with Store.open(run / RUN_FILE, write=False) as store:
        config = RunConfig.of_manifest(store.manifest())
    assert config.models == (*TRIO, NEW, "offline:blind")
    assert config.joined == {NEW: 1, "offline:blind": 2}
    late = {name for b in battles_of(run) if b.round > 1 for name in (b.model_a, b.model_b)}
    assert {NEW, "offline:blind"} <= late
    assert play_again(run).others == 0


def test_propensities_of_met_answers_are_shares_of_seats(met: Met) -> None:
    run = met.out
    found = {}
    for battle in guests(run):
        rival = battle.model_b if battle.model_a == NEW else battle.model_a
        found[rival] = battle.propensity
    assert sum(p or 0.0 for p in found.values()) == pytest.approx(1.0, abs=1e-5)
    with Store.open(run / RUN_FILE, write=False) as store:
        weights = weigh_battles(battles_of(run), store.slots())
    mine = [weights[b.id] for b in guests(run) if b.id in weights]
    assert sum(mine) == pytest.approx(len(mine))


def test_a_bench_asks_each_question_once(run: Path, tmp_path: Path) -> None:
    before = freeze(run, tmp_path / "before")
    added(run, battles=4)
    frozen = freeze(run, tmp_path / "after")
    assert frozen.questions == sum(
        b.verdict in ("a", "b") for b in battles_of(run) if not is_newcomer(b.id)
    )
    assert (frozen.questions, frozen.left_out) == (before.questions, before.left_out)
    assert (before.borrowed, frozen.borrowed) == (0, 4)
    assert (
        frozen.battles == frozen.questions + frozen.left_out + frozen.borrowed == before.battles + 4
    )
    assert NEW in frozen.without_answer
    assert any(line.startswith("left out: 4 battles of newcomers") for line in frozen.as_lines())


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("offline:hawk", "already a contestant of this run"),
        ("offline:judge", "examines or judges and cannot compete"),
        ("openai:gpt-4o", "understands offline contestants alone"),
        ("offline:nobody", "nobody"),
    ],
)
def test_who_may_not_be_added_is_told_in_one_line(run: Path, model: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        added(run, model=model)
    assert len(battles_of(run)) == 6


def test_a_plan_writes_nothing_and_counts_answers_and_judgings(run: Path) -> None:
    bytes_before = (run / RUN_FILE).read_bytes()
    plan, told = plan_addition(AddRequest(out=run, model=NEW, battles=5))
    assert (run / RUN_FILE).read_bytes() == bytes_before
    calls = {(line.alias, line.role): line.most_calls for line in plan.lines}
    assert calls == {(NEW, "contestant"): 5, ("offline:judge", "judge"): 20}
    assert told == [f"{NEW} meets stored answers in 5 battles"]
    assert plan.battles == 5


def test_the_command_adds_and_says_how_it_stands(run: Path) -> None:
    result = invoke("add", run, "--model", NEW, "--battles", 2, "--json")
    assert result.exit_code == 0
    assert '"settled": 8' in result.output
    assert "8 of 8 slots settled" in invoke("status", run).output
    shown = invoke("show", run, guests(run)[0].id)
    borrowed = guests(run)[0].borrowed
    assert borrowed is not None
    assert f"as stored in {borrowed.battle}" in " ".join(shown.output.split())


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no run"):
        added(tmp_path)
