"""Commands as a person types them, run inside the test's process."""

from __future__ import annotations

from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from tests.support.whole_runs import KEY
from videoautoarena.runs.cli.program.main import arena, guarded, load
from videoautoarena.runs.formats import terminal


@dataclass(frozen=True)
class Said:
    """What a command came to."""

    code: int
    out: str
    err: str


def run(name: str, *words: str | Path) -> str:
    """Run `simulate` or `arena` to its good end and return its stdout."""
    command = load("simulate") if name == "simulate" else arena
    typed = [str(word) for word in words]
    terminal.out.cache_clear()
    with pytest.MonkeyPatch.context() as env, redirect_stdout(StringIO()) as said:
        env.setenv("LOOPBACK_KEY", KEY)
        code = guarded(lambda: command.main(typed, prog_name=name, standalone_mode=False))
    terminal.out.cache_clear()
    assert code == 0, f"{name} {typed} ended with {code}:\n{said.getvalue()[-3000:]}"
    return said.getvalue()


class Terminal:
    """Runs `simulate` and `arena` and catches what they say."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def simulate(self, *words: str | Path) -> Said:
        """Type `simulate` and the words."""
        command = load("simulate")
        typed = [str(word) for word in words]
        return self._run(lambda: command.main(typed, prog_name="simulate", standalone_mode=False))

    def arena(self, *words: str | Path) -> Said:
        """Type `arena` and the words."""
        typed = [str(word) for word in words]
        return self._run(lambda: arena.main(typed, prog_name="arena", standalone_mode=False))

    def _run(self, command: object) -> Said:
        self._capture.readouterr()
        terminal.out.cache_clear()
        code = guarded(command)  # type: ignore[arg-type]
        said = self._capture.readouterr()
        return Said(code, said.out, said.err)
