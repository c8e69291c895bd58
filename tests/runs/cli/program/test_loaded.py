"""What commands load before they answer: to read a run takes nothing that plays one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence, Set
from pathlib import Path
from typing import NamedTuple

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
MOST_MODULES = 110
"""Of ours, for the commands that read a run together; what plays one is some 200 more."""
LOADED = """
import json, os, sys
from videoautoarena.runs.cli.program import main
for is_apart, folder, name, *words in json.loads(sys.argv[1]):
    if is_apart and os.fork():
        os.wait()
        continue
    os.chdir(folder)
    sys.argv = [name, *words]
    try:
        getattr(main, f"{name}_main")()
    except SystemExit as end:
        code = end.code
    print("\\n" + json.dumps([code, sorted(sys.modules)]), flush=True)
    if is_apart:
        os._exit(0)
"""


class Loaded(NamedTuple):
    """How a command ended, and the modules that it and those before it have loaded."""

    code: int
    modules: Sequence[str]

    def holds(self, packages: Set[str]) -> list[str]:
        """Return which of these packages it has loaded."""
        return sorted({name.partition(".")[0] for name in self.modules} & packages)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    films = [video(bytes([k])) for k in range(12)]
    battles = [battle(slot(film, 0, ordinal=k)) for k, film in enumerate(films)]
    return play(tmp_path_factory.mktemp("read") / "out", battles, videos=films)


@pytest.fixture(scope="module")
def loaded(out: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Loaded]:
    """Type commands one after the other: each has what those before it loaded, unless apart."""
    place = tmp_path_factory.mktemp("place")
    (place / "arena.toml").write_text("[run]\nroundz = 3\n")
    film = video(b"0")
    first = battle(slot(film, 0))
    told = ("misses on-screen text", "misses the on-screen text in the corner", "hums")
    looked = evolution(first.id).model_copy(update={"weaknesses_a": told})
    weak = play(place / "weak", [first, battle(slot(film, 1), evolution=(looked,))], videos=[film])
    lines: dict[str, tuple[object, ...]] = {
        "help": ("", place, "simulate", "--help"),
        "wrong key": ("apart", place, "simulate", "--videos", "clips", "--plan"),
        **{name: ("", place.parent, "arena", name, out) for name in READING},
        "report": ("", place.parent, "arena", "report", weak, "--to", place / "report.html"),
    }
    typed = json.dumps([list(map(str, line)) for line in lines.values()])
    line = [sys.executable, "-c", LOADED, typed]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    told_of = [json.loads(one) for one in done.stdout.splitlines() if one.startswith("[")]
    return {name: Loaded(*one) for name, one in zip(lines, told_of, strict=True)}


@pytest.mark.parametrize(("command", "unwanted"), READING.items(), ids=READING)
def test_a_command_that_reads_a_run_loads_nothing_that_plays_one(
    command: str, unwanted: frozenset[str], loaded: dict[str, Loaded]
) -> None:
    done = loaded[command]
    assert done.code == 0
    assert done.holds(unwanted) == []
    names = [name for name in done.modules if name.startswith("videoautoarena.")]
    assert 0 < sum(name.count(".") > 2 for name in names) <= MOST_MODULES


def test_help_waits_for_no_record_and_a_status_for_no_provider(loaded: dict[str, Loaded]) -> None:
    assert (loaded["help"].code, "pydantic" in loaded["help"].modules) == (0, False)
    calling = ("registry", "catalogue", "transport.transport", "prompting.layout")
    assert loaded["status"].code == 0
    assert [name for name in loaded["status"].modules if name.endswith(calling)] == []


def test_a_wrong_key_in_the_file_is_told_before_anything_computes(
    loaded: dict[str, Loaded],
) -> None:
    assert loaded["wrong key"].code == 1
    assert loaded["wrong key"].holds(PLAYING | COMPUTING | {"numpy", "scipy", "rich"}) == []


def test_a_report_of_weaknesses_takes_no_extra(loaded: dict[str, Loaded]) -> None:
    assert loaded["report"].code == 0
    assert "videoautoarena.scoring.texts.themes" in loaded["report"].modules
    assert loaded["report"].holds(EXTRAS) == []


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("leaderboard", "OUT", "--picture", "TO"), "figures"),
        (("pictures", "OUT", "--to", "TO"), "figures"),
        (("freeze", "OUT", "--to", "TO", "--size", "2"), "text"),
        (("topics", "OUT"), "text"),
        (("report", "OUT", "--topics"), "text"),
        (("leaderboard", "OUT", "--by", "topic"), "text"),
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
