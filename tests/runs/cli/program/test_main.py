"""Exit codes and one-line errors, whatever path or file a command is given."""

from __future__ import annotations

import errno
import re
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.typed import Said, Terminal
from videoautoarena.runs.cli.program.main import COMMANDS, SECTIONS, guarded, load

READING = ("status", "leaderboard", "battles", "show", "replay", "resume", "freeze")
MORE = {"show": ("some-battle",), "freeze": ("--to", "bench")}
HOSTILE = "no\x1b[2J\nsuch\u202e"


@pytest.fixture
def terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Terminal:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "run.sqlite").write_text("not a run")
    return Terminal(capsys)


def is_one_safe_line(said: Said) -> bool:
    line = said.err.removesuffix("\n")
    return said.out == "" and line.isprintable() and line.startswith("arena: ")


@pytest.mark.parametrize("name", READING)
@pytest.mark.parametrize(
    "out", ["nowhere", "file", "file/sub", "empty", "foreign", "x" * 300, HOSTILE, ""]
)
def test_a_folder_without_a_run_is_one_line_and_exit_code_1(
    terminal: Terminal, name: str, out: str
) -> None:
    said = terminal.arena(name, out, *MORE.get(name, ()))
    assert said.code == 1
    assert is_one_safe_line(said)


@pytest.mark.parametrize(
    "words",
    [
        ("--videos", "x" * 300),
        ("--videos", HOSTILE),
        ("--videos", "empty", "--out", "x" * 300),
        ("--videos", "empty", "--out", "file"),
        ("--videos", "empty", "--out", "foreign"),
        ("--videos", "empty", "--prompts", "x" * 300),
        ("--videos", "empty", "--prompts", HOSTILE),
        ("--videos", "empty", "--config", HOSTILE),
        ("--videos", "empty", "--config", "empty"),
        ("--videos", "empty", "--models", f"{HOSTILE},offline:owl"),
    ],
)
def test_a_path_that_cannot_be_used_is_one_line_and_exit_code_1(
    terminal: Terminal, words: tuple[str, ...]
) -> None:
    said = terminal.simulate(*words)
    assert said.code == 1
    assert is_one_safe_line(said)


@pytest.mark.parametrize(("name", "folder"), [("samples", "file"), ("samples", "x" * 300)])
def test_samples_say_where_they_cannot_be_put(terminal: Terminal, name: str, folder: str) -> None:
    said = terminal.arena(name, folder)
    assert (said.code, is_one_safe_line(said)) == (1, True)


@pytest.mark.parametrize("bench", ["nowhere", "file", "empty", "x" * 300, HOSTILE])
def test_a_bench_that_is_none_is_one_line(terminal: Terminal, bench: str) -> None:
    said = terminal.arena("bench", "verify", bench)
    assert said.code == 1
    assert "Traceback" not in said.err


@pytest.mark.parametrize("name", COMMANDS)
def test_a_flag_that_is_unknown_is_a_matter_of_usage(terminal: Terminal, name: str) -> None:
    said = terminal.arena(name, "--no-such-flag") if name != "simulate" else terminal.simulate("-Z")
    assert said.code == 2
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("typed", "meant"), [("leaderbord", "leaderboard"), ("stauts", "status"), ("freez", "freeze")]
)
def test_a_slip_in_a_command_is_told_what_was_meant(
    terminal: Terminal, typed: str, meant: str
) -> None:
    said = terminal.arena(typed)
    assert said.code == 2
    assert f"No such command '{typed}'. Did you mean '{meant}'?" in said.err


def test_what_is_like_no_command_is_not_guessed_at(terminal: Terminal) -> None:
    said = terminal.arena("xyzzy")
    assert (said.code, "Did you mean" in said.err) == (2, False)


def test_both_commands_tell_their_version(terminal: Terminal) -> None:
    told = version("videoautoarena")
    assert terminal.simulate("--version").out == f"simulate, version {told}\n"
    assert terminal.arena("--version").out == f"arena, version {told}\n"


def raising(error: BaseException) -> Said:
    def run() -> None:
        raise error

    return Said(guarded(run), "", "")


def denied(path: object) -> OSError:
    error = OSError(errno.EACCES, "Permission denied")
    error.filename = path
    return error


@pytest.mark.parametrize("group", ["bench", "cache", "dialogues", "import", "labels"])
def test_a_group_lists_its_commands_with_whole_sentences(terminal: Terminal, group: str) -> None:
    commands = terminal.arena(group, "--help").out.split("Commands:")[1].split("Example")[0]
    assert "..." not in commands
    assert commands.rstrip().endswith(".")


def test_what_the_system_refuses_is_named_with_its_path(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert raising(denied("/root/\x1bx")).code == 1
    assert capsys.readouterr().err == "arena: /root/\\x1bx cannot be used: Permission denied\n"


@pytest.mark.parametrize(
    "bug", [denied(None), denied(7), OSError(errno.EBADF, "bad", "x"), KeyError("x")]
)
def test_anything_else_is_a_bug_with_its_trace(
    capsys: pytest.CaptureFixture[str], bug: Exception
) -> None:
    assert raising(bug).code == 70
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert "please report it" in told.splitlines()[-1]


def test_an_interrupt_says_what_to_type(capsys: pytest.CaptureFixture[str]) -> None:
    assert raising(KeyboardInterrupt()).code == 130
    assert "repeat the command" in capsys.readouterr().err


def test_the_list_of_commands_has_each_in_one_section(terminal: Terminal) -> None:
    said = terminal.arena("--help").out
    for title, commands in SECTIONS.items():
        section = said.split(f"{title}:\n")[1].split("\n\n")[0]
        assert [line.split()[0] for line in section.splitlines()] == list(commands)


def test_simulate_lists_what_is_played_first_and_leaves_no_option_out_of_a_section(
    terminal: Terminal,
) -> None:
    said = terminal.simulate("--help").out
    titles = re.findall(r"^(\S.*):$", said, re.MULTILINE)
    assert titles[:2] == ["What is played", "Who plays"]
    below = said.split("Options:\n")[1].split("\n\n")[0]
    assert re.findall(r"--[a-z-]+", below) == ["--version", "--help"]
    named = {name for param in load("simulate").params for name in param.opts}
    assert named <= set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", said))
