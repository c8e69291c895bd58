"""The worked example of the documents: a chat model of one's own plays a run."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.small_runs import battles_of
from tests.support.typed import Terminal
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.run.config.arena_file import ArenaFile, read_arena_file
from videoautoarena.runs.run.config.run_config import resolve
from videoautoarena.runs.run.config.run_request import RunRequest

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()
SERVERS, DECLARED, CAST, ENTRY_POINT = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.S | re.M)
(SOURCE,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.S | re.M)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the example's files, which Python finds, and one clip."""
    draw_folder(tmp_path / "clips", 1, seconds=2)
    (tmp_path / "brightness.py").write_text(SOURCE)
    (tmp_path / "arena.toml").write_text(CAST)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for module in ("brightness", "house"):
        sys.modules.pop(module, None)


def play(folder: Path, terminal: Terminal) -> list[Battle]:
    """Play the run of the page and return its battles."""
    (line,) = re.findall(r"^simulate (.*lamp-run)$", PAGE, re.M)
    done = terminal.simulate(*line.split())
    assert done.code == 0, done.err
    return battles_of(folder / "lamp-run")


def answers(battles: list[Battle]) -> list[str]:
    """Return what the lamp said."""
    pairs = ((b.model_a, b.answer_a) for b in battles), ((b.model_b, b.answer_b) for b in battles)
    return [said for seat in pairs for name, said in seat if name == "lamp" and said]


def test_a_class_that_is_declared_plays_a_whole_run(folder: Path, terminal: Terminal) -> None:
    said = answers(play(folder, terminal))
    assert len(said) == 3
    assert all(words.startswith("Brightness in 4 frames: ") for words in said)
    (folder / "brightness.py").unlink()
    sys.modules.pop("brightness")
    assert terminal.arena("replay", "lamp-run").code == 0


@pytest.mark.parametrize("name", ["anthropic", "vllm"])
def test_a_class_that_is_declared_by_a_built_in_name_plays_resumes_and_replays(
    name: str, folder: Path, terminal: Terminal
) -> None:
    (folder / "arena.toml").write_text(CAST.replace("house", name))
    assert len(answers(play(folder, terminal))) == 3
    # Without the table, whose class the run keeps.
    (folder / "arena.toml").unlink()
    resumed = terminal.arena("resume", "lamp-run", "--max-void", "1")
    assert resumed.code == 0, resumed.err
    assert terminal.arena("replay", "lamp-run").code == 0


def test_a_class_that_a_package_offers_plays_without_a_declaration(
    folder: Path, terminal: Terminal
) -> None:
    info = folder / "brightness-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brightness\nVersion: 1\n")
    head, named = ENTRY_POINT.splitlines()
    group = re.findall(r'"(.*)"', head)[0]
    (info / "entry_points.txt").write_text(f"[{group}]\n{named.replace(chr(34), '')}\n")
    (folder / "arena.toml").write_text(CAST[CAST.index("[models.") :])
    assert len(answers(play(folder, terminal))) == 3


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"brightness:', '"darkness:', "pip install darkness"),
        (":Brightness", ":Darkness", "names a class that is not there"),
        (":Brightness", ":Image", "no LangChain chat model"),
        ("max_frames = 4", "parameters = { seed = 3 }", "'seed', which brightness:Brightness"),
        ("house:plain", "mouse:plain", "'mouse:plain' is no model"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_1(
    folder: Path, terminal: Terminal, old: str, new: str, words: str
) -> None:
    (folder / "arena.toml").write_text(CAST.replace(old, new))
    said = terminal.simulate("--videos", "clips", "--allow-offline-judge", "--out", "o")
    assert said.code == 1
    assert words in said.err
    assert len(said.err.splitlines()) == 1
    assert not (folder / "o").exists()


def test_the_servers_of_the_page_stand_in_a_file_as_shown(tmp_path: Path) -> None:
    path = tmp_path / "arena.toml"
    path.write_text(SERVERS)
    models = list(read_arena_file(path).models)
    flags = RunRequest(models=tuple(models), examiner="openai:e", config=path)
    hosts = [entry.endpoint for entry in resolve(flags).config.cast.values()]
    assert hosts[:2] == ["127.0.0.1:8001", "127.0.0.1:8080"]


def test_the_declared_provider_of_the_page_is_kept_with_the_run(tmp_path: Path) -> None:
    path = tmp_path / "arena.toml"
    path.write_text(DECLARED)
    assert isinstance(read_arena_file(path), ArenaFile)
    flags = RunRequest(models=("vision", "offline:owl"), examiner="openai:e", config=path)
    config = resolve(flags).config
    model = config.model_of("vision")
    assert (model.endpoint, model.key_names) == ("cohere", ("COHERE_API_KEY",))
    kept = json.loads(json.dumps(config.manifest("0", {})))
    assert type(config).of_manifest(kept).model_dump() == config.model_dump()
