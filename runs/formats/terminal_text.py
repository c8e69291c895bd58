"""Text in so many cells of a terminal: cut or filled up, with the signs that it can show."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from videoautoarena.runs.formats.terminal import safe


@dataclass(frozen=True)
class Marks:
    """The signs that a terminal can show."""

    cut: str = "…"
    line: str = "─"
    dot: str = "●"
    left: str = "◂"
    right: str = "▸"
    full: str = "━"
    rest: str = "─"
    between: str = "·"


UNICODE = Marks()
ASCII = Marks(cut="~", line="-", dot="o", left="<", right=">", full="#", rest="-", between="|")


def plain(text: str) -> str:
    """Return `text` on one line, safe, without signs whose width terminals do not agree on."""
    flat = " ".join(text.split())
    if flat.isascii():
        return safe(flat)
    return "".join(c for c in safe(flat) if unicodedata.category(c) not in ("Mn", "Me"))


def fit(text: str, width: int, marks: Marks) -> str:
    """Return `text` in exactly `width` cells: cut with a mark, or filled up with blanks."""
    if width <= 0:
        return ""
    length = cell_len(text)
    if length > width:
        return set_cell_size(text, width - cell_len(marks.cut)) + marks.cut
    return text + " " * (width - length)


class Line:
    """A line that is put together piece by piece and never grows beyond its width."""

    def __init__(self, width: int, marks: Marks) -> None:
        self._left = width
        self.marks = marks
        self.text = Text(no_wrap=True)

    def add(self, text: str, style: str = "", *, width: int | None = None) -> Line:
        """Append text that is safe already, cut to what is left, or filled up to `width`."""
        room = self._left if width is None else min(width, self._left)
        if room > 0:
            text = fit(text, room, self.marks) if width or cell_len(text) > room else text
            self.text.append(text, style or None)
            self._left -= cell_len(text)
        return self

    @property
    def left(self) -> int:
        """How many cells are free."""
        return self._left
