"""A bench judged by a panel, and with prompts of one's own."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import videoautoarena.agents.prompting.prompts
from tests.support.clips import draw_folder
from tests.support.inspect_logs import read_logs
from tests.support.small_runs import alter, play
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.records import CallRow, Judging
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.results import Result as Played
from videoautoarena.runs.bench.format.results import read_results
from videoautoarena.runs.bench.freeze.freeze import freeze
from videoautoarena.runs.bench.play import calls
from videoautoarena.runs.bench.play.calls import CALLS
from videoautoarena.runs.bench.play.question import verdict_of
from videoautoarena.runs.bench.score.validity import check
from videoautoarena.runs.cli.program.main import arena
from videoautoarena.runs.exchange.interop.inspect_export import export_results

JUDGES = """
[models.near]
model = "offline:judge"
max_frames = 6
[models.dim]
model = "offline:judge"
max_frames = 2
[models.twin]
model = "offline:judge"
max_frames = 2
"""
PANEL = "dim,near,offline:judge"


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clip, a bench about it and a panel that played it; no test writes to them."""
    place = tmp_path_factory.mktemp("ground")
    play(draw_folder(place / "videos", 1, seconds=3), place / "out", rounds=1)
    freeze(place / "out", place / "bench")
    (place / "arena.toml").write_text(JUDGES)
    shutil.copytree(place / "bench", place / "played")
    assert run(place, place / "played", "--judge", "near,offline:judge,dim").return_value == 0
    return place


@pytest.fixture
def bench(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground / "bench", tmp_path / "bench"))


@pytest.fixture
def played(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground / "played", tmp_path / "played"))


def run(ground: Path, bench: Path, *typed: object) -> Result:
    """Play a bench with one model; `return_value` is the exit code."""
    usual = ("--videos", ground / "videos", "--config", ground / "arena.toml", "--swap", "none")
    line = ["bench", "run", bench, *usual, "--model", "offline:mole", *typed]
    return CliRunner().invoke(arena, list(map(str, line)), standalone_mode=False)


def calls_of(bench: Path) -> list[CallRow]:
    with Store.open(bench / "results" / CALLS, write=False) as store:
        return store.journal.calls()


def result_of(bench: Path, judge: str = PANEL) -> Played:
    (found,) = (one for one in read_results(open_bench(bench)) if one.judge == judge)
    return found


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("bba", "win"),
        ("baa", "loss"),
        ("ba", "tie"),
        ("b?", "win"),
        ("??", "void"),
        ("b=", "tie"),
        ("b==", "tie"),
        ("a", "loss"),
        ("?", "void"),
    ],
)
def test_the_larger_part_of_those_who_can_tell_decides(said: str, verdict: str) -> None:
    words = {"a": "a", "b": "b", "=": "tie_good", "?": "abstain"}
    judgings = tuple(
        Judging.model_validate({"judge": f"j{k}", "seats": "ba", "verdict": words[one]})
        for k, one in enumerate(said)
    )
    assert verdict_of(judgings) == verdict


def test_every_judge_is_asked_once_a_seating_and_its_vote_is_kept(ground: Path) -> None:
    bench = ground / "played"
    result = result_of(ground / "played")
    questions = len(open_bench(bench).items)
    asked = Counter(row.alias for row in calls_of(bench) if row.nonce.role == "judge")
    assert asked == dict.fromkeys(PANEL.split(","), 2 * questions)
    for ruling in result.rulings:
        assert ruling.votes is not None
        assert [vote.judge for vote in ruling.votes] == PANEL.split(",")
        votes = Counter(vote.verdict for vote in ruling.votes)
        if max(votes.values()) > 1:
            assert votes[ruling.verdict] > 1  # type: ignore[index]
    assert result.facts["judge"] == ["offline:judge"] * 3
    # The panel has one name, in whatever order it is typed.
    assert result.judge == PANEL


def test_one_judge_of_a_panel_is_known_when_it_judges_alone(ground: Path, played: Path) -> None:
    before = calls_of(played)
    told = run(ground, played, "--judge", "dim")
    assert "at most 0 calls" in told.stderr
    assert calls_of(played) == before
    alone = {(r.qid, r.against): r.verdict for r in result_of(played, "dim").rulings}
    votes = {
        (r.qid, r.against): vote.verdict
        for r in result_of(played).rulings
        for vote in r.votes or ()
        if vote.judge == "dim"
    }
    assert alone == votes
    lines = (file.read_text() for file in (played / "results").glob("*.jsonl"))
    # A ruling of one judge says nothing of votes.
    assert sum('"votes"' in text for text in lines) == 1


def test_the_plan_counts_every_judge(ground: Path, bench: Path) -> None:
    told = json.loads(run(ground, bench, "--judge", PANEL, "--plan", "--json").stdout)
    questions = len(open_bench(bench).items)
    assert told["judge"] == PANEL
    assert told["calls_at_most"] == {
        "offline:mole": questions,
        **dict.fromkeys(PANEL.split(","), 4 * questions),
    }


def test_a_check_tells_how_far_the_judges_agree(ground: Path) -> None:
    figures = {one["key"]: one for one in check(open_bench(ground / "played")).to_json()["figures"]}
    rulings = result_of(ground / "played").rulings
    same = [
        len({v.verdict for v in r.votes or () if v.judge in ("dim", "near")}) == 1 for r in rulings
    ]
    agreement = figures["panel.agreement.dim, near"]
    assert agreement["n"] == len(rulings)
    assert agreement["value"] == pytest.approx(sum(same) / len(same))
    assert {"panel.alpha", "panel.unanimous", "panel.abstentions.dim"} <= figures.keys()


def test_a_log_has_the_words_of_all_judges(ground: Path, tmp_path: Path) -> None:
    export_results(open_bench(ground / "played"), tmp_path / "logs")
    (log,) = read_logs(tmp_path / "logs").values()
    for sample in log.samples.values():
        words = sample["scores"]["vs_selected"]["explanation"]
        assert all(f"**{judge}**" in words for judge in PANEL.split(","))
        assert len(re.findall(r"^accuracy(, .+ ahead)?: ", words, re.MULTILINE)) == 3
        assert words.count("own answer: I find") == 3


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        (("--judge", "dim,dim"), '--judge names "dim" twice'),
        (("--judge", "dim,twin"), "are the same model"),
        (("--judge", "dim,near", "--anchor", "offline:hawk"), "not a panel"),
    ],
)
def test_a_panel_that_cannot_be_is_refused(
    ground: Path, bench: Path, typed: tuple[str, ...], wrong: str
) -> None:
    assert wrong in str(run(ground, bench, *typed).exception)
    assert not (bench / "results").exists()


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    """A judge's prompt with a line of its own."""
    folder = tmp_path / "prompts"
    folder.mkdir()
    text = PromptSet.load().texts["judge"]
    (folder / "judge.txt").write_text(f"Be strict.\n{text}")
    return folder


def test_ones_own_prompts_are_asked_with_and_named(
    ground: Path, bench: Path, prompts: Path
) -> None:
    told = run(ground, bench, "--prompts", prompts)
    assert "prompts differ from the run that the bench is from: judge" in told.stderr
    own = PromptSet.load(prompts).digests
    asked = {row.nonce.role: row.prompt for row in calls_of(bench)}
    assert asked == {role: own[role] for role in ("contestant", "judge")}
    assert result_of(bench, "offline:judge").facts["prompts"] == asked
    # What was begun with them goes on with them.
    again = run(ground, bench)
    assert "the recorded ones are used" in again.stderr
    assert "at most 0 calls" in again.stderr


def test_a_bench_that_was_first_played_with_contract_1_goes_on_with_it(
    monkeypatch: pytest.MonkeyPatch, ground: Path, bench: Path
) -> None:
    def of_then(folder: Path | None = None) -> PromptSet:
        return replace(PromptSet.load(folder, bench=True), contracts=1)

    with monkeypatch.context() as earlier:
        earlier.setattr(calls, "load_prompts", of_then)
        run(ground, bench)
    with Store.open(bench / "results" / CALLS, write=True) as store:
        # As a file says it that was begun before there were numbers.
        facts = {key: fact for key, fact in store.manifest().items() if key != "contracts"}
        store.put_manifest(facts)
    before = len(calls_of(bench))
    again = run(ground, bench)
    assert "first run with (1; the latest are 2)" in again.stderr
    assert "at most 0 calls" in again.stderr
    assert len(calls_of(bench)) == before
    result = result_of(bench, "offline:judge")
    assert result.facts["contracts"] == 1
    assert not any("own_answer" in (ruling.words or "") for ruling in result.rulings)


def test_a_bench_that_is_from_a_run_with_another_contract_says_so(
    ground: Path, tmp_path: Path
) -> None:
    shutil.copytree(ground / "out", tmp_path / "out")
    alter(tmp_path / "out", "UPDATE manifest SET body = json_remove(body, '$.contracts')")
    freeze(tmp_path / "out", tmp_path / "older")
    note = "contracts for replies differ from the run that the bench is from: 2, there 1"
    assert note in run(ground, tmp_path / "older", "--plan").stdout
    assert "other contracts" not in run(ground, ground / "bench", "--plan").stdout


def test_the_same_prompts_go_on_when_those_beside_them_are_worded_anew(
    monkeypatch: pytest.MonkeyPatch, ground: Path, bench: Path, prompts: Path, tmp_path: Path
) -> None:
    assert run(ground, bench, "--prompts", prompts).return_value == 0
    newer = tmp_path / "newer"
    shutil.copytree(videoautoarena.agents.prompting.prompts._OWN, newer)
    for role in ("contestant", "grader"):
        (newer / f"{role}.txt").write_text(f"{(newer / f'{role}.txt').read_text()}Take care.\n")
    monkeypatch.setattr(videoautoarena.agents.prompting.prompts, "_OWN", newer)
    again = run(ground, bench, "--prompts", prompts)
    assert again.return_value == 0, again.output
    assert "at most 0 calls" in again.stderr
    assert "first run (contestant); the recorded ones are used" in again.stderr
    (prompts / "contestant.txt").write_text("Answer in verse.")
    told = run(ground, bench, "--prompts", prompts)
    assert "was begun with other prompts (contestant)" in str(told.exception)


def test_prompts_that_figures_would_not_compare_under_are_refused(
    ground: Path, played: Path, prompts: Path
) -> None:
    told = run(ground, played, "--prompts", prompts)
    assert "was begun with other prompts (judge)" in str(told.exception)
    shutil.rmtree(played / "results")
    assert run(ground, played, "--prompts", prompts).return_value == 0
    assert run(ground, played, "--prompts", prompts).return_value == 0
