"""The record of every pair, as a table on a terminal and for pasting."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from runs.console import safe
from runs.head_to_head import UNLIKE
from runs.leaderboard_extras import extra_lines
from runs.leaderboard_forms import Form
from runs.leaderboard_method import SOLID_BATTLES, THIN, Table
from runs.leaderboard_text import totals_text
from runs.pasting import Sheet, comma_separated, latex, markdown

TITLES = ("model", "rival", "share %", "interval", "expected", "W-L-T", "battles", "both bad %", "")
CSV = (
    *("model", "rival", "share", "low", "high", "expected", "wins", "losses", "ties"),
    *("battles", "videos", "both_bad_share", "flags"),
)
MARKS = {
    THIN: ("*", f"fewer than {SOLID_BATTLES} battles"),
    UNLIKE: ("!", "the expected share lies outside the interval"),
}
MEANING = (
    "share: points of the model against the rival, a tie half a point; expected: what the ratings "
    "of the whole run make of it."
)
_LEAST_NAME = 8
_NOTHING = "No two models met in a decided battle yet."


def render_pairs(table: Table) -> RenderableType:
    """Return a row for every pair that met, its marks below."""
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for title in TITLES:
        is_text = title in TITLES[:2]
        grid.add_column(title, justify="left" if is_text else "right", no_wrap=not is_text,
                        overflow="fold", min_width=_LEAST_NAME if is_text else None)  # fmt: skip
    for pair in table["pairs"]:
        grid.add_row(*(Text(safe(cell)) for cell in _cells(pair)))
    told = (Text(note) for note in notes(table))
    return Group(*([grid] if table["pairs"] else []), *told)


def pasted_pairs(table: Table, form: Form) -> str:
    """Return the pairs for pasting: `markdown`, `latex` or `csv`."""
    if form == "csv":
        rows = [
            [
                *(pair["model"], pair["rival"]),
                *(pair["share"][key] for key in ("value", "low", "high")),
                *(pair[key] for key in ("expected", "wins", "losses", "ties", "battles", "videos")),
                *(pair["both_bad_share"]["value"], "; ".join(pair["flags"])),
            ]
            for pair in table["pairs"]
        ]
        return comma_separated(CSV, rows)
    sheet = Sheet(
        columns=(*TITLES[:-1], "marks"),
        numbers=frozenset(range(2, len(TITLES) - 1)),
        rows=[_cells(pair) for pair in table["pairs"]],
        notes=notes(table),
        caption="What each two models took from each other",
        label="pairs",
    )
    return markdown(sheet) if form == "markdown" else latex(sheet)


def notes(table: Table) -> list[str]:
    """Return what has to be read with the pairs."""
    flags = {flag for pair in table["pairs"] for flag in pair["flags"]}
    marks = [f"{mark} {meaning}." for flag, (mark, meaning) in MARKS.items() if flag in flags]
    settings = table["settings"]
    told = [*marks, *([MEANING] if table["pairs"] else [_NOTHING]), totals_text(settings)]
    plain = {key: settings[key] for key in settings if key not in ("elo", "terms", "anchor")}
    told += extra_lines({**table, "pairs": None, "models": [], "settings": plain})
    return told + [f"note: {safe(note)}." for note in settings["warnings"]]


def _cells(pair: dict[str, Any]) -> list[str]:
    share, bad = pair["share"], pair["both_bad_share"]["value"]
    marks = "".join(mark for flag, (mark, _) in MARKS.items() if flag in pair["flags"])
    return [
        *(pair["model"], pair["rival"], f"{100 * share['value']:.1f}"),
        f"{100 * share['low']:.1f}-{100 * share['high']:.1f}",
        "-" if pair["expected"] is None else f"{100 * pair['expected']:.1f}",
        f"{pair['wins']}-{pair['losses']}-{pair['ties']}",
        *(str(pair["battles"]), f"{100 * bad:.1f}", marks),
    ]
