"""Sheets with what has to be read with a picture: title, banner and notes.

Text stays text, and none of it is markup: names of models are anybody's.
"""

from __future__ import annotations

import io
import logging
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple, Protocol, cast

import matplotlib
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from rich.cells import cell_len, chop_cells

from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.reader import STAND_INS, counted
from videoautoarena.runs.views.results.report import Report, Sentence, Table, ended

Form = Literal["svg", "png", "pdf"]
COLUMN, PAGE = 3.4, 7.0
"""Width in inches of a column of a paper, and of its page."""
BLUE = "#0072b2"
ORANGE = "#d55e00"
GREY = "#767676"
PALE = "#d9d9d9"
INK = "#1a1a1a"
SERIES = (
    *((BLUE, "o"), (ORANGE, "s"), ("#009e73", "^"), ("#cc79a7", "D"), ("#56b4e9", "v"), (INK, "P")),
)
"""Colours of Okabe and Ito, which the colour-blind tell apart, and marks, which need none."""
AROUND, UPWARD = (
    ListedColormap(colormaps[name](np.linspace(low, high, 201)))
    for name, low, high in (("PuOr", 0.1, 0.9), ("Blues", 0.06, 0.87))
)
"""Shades for values around a middle, and for values from zero up. Darker ones are left out: figures
in them would be hard to read."""
NOTHING_THERE = "#c9c9c9"
"""Colour of a cell without a figure."""
TINY, SMALL, USUAL, LARGE = 4.8, 5.5, 7.0, 8.0
"""Sizes in points: of counts under figures, of notes, of names and figures, of the title."""
LINE = 1.35
"""Height of a line, in its size."""
LONGEST = 26
"""Columns of a name; a longer one is cut in its middle."""
PAD, GAP, BETWEEN = 0.06, 0.06, 0.14
"""Inches: at the edges, between a text and what it belongs to, between panels."""
LEVEL = "lines: 95 % intervals"
_DPI = 300
_MOST_DOTS = 60_000
_FONTS = ["DejaVu Sans", "Verdana"]
"""The first comes with matplotlib; the second is as wide, for viewers that lack it."""
_LENDERS = [
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC"),
    *("WenQuanYi Micro Hei", "Microsoft YaHei", "PingFang SC", "Hiragino Sans", "Malgun Gothic"),
    *("Noto Sans Arabic", "Noto Sans Devanagari", "Arial Unicode MS"),
]
"""Fonts that lend characters these lack, if installed; for an SVG the viewer chooses them."""
_STYLE: dict[str, Any] = {
    # Without a salt the ids of an SVG are random, and no two drawings have the same bytes.
    "svg.hashsalt": "videoautoarena",
    # Text stays text, which readers can search and editors change.
    "svg.fonttype": "none",
    # TrueType: some publishers refuse matplotlib's usual Type 3 fonts.
    "pdf.fonttype": 42,
    # A name with two dollar signs is no formula.
    "text.parse_math": False,
    "font.family": ["sans-serif"],
    "font.size": USUAL,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.major.size": 2.0,
    "ytick.major.size": 2.0,
    "xtick.color": INK,
    "ytick.color": INK,
    "lines.linewidth": 1.0,
    "path.sketch": None,
}
# Dates and versions would give each drawing other bytes.
_METADATA: dict[Form, dict[str, None]] = {
    "svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    "png": {"Software": None},
    "pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
}


def render(picture: Picture, form: Form, *, bare: bool = False) -> bytes:
    """Return a picture as a file; the same picture gives the same bytes.

    A bare one has neither title nor notes: a paper says them beside it.
    """
    with _style(_FONTS if form == "svg" else [*_FONTS, *_LENDERS]), warnings.catch_warnings():
        # A character that no font here has is shown as a box.
        warnings.filterwarnings("ignore", message="Glyph ", category=UserWarning)
        stream = io.BytesIO()
        # Drawn anew for each form, since their fonts differ.
        figure = picture.draw(bare)
        # Agg draws less than 2**16 dots to a side, and fails beyond.
        dpi = min(_DPI, _MOST_DOTS / max(figure.get_size_inches()))
        figure.savefig(stream, format=form, dpi=dpi, metadata=_METADATA[form])
    return stream.getvalue()


@contextmanager
def _style(fonts: Sequence[str]) -> Iterator[None]:
    """Set one style, whatever a user's matplotlibrc says, without messages about fonts."""
    chatter = logging.getLogger("matplotlib")
    level = chatter.level
    chatter.setLevel(logging.ERROR)
    try:
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(cast("Any", _STYLE | {"font.sans-serif": fonts}))
            yield
    finally:
        chatter.setLevel(level)


class TextLine(NamedTuple):
    """A line of a title or a note."""

    text: str
    size: float
    colour: str
    weight: str


@dataclass(frozen=True)
class Caption:
    """What stands above and below a figure: the words of a report, and what marks mean."""

    title: str
    report: Report
    stand_ins: bool
    """Whether stand-ins are rated, which stands above everything."""
    legend: Sequence[str] = ()
    """What is meant by marks, beyond what every figure of its kind says."""
    leads: bool = False
    """The headline of the report must be known."""
    about: str = ""
    """Key of the sentences that come before further ones."""
    command: str = "arena leaderboard --notes"
    """What prints all notes."""

    def notes(self, marks: Iterable[str]) -> tuple[list[str], list[str]]:
        """Return the notes that a reader must know, and all others, in order of weight."""
        meaning = "; ".join(marks)
        needed = list(self.report.above)
        further = list[Sentence]()
        said = [one for one in self.report.sentences if self._is_said(one)]
        for one in sorted(said, key=lambda one: (one.role != "alarm", one.key != self.about)):
            is_first_alarm = one.role == "alarm" and all(of.role != "alarm" for of in needed)
            is_needed = is_first_alarm or one.is_needed or one.key in _CAUTIONS
            if is_needed:
                needed.append(one)
            elif one.text not in self.legend:
                further.append(one)
        first = [one for one in further if self.leads and one is self.report.headline]
        legend = [ended(meaning[:1].upper() + meaning[1:])] if meaning else []
        must = [*map(_said, needed), *map(_said, first), *legend, *self.legend]
        return must, [_said(one) for one in further if one not in first]

    def _is_said(self, one: Sentence) -> bool:
        if one.role in ("more", "detail", "page") or one.key in _OF_TABLES:
            return False
        # That stands above the figure, as a banner.
        return one.text.removesuffix(".") != STAND_INS


_CAUTIONS = ("caution", "few", "control")
"""Keys of the sentences without which intervals would mislead."""
_OF_TABLES = ("legend", "constants", "needles")
"""Keys of sentences about what a table shows and no figure does."""


def _said(one: Sentence) -> str:
    return ended(f"Note: {one.text}" if one.role == "note" else one.text)


class Body(Protocol):
    """What stands between title and notes: dots, grids or curves."""

    def draw(self, caption: Caption, *, bare: bool) -> Figure:
        """Draw it on a sheet of its own."""


@dataclass(frozen=True)
class Picture:
    """A picture that can be drawn, as often as there are forms of it."""

    name: str
    """Name of its file, without the ending."""
    shows: str
    """What is to be seen, in a few words."""
    body: Body
    caption: Caption
    table: Table | None = None
    """Holds the figures in it that are in no table of the report."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that hold every figure written in it."""
        own = () if self.table is None else (self.table,)
        return (*own, *self.caption.report.tables)

    def draw(self, bare: bool) -> Figure:
        """Draw it; a bare one has neither title nor notes."""
        return self.body.draw(self.caption, bare=bare)


class FigureSheet:
    """A figure with a title above and notes below; what is between is the body.

    A bare one has neither; of what is above, only the banner stays.
    """

    def __init__(
        self, width: float, body: float, caption: Caption, marks: Iterable[str], *, bare: bool
    ) -> None:
        self.width = width
        title = caption.title
        # Kept on a bare figure, too: nobody may take stand-ins for models.
        banner = STAND_INS if caption.stand_ins else ""
        above = [
            *_set([] if bare else title.split(), width, LARGE, INK, "bold"),
            *_set(banner.split(), width, USUAL, ORANGE, "bold"),
        ]
        said = [] if bare else _fitted(*caption.notes(marks), width, caption.command)
        foot = _set(said, width, SMALL, GREY, "normal")
        self.top = PAD + sum(inches(line.size) for line in above) + PAD * bool(above)
        self.height = self.top + body + sum(inches(line.size) for line in foot) + PAD
        # Not through pyplot, which keeps every figure alive and may open a window.
        self.figure = Figure(figsize=(width, self.height))
        self._write(above, top=PAD)
        self._write(foot, top=self.top + body)

    def write(self, text: str, middle: float, down: float, **how: Any) -> None:
        """Write a text around a point of the body, so far from the left and from its top."""
        at = (middle / self.width, 1 - (self.top + down) / self.height)
        self.figure.text(*at, text, ha="center", va="center", **how)

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Return axes in the body, whose corner is this far from the left and from its top."""
        # matplotlib measures from the lower edge, in parts of the figure.
        below = self.height - self.top - top - height
        box = (left / self.width, below / self.height, width / self.width, height / self.height)
        return self.figure.add_axes(box)

    def _write(self, lines: Sequence[TextLine], *, top: float) -> None:
        for line in lines:
            top += inches(line.size)
            self.figure.text(
                PAD / self.width,
                # A baseline lies a quarter of the line above its foot.
                1 - (top - 0.25 * inches(line.size)) / self.height,
                line.text,
                fontsize=line.size,
                color=line.colour,
                fontweight=cast("Any", line.weight),
                va="baseline",
            )


def columns_that_fit(panels: int, left: float, right: float, least: float) -> tuple[float, int]:
    """Return the width of a sheet, and how many panels stand beside one another.

    The width is a column of a paper if every panel gets `least` inches in it, else its page.
    """
    most = 1
    for width in (COLUMN, PAGE):
        most = int((width - left - right + BETWEEN) / (least + BETWEEN))
        if most >= panels:
            return width, panels
    # As many a row as spread the panels evenly over the fewest rows.
    return PAGE, math.ceil(panels / math.ceil(panels / max(most, 1)))


def signed(text: str) -> str:
    """Return a figure with the sign that is as wide as a plus."""
    return re.sub(r"(?<!\d)-(?=\d)", "−", text)


def inches(size: float) -> float:
    """Return the height of a line of text."""
    return size * LINE / 72


def widest(texts: Sequence[str], size: float = USUAL, *, weight: str = "normal") -> float:
    """Return the width in inches of the widest of some texts."""
    return max((_width(text, size, weight) for text in texts), default=0.0)


@lru_cache(maxsize=4096)
def _width(text: str, size: float, weight: str) -> float:
    # At 72 dots an inch a dot is a point. The font is the one that comes with matplotlib, so that
    # widths are the same on every machine.
    renderer: Any = cast("Any", RendererAgg)(1, 1, 72)
    font = FontProperties(family=_FONTS[:1], size=size, weight=weight)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph ", category=UserWarning)
        return float(renderer.get_text_width_height_descent(text, font, False)[0]) / 72


def shown(name: str, longest: int = LONGEST) -> str:
    """Return a name as a picture shows it: harmless, and cut in the middle where it is long.

    Wide characters take two columns.
    """
    flat = safe(" ".join(name.split())) or '""'
    if cell_len(flat) <= longest:
        return flat
    half = (longest - 1) // 2
    begin, *_ = chop_cells(flat, longest - 1 - half)
    # Turned round, since `chop_cells` measures from the left alone.
    end, *_ = chop_cells(flat[::-1], half)
    return f"{begin}…{end[::-1]}"


def _wrapped(words: Sequence[str], width: float, size: float, weight: str) -> list[str]:
    """Return lines that fit a sheet of this width; words are measured, since lines take longer."""
    lines: list[list[str]] = []
    space = _width("x x", size, weight) - _width("xx", size, weight)
    room = 0.0
    for word in words:
        wide = _width(word, size, weight)
        if not lines or wide + space > room:
            lines.append([])
            room = width - 2 * PAD + space
        lines[-1].append(word)
        room -= wide + space
    return [" ".join(line) for line in lines]


def _set(
    words: Sequence[str], width: float, size: float, colour: str, weight: str
) -> list[TextLine]:
    kept = [shown(word) for word in words]
    return [TextLine(line, size, colour, weight) for line in _wrapped(kept, width, size, weight)]


MOST_LINES, _CUT = 3, 6
"""Lines of notes under a figure, and words that a note which is cut keeps at least."""


def _fitted(needed: Sequence[str], further: Sequence[str], width: float, command: str) -> list[str]:
    """Return the words of as many notes as fit three lines, and how many more there are.

    A needed note is cut where it finds no room; other notes are left out.
    """
    words = list[str]()
    left = len(needed) + len(further)
    for place, note in enumerate((*needed, *further)):
        whole = [*words, *safe(note).split()]
        if _fits([*whole, *_more(left - 1, command)], width):
            words = whole
            left = left - 1
        elif place < len(needed):
            cut = ([*whole[:k], "…"] for k in range(len(whole) - 1, len(words) + _CUT, -1))
            fitting = (some for some in cut if _fits([*some, *_more(left, command)], width))
            words = next(fitting, words)
    return [*words, *_more(left, command)]


def _fits(words: Sequence[str], width: float) -> bool:
    lines = _wrapped([shown(word) for word in words], width, SMALL, "normal")
    return len(lines) <= MOST_LINES


def _more(left: int, command: str) -> list[str]:
    return f"{counted(left, 'more note')}: {command}.".split() if left else []
