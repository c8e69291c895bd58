"""A contestant that gives no answer often is told with its reason, and ends in exit code 3."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.clips import draw_folder
from tests.support.loopback import serving
from tests.support.manners import Manners, Mishap
from tests.support.typed import Terminal
from tests.support.whole_runs import KEY, write_config
from videoautoarena.runs.run.rundir.failures import MANY, Forfeits

VERDICTS = st.sampled_from(["a", "b", "tie", "tie_bad", "void", "forfeit_a", "forfeit_b"])
NAMES = st.sampled_from(["hawk", "owl", "mole"])
BATTLES = st.lists(st.tuples(NAMES, NAMES, VERDICTS, st.sampled_from(["why", "how", None])))


@given(BATTLES, st.floats(0, 1))
def test_the_faulty_have_many_forfeits_and_a_larger_share_than_is_accepted(
    battles: list[tuple[str, str, str, str | None]], accepted: float
) -> None:
    found = Forfeits()
    for a, b, verdict, reason in battles:
        found.note(a, b, verdict, reason=reason)
    for name in ("hawk", "owl", "mole"):
        mine = [
            (a if verdict == "forfeit_a" else b)
            for a, b, verdict, _ in battles
            if verdict.startswith("forfeit")
        ].count(name)
        drawn = sum([a, b].count(name) for a, b, verdict, _ in battles if verdict != "void")
        named = [one for one in found.faulty(accepted) if one.model == name]
        assert bool(named) == (mine >= MANY and mine > accepted * drawn)
        assert found.counts.get(name, 0) == mine
        assert all((one.forfeits, one.battles) == (mine, drawn) for one in named)


def test_the_most_frequent_reason_stands_for_all() -> None:
    found = Forfeits()
    for reason in ("once", "often", "often"):
        found.note("owl", "hawk", "forfeit_a", reason=reason)
    (owl,) = found.faulty(0.05)
    assert owl.reason == "often"
    assert found.most_frequent == {"owl": {"often": 2, "once": 1}}


@pytest.mark.slow
def test_a_contestant_that_never_answers_ends_a_run_and_a_bench_in_exit_code_three(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    terminal = Terminal(capsys)
    clips = draw_folder(tmp_path / "clips", 2, seconds=2)
    out = tmp_path / "run"
    bench = tmp_path / "bench"
    config = tmp_path / "arena.toml"
    sick = Manners(mishaps=(Mishap("status", "mole", times=10**6, status=400),))
    with serving(tmp_path / "log", sick) as server:
        write_config(config, "openai", server)
        where = ("--videos", clips, "--config", config)
        # Voids are no matter here: with four contestants most battles go without the mole.
        said = terminal.simulate(*where, "--out", out, "--rounds", "2", "--plain", "--json")
        told = terminal.arena("status", out)
        terminal.arena("freeze", out, "--to", bench)
        played = terminal.arena(
            "bench", "run", bench, "--model", "mole", "--judge", "judge", *where
        )
    assert said.code == 3
    (faulty,) = json.loads(said.out)["forfeiting"]
    assert (faulty["model"], faulty["forfeits"]) == ("mole", faulty["battles"])
    lines = said.err.splitlines()
    at_once, end = [k for k, line in enumerate(lines) if line.startswith("mole gave no answer")]
    settled = [k for k, line in enumerate(lines) if line.startswith("[")]
    assert at_once < settled[-1] < end
    assert "http-400" in lines[end] or "400" in lines[end]
    assert f"  forfeits of mole, {faulty['forfeits']}: " in told.out
    assert played.code == 3
    assert "mole gave no answer in" in played.err
