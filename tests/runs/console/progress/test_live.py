"""The live console on a pseudo-terminal: what stands there at the end is what the store holds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import draw_folder
from tests.support.events import begun, judged
from tests.support.loopback import serving
from tests.support.manners import Manners
from tests.support.screens import OnTerminal, on_terminal
from tests.support.small_runs import TRIO, battles_of
from tests.support.typed import Terminal
from tests.support.whole_runs import command, write_config
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.analysis.leaderboard.board import board_of
from videoautoarena.runs.console.progress import listeners
from videoautoarena.runs.console.progress.events import BattleSettled
from videoautoarena.runs.run.battles.listing import result, short_names
from videoautoarena.runs.run.rundir.reader import one_line

NAMES = short_names(TRIO)
TITLES = ("Leaderboard", "Last battles")
COLOUR = re.compile(rb"\x1b\[[0-9;]*(?<![0-9])(3[0-7]|9[0-7]|38)[;m]")


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_folder(tmp_path_factory.mktemp("live") / "videos", 2, seconds=2)


def simulation(videos: Path, out: Path, *more: str) -> list[str]:
    fixed = ("--models", ",".join(TRIO), "--rounds", "2", "--videos", videos, "--out", out)
    return command("simulate", *fixed, *more)


def holds(terminal: OnTerminal, words: str) -> list[str]:
    return [line for line in terminal.lines if words in line]


def board_order(terminal: OnTerminal) -> list[str]:
    rows = [re.match(r"[\d-]+ +(\w+) +(\d+) ", line) for line in terminal.lines]
    return [row[1] for row in rows if row]


def told_of(terminal: OnTerminal, battles: list[Battle]) -> set[str]:
    """Return the battles that have their line: who beat whom, and how their question begins."""
    found = set()
    for battle in battles:
        for line in holds(terminal, result(battle, NAMES)):
            asked = line.removeprefix(result(battle, NAMES)).strip().partition("  ")[0]
            if one_line(battle.question or "", 999).startswith(asked.removesuffix("…")):
                found.add(battle.id)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "rows", "extra"), [(80, 24, {}), (200, 50, {"NO_COLOR": "1"})])
def test_the_last_picture_is_what_the_store_holds(
    videos: Path, tmp_path: Path, columns: int, rows: int, extra: dict[str, str]
) -> None:
    """And a terminal that shows no colour gets none."""
    out = tmp_path / "out"
    terminal = on_terminal(simulation(videos, out), columns=columns, rows=rows, extra=extra)
    battles = battles_of(out)
    board = board_of(out)
    assert len(battles) == 12
    assert len(holds(terminal, "12/12 battles")) == 1
    assert "done" in holds(terminal, "12/12 battles")[0]
    voids = sum(battle.verdict == "void" for battle in battles)
    assert holds(terminal, f"{voids} void{'s' * (voids != 1)}, 0 forfeits")
    assert board_order(terminal) == [NAMES[row["model"]] for row in board.to_json()["models"]]
    for row in board.to_json()["models"]:
        counts = f"{row['wins']}-{row['ties']}-{row['losses']}"
        (line,) = [
            one for one in holds(terminal, f" {NAMES[row['model']]} ") if one.endswith(f" {counts}")
        ]
        assert f" {row['rating']:.0f} " in line
    shown = told_of(terminal, battles)
    assert len(shown) == 12 if rows > 30 else len(shown) >= 6
    assert all(len(holds(terminal, f"─ {title} ")) == 1 for title in TITLES)
    assert (COLOUR.search(terminal.raw) is None) == bool(extra)
    assert terminal.lines[-2].startswith("done: 12") or "done: 12" in "".join(terminal.lines)
    assert not terminal.screen.cursor.hidden


@pytest.mark.parametrize("display", [{"plain": True}, {"trace": "-"}])
def test_on_a_terminal_plain_lines_and_stories_have_no_escape(
    display: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(listeners, "is_live", lambda: True)
    with listeners.audience(**display) as heard:
        heard.hear(begun())
        heard.hear(BattleSettled(judged("v0-p1-r0")))
    said = capsys.readouterr().err
    assert " beat " in said
    assert "\x1b" not in said


@pytest.mark.slow
def test_on_a_dumb_terminal_there_is_no_escape(videos: Path, tmp_path: Path) -> None:
    terminal = on_terminal(simulation(videos, tmp_path / "out"), extra={"TERM": "dumb"})
    assert b"\x1b" not in terminal.raw
    assert terminal.raw.count(b" beat ") + terminal.raw.count(b" tie") >= 12


def test_a_pipe_gets_the_plain_lines_and_quiet_no_battle(
    videos: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def piped(out: str, *more: str) -> list[str]:
        line = simulation(videos, tmp_path / out, "--rounds", "1", *more)
        said = Terminal(capfd).simulate(*line[1:])
        assert (said.code, said.out) == (0, "")
        # Which lineage is first is a matter of chance, and so is the count before a line.
        return sorted(re.sub(r"^\[[^]]*\] |\S*/out-\w+", "", one) for one in said.err.splitlines())

    by_itself = piped("out-a")
    assert by_itself == piped("out-b", "--plain")
    battles = {line for line in by_itself if re.search(r"[0-9a-f]{12}-p\d-r0", line)}
    assert len(battles) == 6
    quiet = piped("out-c", "--quiet")
    assert set(quiet) == set(by_itself) - battles


@pytest.mark.slow
def test_an_interrupt_shows_how_many_calls_are_being_finished(videos: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "log", Manners(latency_s=(0.5, 0.5))) as server:
        config = write_config(tmp_path / "arena.toml", "openai", server)
        fixed = ("--rounds", "1", "--config", config, "--out", tmp_path / "out")
        line = command("simulate", "--videos", videos, *fixed)
        with OnTerminal(line, columns=100, rows=30) as terminal:
            terminal.until(lambda: holds(terminal, "in flight"))
            terminal.interrupt()
            terminal.until(lambda: b"to finish" in terminal.raw)
            assert terminal.end() == 130
    assert re.search(rb"finishing \d+ calls? in flight", terminal.raw)
    assert holds(terminal, "interrupted")
    text = "".join(terminal.screen.display)
    assert f"arena resume {tmp_path / 'out'}" in re.sub(r" +", " ", text)


@pytest.mark.slow
def test_a_run_of_another_process_is_followed_to_its_end(videos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with serving(tmp_path / "log", Manners(latency_s=(0.4, 0.4))) as server:
        config = write_config(tmp_path / "arena.toml", "openai", server)
        fixed = ("--rounds", "1", "--config", config, "--out", out, "--plain")
        with OnTerminal(command("simulate", "--videos", videos, *fixed)) as running:
            running.until(lambda: (out / "run.sqlite").exists())
            with OnTerminal(command("arena", "status", out, "--follow")) as follower:
                follower.until(lambda: holds(follower, "In flight"))
                assert running.end() == 0
                assert follower.end() == 0
    assert holds(follower, "6/6 battles")
    assert holds(follower, "finished: 6 of 6 battles settled")
