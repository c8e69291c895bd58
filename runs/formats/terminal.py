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
    from rich.console import Console, RenderableType


_WIDE = 10_000
"""Columns; wider than a row of a table with the longest possible path."""
# Controls, invisible signs, what is no character, and separators of lines: each may move a cursor,
# turn the direction of text or hide some of it.
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


LONGEST_LINE = 5000
"""The most characters that are shown of one line of text."""


def safe(text: str, *, lines: bool = False) -> str:
    """Return text with all but visible characters escaped; line feeds survive only with `lines`.

    Without `lines` it is cut at `LONGEST_LINE` characters.
    """
    if not lines and len(text) > LONGEST_LINE:
        text = f"{text[: LONGEST_LINE - 1]}…"
    # Nearly all text is, and is spared the look at each character.
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

    # Names of models and files may hold what rich takes for markup or an emoji.
    return Console(highlight=False, emoji=False, markup=False)


def whole_lines() -> Console:
    """Return a console of results that breaks lines on a terminal alone."""
    from rich.console import Console

    console = Console(highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        console.width = _WIDE
    return console


def rendered(view: RenderableType, columns: int) -> list[str]:
    """Return what is shown on a terminal of so many columns as plain lines, without colours."""
    from rich.console import Console

    text = io.StringIO()
    console = Console(
        file=text, width=columns, color_system=None, highlight=False, emoji=False, markup=False
    )
    console.print(view)
    return [line.rstrip() for line in text.getvalue().splitlines()]


def say(text: str) -> None:
    """Print one line of chatter to stderr; on a terminal it is broken between words."""
    if sys.stderr.isatty():
        text = folded(text, shutil.get_terminal_size().columns)
    # Named, since click would look behind the stream with which a bar lets lines pass above it.
    click.echo(text, file=sys.stderr)


def say_before_publishing(what: str) -> None:
    """Tell the user what to check in pictures that were just written."""
    # Two lines, of which none is wider than a terminal.
    say(f"{what}: before others get them,\ncheck licences, faces and personal data")


_COMMAND = re.compile(r"(?:^ *|: )(?:arena|simulate) ")


def folded(text: str, columns: int) -> str:
    """Return text folded to `columns`; a line with a command to copy stays whole."""
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

    A pipe counts as 80 columns wide unless `COLUMNS` says otherwise; JSON is never broken.
    """
    click.echo(folded("\n".join(lines), shutil.get_terminal_size().columns))


def print_result(text: str) -> None:
    """Print a result as it is."""
    click.echo(text)


_UNREAD = (errno.EPIPE, errno.EIO)
"""Errors of a pipe without a reader, and of a terminal that was hung up."""


class ResultsLost(Exception):
    """Standard output is gone or full; no OSError, which libraries would catch as their own."""


class Chatter(io.FileIO):
    """Standard error, which drops what cannot be written."""

    is_unread = False
    """Whether its reader is gone, as far as the last line showed."""

    def write(self, data: Buffer) -> int:
        """Write what can be written, and return as if all of it was."""
        try:
            return _written(self, data)
        except OSError as lost:
            self.is_unread = lost.errno in _UNREAD
            return memoryview(data).nbytes


class Results(io.FileIO):
    """Standard output, which keeps its first failure and writes nothing after it."""

    is_needed = True
    """Whether a failure stops the command, which does nothing but print."""
    lost: OSError | None = None

    def write(self, data: Buffer) -> int:
        """Return how many bytes were written; pretend that all were after a failure.

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
    """Replace the standard streams by those of this module; closed ones lead nowhere.

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
    """Let lost results stop nothing from here on: the work leaves more than it prints."""
    results = _raw(sys.stdout)
    if isinstance(results, Results):
        results.is_needed = False


def lost_results() -> OSError | None:
    """Return why results could not be written; None if they were, or their reader went away."""
    results = _raw(sys.stdout)
    if not isinstance(results, Results):
        return None
    results.is_needed = False
    # What is still in the buffer may be the first that cannot be written.
    sys.stdout.flush()
    gone = results.lost is None or results.lost.errno in _UNREAD
    return None if gone else results.lost


def is_chatter_unread() -> bool:
    """Return whether nobody reads standard error any more, as far as the last line showed."""
    chatter = _raw(sys.stderr)
    return isinstance(chatter, Chatter) and chatter.is_unread


def _written(file: io.FileIO, data: Buffer) -> int:
    """Return how many bytes were written; wait while a non-blocking file takes none."""
    # A program that shares the terminal may have made it non-blocking; what does not fit would be
    # lost.
    while (count := io.FileIO.write(file, data)) is None:
        select.select((), (file,), ())
    return count


def _text(file: io.FileIO, before: TextIO | None) -> io.TextIOWrapper:
    """Return a text stream into a file with the settings of the stream that it replaces."""
    return io.TextIOWrapper(
        io.BufferedWriter(file),
        encoding=before.encoding if before else "utf-8",
        errors=(before and before.errors) or "backslashreplace",
        line_buffering=before is None or bool(before.line_buffering),
        write_through=bool(getattr(before, "write_through", False)),
    )


def _raw(stream: TextIO | None) -> io.RawIOBase | None:
    """Return the raw file behind a stream; None if it is another kind of stream, as in a test."""
    raw: io.RawIOBase | None = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw
