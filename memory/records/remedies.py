"""What a remedy calls a setting or a step: an option and a command, or an argument and a call.

The sentence is the same for both readers; only what they are to type differs. A process speaks to
one of them, for its threads that decode or serve have the reader of the one that began them. What
is kept in a file, or said by another process, names neither.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager


class _Reader:
    types_commands = False


@contextmanager
def commands_typed() -> Iterator[None]:
    """Speak to somebody who types commands, until the block ends; before it, to a program."""
    before = _Reader.types_commands
    _Reader.types_commands = True
    try:
        yield
    finally:
        _Reader.types_commands = before


_FLAGS = {"trust": "--trust-run"}
"""Arguments whose option has another name."""
_CALLS = {
    "add": "va.add",
    "bench": "va.open_bench",
    "bench probe": "bench.probe",
    "bench run": "bench.run",
    "bench score": "bench.score",
    "categories check": "va.check_tags",
    "categories tag": "va.tag",
    "freeze": "va.freeze",
    "resume": "va.simulate",
}
"""Commands that a program has a call for; of the others it is told the command."""


def option(name: str, value: object = None, *, flag: str | None = None) -> str:
    """Return how an argument is named, or given a value: `--seed 7` and `seed=7`.

    One that is on or off is given as True or False: `--retry-failed` and `retry_failed=True`.
    `flag` is the option where it has another name in this command than in others.
    """
    if not _Reader.types_commands:
        return f"{name}={'' if value is None else repr(value)}"
    typed = flag or _FLAGS.get(name) or f"--{name.replace('_', '-')}"
    if value is False:
        return typed.replace("--", "--no-", 1)
    return typed if value is None or value is True else f"{typed} {value}"


def step(command: str, *words: str, **options: object) -> str:
    """Return what does what a command does: `arena add RUN` and `va.add('RUN')`.

    Words and values are quoted as they have to be, and not made fit for a terminal.
    """
    call = _CALLS.get(command)
    if _Reader.types_commands or call is None:
        quoted = {
            name: shlex.quote(value) if isinstance(value, str) else value
            for name, value in options.items()
        }
        typed = [option(name, value) for name, value in quoted.items()]
        return " ".join(["arena", command, *map(shlex.quote, words), *typed])
    # A run is gone on with by naming where it lies.
    first = "out=" if command == "resume" else ""
    given = [f"{first}{word!r}" for word in words]
    given += [option(name, value) for name, value in options.items()]
    return f"{call}({', '.join(given) or '..'})"
