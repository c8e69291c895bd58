"""What commands load before they answer: to read a run takes nothing that plays one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.played import battle, evolution, invoke, play, slot, video
from videoautoarena.memory.records.errors import install_command

PLAYING = frozenset({
    "langgraph", "langchain_core", "langchain_openai", "langchain_google_genai", "openai", "google",
    "httpx", "genai_prices", "av", "PIL", "decord", "scenedetect", "cv2", "sqlite_utils",
})  # fmt: skip
"""What runs are played with."""
COMPUTING = frozenset({"pandas", "pyarrow", "matplotlib", "sklearn", "joblib", "py3langid"})
"""What tables, pictures, themes and languages are made with, where they are asked for."""
READING = {
    "status": PLAYING | COMPUTING | {"scipy"},
    "battles": PLAYING | COMPUTING | {"scipy"},
    "show": PLAYING | COMPUTING,
    "leaderboard": PLAYING | COMPUTING,
}
EXTRAS = frozenset({
    "matplotlib", "sklearn", "pyarrow", "decord", "ray", "starlette", "uvicorn", "scenedetect",
    "cv2",
})  # fmt: skip
"""What extras install, and what only tests need."""
MOST_MODULES = 90
"""Of ours, for any command that reads a run; what plays one is some 200 more."""
LOADED = """
import json, sys
from videoautoarena.runs.cli.program import main
name, *sys.argv = sys.argv[1:]
sys.argv.insert(0, name)
try:
    getattr(main, f"{name}_main")()
except SystemExit as end:
    code = end.code
print(json.dumps([code, sorted(sys.modules)]))
"""


def loaded(*words: str | Path, folder: Path | None = None) -> tuple[int, Sequence[str]]:
    """Return the exit code of a command, and the modules that it has loaded."""
    line = [sys.executable, "-c", LOADED, *map(str, words)]
    done = subprocess.run(line, capture_output=True, text=True, check=True, cwd=folder)
    code, modules = json.loads(done.stdout.splitlines()[-1])
    return code, modules


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    films = [video(bytes([k])) for k in range(12)]
    battles = [battle(slot(film, 0, ordinal=k)) for k, film in enumerate(films)]
    return play(tmp_path_factory.mktemp("read") / "out", battles, videos=films)


@pytest.mark.parametrize(("command", "unwanted"), READING.items(), ids=READING)
def test_a_command_that_reads_a_run_loads_nothing_that_plays_one(
    command: str, unwanted: frozenset[str], out: Path
) -> None:
    code, modules = loaded("arena", command, out)
    assert code == 0
    assert sorted({name.partition(".")[0] for name in modules} & unwanted) == []
    ours = [name for name in modules if name.startswith("videoautoarena.") and name.count(".") > 2]
    assert 0 < len(ours) <= MOST_MODULES


def test_help_waits_for_no_record_and_a_status_for_no_provider(out: Path) -> None:
    helped, modules = loaded("simulate", "--help")
    assert (helped, "pydantic" in modules) == (0, False)
    said, modules = loaded("arena", "status", out)
    calling = ("registry", "catalogue", "transport.transport", "prompting.layout")
    assert said == 0
    assert [name for name in modules if name.endswith(calling)] == []


def test_a_wrong_key_in_the_file_is_told_before_anything_computes(tmp_path: Path) -> None:
    (tmp_path / "arena.toml").write_text("[run]\nroundz = 3\n")
    code, modules = loaded("simulate", "--videos", "clips", "--plan", folder=tmp_path)
    assert code == 1
    unwanted = PLAYING | COMPUTING | {"numpy", "scipy", "rich"}
    assert sorted({name.partition(".")[0] for name in modules} & unwanted) == []


def test_a_report_of_weaknesses_takes_no_extra(tmp_path: Path) -> None:
    film = video(b"0")
    first = battle(slot(film, 0))
    told = ("misses on-screen text", "misses the on-screen text in the corner", "hums")
    looked = evolution(first.id).model_copy(update={"weaknesses_a": told})
    battles = [first, battle(slot(film, 1), evolution=(looked,))]
    out = play(tmp_path / "out", battles, videos=[film])
    code, modules = loaded("arena", "report", out, "--to", tmp_path / "report.html")
    assert code == 0
    assert "videoautoarena.scoring.texts.themes" in modules
    assert sorted({name.partition(".")[0] for name in modules} & EXTRAS) == []


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("leaderboard", "OUT", "--picture", "TO"), "figures"),
        (("pictures", "OUT", "--to", "TO"), "figures"),
        (("freeze", "OUT", "--to", "TO", "--size", "2"), "text"),
        (("tasks", "make", "OUT", "--to", "TO"), "text"),
        (
            ("tasks", "make", "OUT", "--to", "TO", "--kind", "topic", "--examiner", "offline:owl"),
            "text",
        ),
    ],
)
def test_what_needs_an_extra_says_in_one_line_how_to_install_it(
    words: Sequence[str], extra: str, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("matplotlib", "sklearn"):
        monkeypatch.setitem(sys.modules, package, None)
    to = tmp_path / "made.svg"
    known = {"OUT": out, "TO": to}
    refused = str(invoke(*(known.get(word, word) for word in words)).exception)
    assert refused.endswith(f"; install it with: {install_command(extra)}")
    assert "\n" not in refused
    assert not to.exists()
