"""The terminal: safe text, lines that fit its width, and standard streams that lose nothing.

Chatter that nobody takes is dropped, and the work goes on. A result that cannot be written ends a
command that only reads; work that was paid for ends first, and its exit code says so.
"""

from __future__ import annotations

import errno
import io
import os
import re
import select
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, TextIO

import click
from typing_extensions import Buffer

if TYPE_CHECKING:
    from rich.console import Console


_WIDE = 10_000
"""Longer than a row of a table with the longest path there can be."""
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


LONGEST_LINE = 5000
"""Characters of one line of somebody else's text."""


def safe(text: str, *, lines: bool = False) -> str:
    """Return text with all but visible characters escaped; line feeds survive only with `lines`.

    One line of it ends somewhere, whatever somebody has called a thing.
    """
    if not lines and len(text) > LONGEST_LINE:
        text = f"{text[: LONGEST_LINE - 1]}…"
    if text.isprintable():
        return text
    return "".join(_shown(c, lines) for c in text)


def _shown(char: str, lines: bool) -> str:
    if lines and char == "\n":
        return char
    if unicodedata.category(char) not in _UNSAFE:
        return char
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


@cache
def out() -> Console:
    """Return the console of results (stdout)."""
    from rich.console import Console

    return Console(highlight=False, emoji=False, markup=False)


def whole_lines() -> Console:
    """Return a console of results that breaks no line where there is no terminal."""
    from rich.console import Console

    console = Console(highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        console.width = _WIDE
    return console


def say(text: str) -> None:
    """Print one line of chatter; on a terminal it is broken between words."""
    if sys.stderr.isatty():
        text = folded(text, shutil.get_terminal_size().columns)
    # Named, since click would look behind the stream with which a bar lets lines pass above it.
    click.echo(text, file=sys.stderr)


def say_before_publishing(what: str) -> None:
    """Say what to check of pictures that were just written."""
    # Two lines, of which none is wider than a terminal.
    say(f"{what}: before others get them,\ncheck licences, faces and personal data")


_COMMAND = re.compile(r"(?:^ *|: )(?:arena|simulate) ")


def folded(text: str, columns: int) -> str:
    """Return lines that fit a terminal; one with a command to copy stays whole."""
    return "\n".join(
        line
        if len(line) <= columns or _COMMAND.search(line)
        else textwrap.fill(
            line,
            columns,
            subsequent_indent=" " * (2 + len(line) - len(line.lstrip(" "))),
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in text.split("\n")
    )


def print_results(lines: Iterable[str]) -> None:
    """Print results that are sentences, broken between words to the width of the terminal.

    What says nothing of its width, such as a pipe, is 80 columns wide; an unbroken form is JSON.
    """
    click.echo(folded("\n".join(lines), shutil.get_terminal_size().columns))


def print_result(text: str) -> None:
    """Print a result, as it is."""
    click.echo(text)


_UNREAD = (errno.EPIPE, errno.EIO)
"""What a pipe without a reader says, and a terminal that was hung up."""


class ResultsLost(Exception):
    """Standard output is gone or full; no OSError, which libraries take for one of their own."""


class Chatter(io.FileIO):
    """Standard error: what cannot be written is dropped."""

    is_unread = False
    """Whoever read it is gone."""

    def write(self, data: Buffer) -> int:
        """Return as if all was written, whatever became of it."""
        try:
            return _written(self, data)
        except OSError as lost:
            self.is_unread = lost.errno in _UNREAD
            return memoryview(data).nbytes


class Results(io.FileIO):
    """Standard output: the first failure is kept, and nothing is written after it."""

    is_needed = True
    """A failure stops the command, since nothing else is to come of it."""
    lost: OSError | None = None

    def write(self, data: Buffer) -> int:
        """Return how much was written; all of it once nothing can be.

        Raises:
            ResultsLost: for the first time, where the results are needed.
        """
        if self.lost is None:
            try:
                return _written(self, data)
            except OSError as lost:
                self.lost = lost
                if self.is_needed:
                    raise ResultsLost from lost
        return memoryview(data).nbytes


def open_streams() -> None:
    """Put the streams of this module in the place of the standard ones; closed ones lead nowhere.

    Without that, the next file to be opened would take the number of a closed one, and with it
    whatever is printed. What a program has put in place of a standard one is left alone.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free: those below are open by now.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - for as long as the process lasts
    if sys.stdout is None or sys.stdout is sys.__stdout__:
        sys.stdout = _text(Results(1, "w", closefd=False), sys.stdout)
    if sys.stderr is None or sys.stderr is sys.__stderr__:
        sys.stderr = _text(Chatter(2, "w", closefd=False), sys.stderr)


def finish_though_unread() -> None:
    """Let lost results stop nothing from here on, where work leaves more than it prints."""
    results = _raw(sys.stdout)
    if isinstance(results, Results):
        results.is_needed = False


def lost_results() -> OSError | None:
    """Return why results could not be written; None where they were, or their reader went away."""
    results = _raw(sys.stdout)
    if not isinstance(results, Results):
        return None
    results.is_needed = False
    sys.stdout.flush()
    gone = results.lost is None or results.lost.errno in _UNREAD
    return None if gone else results.lost


def is_chatter_unread() -> bool:
    """Return whether nobody reads standard error any more, as far as the last line showed."""
    chatter = _raw(sys.stderr)
    return isinstance(chatter, Chatter) and chatter.is_unread


def _written(file: io.FileIO, data: Buffer) -> int:
    """Return how much was written, after a wait where whoever shares the file made that needed."""
    while (count := io.FileIO.write(file, data)) is None:
        select.select((), (file,), ())
    return count


def _text(file: io.FileIO, before: TextIO | None) -> io.TextIOWrapper:
    """Return a text stream into a file, in the manner of the one that stood there before."""
    return io.TextIOWrapper(
        io.BufferedWriter(file),
        encoding=before.encoding if before else "utf-8",
        errors=(before and before.errors) or "backslashreplace",
        line_buffering=before is None or bool(before.line_buffering),
        write_through=bool(getattr(before, "write_through", False)),
    )


def _raw(stream: TextIO | None) -> io.RawIOBase | None:
    """Return the file that a stream writes to in the end; None where a test put another there."""
    raw: io.RawIOBase | None = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw
