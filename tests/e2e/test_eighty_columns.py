"""Whatever a command says to a person who reads fits 80 columns, in a pipe as on a terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.support.clips import draw_folder
from tests.support.played import battle, call, invoke, manifest, slot, video
from tests.support.played import play as lay
from tests.support.small_runs import play
from videoautoarena.memory.records.errors import ArenaError
from videoautoarena.runs.run.config.arena_file import ArenaFile
from videoautoarena.runs.run.config.cast import entry_of

pytestmark = pytest.mark.slow

MODELS = ("offline:hawk", "offline:mole", "offline:blind", "offline:parrot", "offline:windbag")
LONG = ("openrouter:qwen/qwen2.5-vl-72b-instruct", "google_genai:gemini-2.5-flash-preview", "own")
SLICES = (
    "duration",
    "category",
    "round",
    "origin",
    "persona",
    "format",
    "pair",
    "judge",
    "standard",
)
OF_A_RUN = (
    *(
        "status {}",
        "battles {}",
        "battles {} --sort surprise",
        "show {} {id}",
        "show {}",
        "audit {}",
        "labels show {}",
        "agree {} {}",
    ),
    *("leaderboard {}", "leaderboard {} --details --elo --pairs --simultaneous"),
    *("leaderboard {} --style --seats --ties davidson --anchor {model}", "export {} --help"),
    *(f"leaderboard {{}} --by {by} --details" for by in SLICES),
    "pictures {} --to pictures --force",
)
OF_A_BENCH = (
    *("bench verify bench", "bench verify other", "bench score bench", "bench check bench"),
    *("bench score bench --by duration", "bench check bench --run run", "bench diff bench third"),
    *("bench compare bench hawk mole", "freeze run --to bench", "freeze run --to new --size 2"),
    "bench run bench --videos clips --model hawk,mole --judge judge --plan",
)
OF_NOTHING = (
    *("videos clips", "frames clips/clip00.mp4 --to sheet.png --force", "cache", "doctor"),
    *(
        "doctor --videos clips",
        "power --tournaments 10 --models 3 --battles 500",
        "rate battles.csv --pairs",
    ),
    *("rate battles.csv --elo", "simulate --videos clips --models {cast} --out plan --plan"),
    *("add run --model offline:trickster --battles 2 --plan", "rejudge run --judge judge --plan"),
    *("audit run --trials --plan", "replay run", "resume run", "--help", "show run zzz"),
    *("leaderboard nowhere", "bench score other", "add run --model hawk"),
)


REFUSED = ("show run zzz", "leaderboard nowhere", "bench score other", "add run --model hawk")
"""A line of what to do; how it ends is tested with the other slips."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a run, one of long names in which much failed, a bench and results on it."""
    root = tmp_path_factory.mktemp("eighty")
    here = Path.cwd()
    os.chdir(root)
    draw_folder(root / "clips", 2)
    play(Path("clips"), Path("run"), models=MODELS, rounds=3, swap=0.5)
    lay(Path("lost"), _lost(), settings=_settings(), videos=FILMS, calls=_calls())
    for to in ("bench", "other", "third"):
        size = [] if to == "bench" else ["--size", 3]
        assert invoke("freeze", "run", "--to", to, *size).exit_code == 0
    told = invoke("bench", "run", "bench", "--videos", "clips", "--model", ",".join(MODELS), "-q")
    assert told.exit_code == 0, told.output
    with (root / "other" / "questions.jsonl").open("a") as questions:
        questions.write("{}\n")
    (root / "battles.csv").write_text(
        "model_a,model_b,winner\n" + f"{LONG[0]},{LONG[1]},model_a\n{LONG[1]},{LONG[0]},tie\n" * 9
    )
    yield root
    os.chdir(here)


FILMS = [
    video(b"1", path="a folder/of some depth/" + "a-clip-with-a-long-name-" * 3 + ".mp4"),
    video(b"2", path="b.mp4", duration_s=4000.0),
]


def _settings() -> dict[str, Any]:
    judges = ("openai:gpt-4.1-of-some-late-day", "openai:o4-mini")
    boss = "openai:gpt-4.1"
    cast = {
        name: entry_of(name if ":" in name else "openai:own", ArenaFile()).model_dump(mode="json")
        for name in (
            "offline:hawk",
            *(n.replace("openrouter", "openai") for n in LONG),
            *judges,
            boss,
        )
    }
    names = [name.replace("openrouter", "openai") for name in LONG]
    return manifest(models=names, cast=cast, judges=[*judges], examiner=boss, offline=False)


def _lost() -> list[Any]:
    names = [name.replace("openrouter", "openai") for name in LONG]
    why = "no judge decided: openai:gpt-4.1-of-some-late-day (ab): http-500: the server is busy"
    ends = ("a", "b", "tie_bad", "void", "forfeit_a", "split", "void", "forfeit_b", "tie")
    return [
        battle(
            slot(film, k),
            model_a=names[k % 3],
            model_b=names[(k + 1) % 3],
            verdict=end,
            reason=f"{why} {k % 2}" if end[0] in "vf" else None,
        )
        for film in FILMS
        for k, end in enumerate(ends)
    ]


def _calls() -> list[Any]:
    at = slot(FILMS[0], 0).id
    return [call(at, alias=name, cost_usd=123.456) for name in _settings()["cast"]]


def wide(text: str) -> list[str]:
    """Return the lines beyond 80 columns that could have been broken.

    What cannot is one word, such as a path behind a short title, and a command to be copied.
    """
    return [
        line
        for line in text.splitlines()
        if cell_len(line.rstrip()) > 80
        and cell_len(line.strip()) - max(map(cell_len, line.split())) > len("frame cache: ")
        and not re.search(r"(^ *|: )(arena|simulate) ", line)
    ]


def broken_tables(text: str) -> list[str]:
    """Return rows that reach beyond the rule of their table, and cells that were cut."""
    rows = text.splitlines()
    found = []
    room = 0
    for line in rows:
        if re.fullmatch(r"─{8,} *", line):
            room = cell_len(line.rstrip())
        elif not line.strip() or re.match(r"\S+:? [a-z]+ ", line):
            room = 0
        elif room and cell_len(line.rstrip()) > room:
            found.append(line)
    return [*found, *(line for line in rows if "…" in line)]


def filled(words: str, of: str) -> list[str]:
    long = of == "lost"
    film = FILMS[0] if long else None
    first = (
        slot(film, 3).id
        if film
        else invoke("battles", of, "--format", "csv").output.split("\n")[1].split(",")[0]
    )
    model = "own" if long else "hawk"
    told = words.replace("{}", of).replace("{id}", first).replace("{model}", model)
    return told.replace("{cast}", ",".join(MODELS)).split()


@pytest.mark.parametrize(
    ("words", "of"),
    [
        *((words, "run") for words in (*OF_A_RUN, *OF_A_BENCH, *OF_NOTHING)),
        *((words, "lost") for words in OF_A_RUN),
    ],
)
def test_no_line_of_it_is_wider_and_no_table_is_broken(place: Path, words: str, of: str) -> None:
    typed = filled(words, of)
    said = invoke(*typed)
    assert said.exit_code != 70, said.exception
    if said.exception is not None and not isinstance(said.exception, SystemExit):
        assert isinstance(said.exception, ArenaError)
        assert "\n" not in str(said.exception)
        assert words in REFUSED or of == "lost"
        return
    assert wide(said.output) == []
    if "--plan" not in typed:
        assert broken_tables(said.output) == []


@pytest.mark.parametrize(
    ("words", "of"), [("audit {}", "run"), ("leaderboard {} --details", "lost")]
)
def test_a_pipe_that_says_nothing_of_its_width_is_as_wide(place: Path, words: str, of: str) -> None:
    arena = Path(sys.executable).with_name("arena")
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run(
        [arena, *filled(words, of)],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert wide(done.stdout + done.stderr) == []
    assert broken_tables(done.stdout) == []
