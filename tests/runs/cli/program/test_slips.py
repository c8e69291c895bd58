"""A stranger's slip ends in one line that helps, and in the exit code that the help names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.played import invoke, lineage, play, slot, video
from videoautoarena.runs.cli.program.main import arena, guarded, load

SIMULATE = ("simulate", "--videos", "clips", "--out", "new")
TASKS = ("tasks", "make", "clips", "--to", "new")
TYPED = [
    ((*SIMULATE, "--rounds", "0"), "--rounds is 0; give 1 or more"),
    ((*SIMULATE, "--limit", "0"), "--limit is 0; give 1 or more"),
    ((*SIMULATE, "--block", "-1"), "--block is -1; give 1 or more"),
    ((*SIMULATE, "--concurrency", "0"), "--concurrency is 0; give 1 or more"),
    ((*SIMULATE, "--swap", "3"), "--swap is 3; give a share from 0 to 1"),
    ((*SIMULATE, "--max-void", "5"), "--max-void is 5; give a share from 0 to 1"),
    (("freeze", "run", "--to", "new", "--hard", "--max-void", "nan"), "not in the range 0<=x<=1"),
    ((*SIMULATE, "--patience", "nan"), "nan is not in the range 0<=x<=1000000"),
    ((*SIMULATE, "--engine", "ray", "--lease", "NaN"), "NaN is not in the range 2<=x<=3600"),
    ((*SIMULATE, "--size", "5"), "--size is 5; give a number greater than or equal to 16"),
    ((*SIMULATE, "--fps", "2"), "--fps is for --policy fps"),
    (("frames", "clip.mp4", "--frames", "0"), "--frames is 0"),
    ((*TASKS, "--kind", "anomaly"), "needs data from outside; make needle, order, count"),
    ((*TASKS, "--kind", "ego"), "needs data from outside"),
    ((*TASKS, "--kind", "needles"), "'needles' is none of needle, order, count"),
    ((*TASKS, "--kind", ","), "--kind is empty"),
    ((*TASKS, "--kind", "ego", "--kind", "order"), "needs data from outside"),
    ((*TASKS, "--seconds", "60,5"), "--seconds is '5'; give numbers from 15 to 3600"),
    ((*TASKS, "--seconds", "00000006000"), "--seconds is '00000006000'; give numbers from 15"),
    ((*TASKS, "--seconds", "0" * 5000), "give numbers from 15 to 3600"),
    ((*TASKS, "--probes", "2-5"), "--probes is '2-5'; give 3-5"),
    ((*TASKS, "--n", "0"), "Invalid value for '--n'"),
    (("power", "--models", "1"), "--models 1 is out of range; give 2 to 200"),
    (("freeze", "run", "--to", "new", "--by", "colour"), "duration, category, topic"),
    (("freeze", "run", "--to", "new", "--separating"), "so it needs --size"),
    (("leaderboard", "run", "--anchor", "hawk=high"), "pass a number, like 1000"),
    (("leaderboard", "run", "--labels", "--style"), "leave out the other options"),
    (("bench", "run", "bench", "--sweep", "frames=0,4"), "'frames=0,4' is no sweep"),
    (("bench", "run", "bench", "--sweep", f"frames={'9' * 5000}"), "is no sweep; write frames="),
    (("bench", "score", "bench", "--weight", "nan"), "nan is not in the range 1<=x<=1000"),
    (("bench", "score", "bench", "--margin", "nan"), "nan is not in the range 0<x<=100"),
    (("bench", "compare", "bench", "hawk", "hawk"), "name two models"),
    (("leaderbord", "run"), "Did you mean 'leaderboard'?"),
    (("agree", "run", "run"), "no command 'agree' any more; type: arena leaderboard A --against B"),
    (("profile", "run"), "type: arena leaderboard OUT --profile [MODEL]"),
    (("compact", "run"), "the file of a finished run has no empty pages"),
    (("leaderboard", "run", "--rename", "names.json"), "--rename goes with --against"),
    (("leaderboard", "run", "--embeddings", "m"), "--embeddings goes with --profile"),
    (
        ("leaderboard", "run", "--against", "run", "--by", "round"),
        "--by does not go with --against",
    ),
    (("leaderboard", "run", "--profile", "--style"), "--style does not go with --profile"),
    (("leaderboard", "run", "--profile", "--against", "run"), "does not go with --profile"),
    (("freeze", "run"), "Missing option '--to'"),
    (("leaderboard", "run", "--by", "colour"), "this run has duration, category"),
]
FOUND = [
    (("leaderboard", "nowhere"), "did you mean run?"),
    (("status", "bench"), "bench holds a frozen set and no run; arena bench is for it"),
    (("view", "bench"), "arena report and arena pictures show tasks and dialogues"),
    (("show", "run", "zzz"), slot(video(), 0).id),
    (("show", "run", "f"), "matches 3 battles"),
    (("leaderboard", "run", "--anchor", "nobody"), "there are hawk, owl, mole"),
    (("bench", "verify", "nowhere"), "pass one that arena freeze made"),
    (("bench", "score", "bench"), "make some with arena bench run"),
    (("bench", "compare", "bench", "hawk", "nobody"), "has no result on bench"),
    (("bench", "run", "bench", "--model", "hawk"), "write offline:hawk if you mean the stand-in"),
    ((*SIMULATE, "--models", "antropic:x"), "write anthropic:x if you mean that, else provider:"),
    ((*SIMULATE, "--models", "hawk,mole"), "write offline:hawk if you mean the stand-in"),
    ((*SIMULATE, "--models", "hawk", "--models", "offline:mole"), "write offline:hawk if you"),
    (("simulate", "--videos", "nowhere", "--out", "new"), "pass a folder that holds videos"),
    (("videos", "nowhere"), "pass a folder that holds videos"),
    (("rate", "nowhere.csv"), "pass a .csv, .tsv, .jsonl or .parquet file"),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run and a bench in it."""
    root = tmp_path_factory.mktemp("slips")
    play(root / "run", lineage(video()))
    (root / "clips").mkdir()
    assert invoke("freeze", root / "run", "--to", root / "bench").exit_code == 0
    return root


def ended(words: tuple[str, ...]) -> int:
    """Return the exit code of a command as the shell gets it."""
    command = load("simulate") if words[0] == "simulate" else arena
    typed = list(words[words[0] == "simulate" :])
    return guarded(lambda: command.main(typed, prog_name=words[0], standalone_mode=False))


@pytest.mark.parametrize(
    ("words", "told", "code"),
    [*((*case, 2) for case in TYPED), *((*case, 1) for case in FOUND)],
    ids=lambda case: " ".join(case)[:200] if isinstance(case, tuple) else None,
)
def test_a_slip_is_one_line_that_helps(
    words: tuple[str, ...],
    told: str,
    code: int,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(place)
    assert ended(words) == code
    said = capsys.readouterr()
    assert said.out == ""
    # What is wrong with the form of a command comes with how it is called.
    (line,) = [
        line
        for line in said.err.splitlines()
        if line and not line.startswith(("Usage: ", "Try ", "no models were", "name real ones"))
    ]
    assert told in line
    assert not (place / "new").exists()


def test_a_file_with_a_value_that_cannot_be_is_no_wrong_argument(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    (place / "odd.toml").write_text("[run]\nswap = 3.0\n")
    assert ended((*SIMULATE, "--config", "odd.toml")) == 1
    assert "odd.toml: run.swap must be less than or equal to 1" in capsys.readouterr().err
