"""Where words go: results to stdout, chatter to stderr, and nothing hostile to a terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

_WIDE = 10_000
"""Longer than a row of a table with the longest path there can be."""
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def safe(text: str, *, lines: bool = False) -> str:
    r"""Return `text` with every control, bidi and invalid character as a visible escape.

    Line feeds survive only when `lines` is set.
    """
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
    click.echo(text, err=True)


def folded(text: str, columns: int) -> str:
    """Return lines that fit a terminal; one with a command to copy stays whole."""
    return "\n".join(
        line
        if len(line) <= columns or ": arena " in line
        else textwrap.fill(
            line,
            columns,
            subsequent_indent=" " * (2 + len(line) - len(line.lstrip(" "))),
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in text.split("\n")
    )


def tell_lines(lines: Iterable[str]) -> None:
    """Print results that are sentences, broken between words to the width of the terminal.

    What says nothing of its width, such as a pipe, is 80 columns wide; an unbroken form is JSON.
    """
    click.echo(folded("\n".join(lines), shutil.get_terminal_size().columns))


def tell(text: str) -> None:
    """Print a result, as it is."""
    click.echo(text)
