"""One sentence for who types commands and for who calls functions, each with words to use."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from inspect import isclass, signature
from pathlib import Path
from typing import is_typeddict

import pytest

import videoautoarena as va
from tests.support.played import invoke
from videoautoarena.memory.records.remedies import _CALLS, commands_typed, option, step
from videoautoarena.runs.cli.program.main import load

ROOT = Path(va.__file__).parents[2]
ROOMS = ("agents", "graph", "memory", "runs", "video")


@pytest.mark.parametrize(
    ("argument", "flag"),
    [
        (("videos",), "--videos"),
        (("seed", 7), "--seed 7"),
        (("policy", "uniform"), "--policy uniform"),
        (("retry_failed", True), "--retry-failed"),
        (("subtitles", False), "--no-subtitles"),
        (("trust", "1f"), "--trust-run 1f"),
    ],
)
def test_an_option_is_a_flag_to_who_types_and_an_argument_to_who_calls(
    argument: tuple[str, object], flag: str
) -> None:
    name, *value = argument
    assert option(*argument) == f"{name}={''.join(map(repr, value))}"
    with commands_typed():
        assert option(*argument) == flag


def test_an_option_may_have_another_flag_in_a_command() -> None:
    assert option("models", flag="--model") == "models="
    with commands_typed():
        assert option("models", flag="--model") == "--model"


def test_a_step_is_a_command_or_a_call_with_its_words_quoted() -> None:
    again = ("resume", "my run")
    assert step(*again, retry_failed=True) == "va.simulate(out='my run', retry_failed=True)"
    assert step("bench run") == "bench.run(..)"
    assert step("bench verify", "set") == "arena bench verify set"
    with commands_typed():
        assert step(*again, retry_failed=True) == "arena resume 'my run' --retry-failed"
        assert step("bench run") == "arena bench run"
        assert step("add", "run", model="a b") == "arena add run --model 'a b'"


def test_a_command_inside_of_another_leaves_its_reader_to_the_outer_one() -> None:
    with commands_typed():
        with commands_typed():
            pass
        assert option("out") == "--out"
    assert option("out") == "out="


def test_a_command_s_own_words_are_flags_and_those_after_it_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = invoke("simulate", "--videos", tmp_path, "--models", "offline:owl")
    assert "name two or more with --models" in str(refused.exception)
    with pytest.raises(va.BadInput, match="name two or more with models="):
        va.simulate(tmp_path, models=["offline:owl"], quiet=True)


def test_every_call_that_a_step_names_is_there_and_so_is_its_command() -> None:
    for command, call in _CALLS.items():
        of, _, name = call.rpartition(".")
        assert hasattr(va if of == "va" else va.Bench, name), call
        first, _, second = command.partition(" ")
        group = load(first)
        assert not second or second in getattr(group, "commands", {}), command


@cache
def arguments() -> frozenset[str]:
    """Every argument that a program has."""
    shown = [getattr(va, name) for name in va.__all__]
    methods = [pair for one in (va.Run, va.Bench) for pair in vars(one).items()]
    calls = [*shown, *(method for name, method in methods if not name.startswith("_"))]
    names = set(va.RunRequest.model_fields)
    for call in calls:
        if is_typeddict(call):
            names |= call.__annotations__.keys()
        elif callable(call) and not (isclass(call) and issubclass(call, Exception)):
            names |= signature(call).parameters.keys()
    return frozenset(names)


@cache
def trees() -> dict[Path, ast.Module]:
    files = [file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))]
    return {file: ast.parse(file.read_text()) for file in files if "cli" not in file.parts}


def raised(tree: ast.Module) -> Iterator[str]:
    """Yield the texts in what is raised."""
    for node in ast.walk(tree):
        for part in ast.walk(node) if isinstance(node, ast.Raise) else ():
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.value


def test_no_error_spells_the_flag_of_what_a_program_has_an_argument_for() -> None:
    spelt = [
        (str(file.relative_to(ROOT)), flag)
        for file, tree in trees().items()
        for text in raised(tree)
        for flag in re.findall(r"(?<![\w-])--([a-z][a-z-]*)", text)
        if flag.replace("-", "_") in arguments()
    ]
    assert spelt == []


def test_every_option_that_is_named_is_an_argument_of_a_call() -> None:
    named = {
        node.args[0].value
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "option"
        and isinstance(node.args[0], ast.Constant)
    }
    assert len(named) > 40
    assert named - arguments() == set()
