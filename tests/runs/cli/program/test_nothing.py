"""Every command on nothing: an empty folder, file, run or set, or what is not there at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.support.judged import bench_of
from tests.support.played import play
from tests.support.typed import Said, Terminal
from videoautoarena.runs.cli.program.main import COMMANDS, load

pytestmark = pytest.mark.slow
AWAY = {"demo", "samples", "power", "doctor", "cache"}
"""Commands that need nothing."""
SERVED = {"view", "annotate"}
"""Commands that serve a page of what is there until somebody interrupts."""
NOTHING = ("empty", "file.csv", "blank-run", "blank-set", "gone")
"""What no command can make anything of."""
LITTLE = ("unplayed", "unscored")
"""A run that begins with its first battle, and a bench that no model has answered."""


def leaves() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield the words and the command of each that does something, those of groups as well."""
    for name in COMMANDS:
        found = load(name)
        if isinstance(found, click.Group):
            yield from (((name, below), one) for below, one in found.commands.items())
        else:
            yield (name,), found


LEAVES = [(words, command) for words, command in leaves() if words[0] not in AWAY]


def typed(words: tuple[str, ...], command: click.Command, thing: str) -> list[str]:
    """Return a line that names `thing` wherever the command must be told a file or a folder."""
    line = list(words)
    for given in command.params:
        if not given.required:
            continue
        if isinstance(given, click.Argument):
            line.append(thing)
        else:
            line += [given.opts[0], value_of(given, thing)]
    return line


def value_of(option: click.Parameter, thing: str) -> str:
    """Return a value that a required option takes."""
    if option.opts[0] in ("--to", "--out"):
        return "made"
    if isinstance(option.type, click.Path):
        return thing
    if isinstance(option.type, click.Choice):
        return str(option.type.choices[0])
    return "1" if option.type in (click.INT, click.FLOAT) else "offline:judge"


def lines(words: tuple[str, ...], command: click.Command, thing: str) -> Iterator[list[str]]:
    """Yield the command plain, with --json and with --plan, where it has them."""
    flags = {name for given in command.params for name in given.opts}
    for more in ([], ["--json"], ["--plan"], ["--plan", "--json"]):
        if flags.issuperset(more):
            yield [*typed(words, command, thing), *more]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("nothing")
    (place / "empty").mkdir()
    (place / "file.csv").touch()
    (place / "blank-run").mkdir()
    (place / "blank-run/run.sqlite").touch()
    (place / "blank-set").mkdir()
    (place / "blank-set/manifest.json").touch()
    (place / "blank-set/questions.jsonl").touch()
    play(place / "unplayed", [])
    bench_of(place / "of-unscored", 1)
    (place / "of-unscored/bench").rename(place / "unscored")
    return place


@pytest.fixture
def terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: Path
) -> Terminal:
    monkeypatch.chdir(place)
    return Terminal(capsys)


@pytest.mark.parametrize(("words", "command"), LEAVES, ids=[" ".join(words) for words, _ in LEAVES])
def test_a_command_on_nothing_says_so_in_one_line(
    terminal: Terminal, place: Path, words: tuple[str, ...], command: click.Command
) -> None:
    before = sorted(place.rglob("*"))
    for number, thing in enumerate(NOTHING):
        plain, *forms = lines(words, command, thing)
        # Each form meets some kind of nothing, and the plain line every kind.
        for line in (plain, *forms[number % 3 : number % 3 + 1]):
            check(terminal.arena(*line), line)
    assert sorted(place.rglob("*")) == before, "what was refused has left something behind"


def check(said: Said, line: list[str]) -> None:
    """Hold a refusal to one line that says what to do; a usage error shows the usage above it."""
    if line[0] == "videos" and said.code == 0:
        assert "no usable video" in said.out or '"videos": []' in said.out
        return
    if line[:2] == ["bench", "verify"] and said.out:
        assert said.code == 1
        assert "not intact: " in said.out or '"problems"' in said.out
        return
    assert said.code in (1, 2), (line, said)
    assert said.out == "", (line, said)
    *above, last = said.err.splitlines()
    assert not above or said.code == 2, (line, said)
    assert re.match("(arena|Error): ", last), (line, said)


@pytest.mark.parametrize("thing", LITTLE)
@pytest.mark.parametrize(
    ("words", "command"),
    [leaf for leaf in LEAVES if leaf[0][0] not in SERVED],
    ids=[" ".join(words) for words, _ in LEAVES if words[0] not in SERVED],
)
def test_a_command_on_what_holds_little_ends_without_a_trace(
    terminal: Terminal, words: tuple[str, ...], command: click.Command, thing: str
) -> None:
    for line in lines(words, command, thing):
        said = terminal.arena(*line)
        assert said.code in (0, 1, 2), (line, said)
        assert "Traceback" not in said.err, (line, said)
