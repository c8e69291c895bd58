"""The record of every pair, as a table on a terminal and for pasting.

A rating of two models' battles alone would say nothing that the share does not. What the share can
tell beside a rating is whether the pair fits the one scale on which all were rated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from videoautoarena.memory.records.records import DECIDED, SCHEMA, TIES, Battle
from videoautoarena.runs.leaderboard.extras import closing_line, extra_lines
from videoautoarena.runs.leaderboard.markup import Form
from videoautoarena.runs.leaderboard.text import totals_text
from videoautoarena.runs.rating.finding import tell_figure, tell_share
from videoautoarena.runs.rating.method import SOLID_BATTLES, THIN, Method, Table
from videoautoarena.runs.rating.table import build, points_of, wanted
from videoautoarena.runs.text.tables import Sheet, comma_separated, mark_up
from videoautoarena.runs.text.terminal import safe
from videoautoarena.scoring.fitting.bradley_terry import SCALE
from videoautoarena.scoring.intervals.proportions import Share, measure_share


def build_pairs(battles: Sequence[Battle], roster: Sequence[str], **given: Any) -> Table:
    """Return the record of every pair that met in a decided battle, the better-rated one first.

    Args:
        battles: those that count, in slot order.
        roster: every model of the run.
        given: as for `runs.rating.table.build`; its fit says what was to be expected.
    """
    board = build(battles, roster, **given)
    method: Method = given["method"]
    every, met = _met(battles), _met(wanted(battles, method)[0])
    rated = [row for row in board["models"] if row["rating"] is not None]
    return {
        "schema": SCHEMA,
        "by": "pair",
        "pairs": [
            _pair(first, second, met[key], board, both_bad(every[key]))
            for first, second in combinations(rated, 2)
            if (key := frozenset((first["model"], second["model"]))) in met
        ],
        "components": board["components"],
        "settings": board["settings"],
    }


def _met(battles: Sequence[Battle]) -> Mapping[frozenset[str], list[Battle]]:
    """Return the decided battles of each pair."""
    met: dict[frozenset[str], list[Battle]] = {}
    for battle in battles:
        if battle.verdict in DECIDED:
            met.setdefault(frozenset((battle.model_a or "", battle.model_b or "")), []).append(
                battle
            )
    return met


def _pair(
    first: dict[str, Any],
    second: dict[str, Any],
    battles: Sequence[Battle],
    board: Table,
    bad: Share,
) -> dict[str, Any]:
    points = [_points(battle, first["model"]) for battle in battles]
    videos = {battle.video: k for k, battle in enumerate(battles)}
    share = measure_share(points, [videos[battle.video] for battle in battles])
    expected = 1.0 / (1.0 + np.exp((second["rating"] - first["rating"]) / SCALE))
    if board["settings"]["ties"] == "davidson" or "terms" in board["settings"]:
        # Ratings of equal style, or with ties apart: no share follows from those.
        expected = np.nan
    return {
        "model": first["model"],
        "rival": second["model"],
        "battles": len(battles),
        "videos": len(videos),
        "wins": points.count(1.0),
        "losses": points.count(0.0),
        "ties": sum(battle.verdict in TIES for battle in battles),
        "share": tell_share(share),
        "expected": tell_figure(float(expected), 6),
        "both_bad_share": tell_share(bad),
        "flags": _flags(share, len(battles), expected=float(expected)),
    }


UNLIKE = "unlike its ratings"


def _flags(share: Share, battles: int, *, expected: float) -> list[str]:
    is_odd = not (np.isnan(expected) or share.low <= expected <= share.high)
    return [THIN] * (battles < SOLID_BATTLES) + [UNLIKE] * is_odd


def both_bad(decided: Sequence[Battle]) -> Share:
    """Return of how many decided battles the judge called both answers bad."""
    videos = {battle.video: k for k, battle in enumerate(decided)}
    return measure_share(
        [float(battle.verdict == "tie_bad") for battle in decided],
        np.array([videos[battle.video] for battle in decided], dtype=np.int64),
    )


def _points(battle: Battle, model: str) -> float:
    of_a = points_of(battle.verdict)
    return of_a if battle.model_a == model else 1.0 - of_a


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


def render_pairs(table: Table, *, notes: bool = False) -> RenderableType:
    """Return a row for every pair that met, its marks below."""
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for title in TITLES:
        is_text = title in TITLES[:2]
        grid.add_column(title, justify="left" if is_text else "right", no_wrap=not is_text,
                        overflow="fold", min_width=_LEAST_NAME if is_text else None)  # fmt: skip
    for pair in table["pairs"]:
        grid.add_row(*(Text(safe(cell)) for cell in _cells(pair)))
    told = (Text(line) for line in lines_of(table, notes=notes))
    return Group(*([grid] if table["pairs"] else []), *told)


def pasted_pairs(table: Table, form: Form, *, notes: bool = False) -> str:
    """Return the pairs for pasting: `markdown`, `latex`, `html` or `csv`."""
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
        notes=lines_of(table, notes=notes),
        caption="Head-to-head results of each pair of models",
        label="pairs",
    )
    return mark_up(sheet, form)


def lines_of(table: Table, *, notes: bool) -> list[str]:
    """Return what is said under the pairs: at most three lines, or with `notes` all.

    The three are what the shares mean, the marks, and cautions.
    """
    flags = {flag for pair in table["pairs"] for flag in pair["flags"]}
    marks = [f"{mark} {meaning}" for flag, (mark, meaning) in MARKS.items() if flag in flags]
    settings, meaning = table["settings"], MEANING if table["pairs"] else _NOTHING
    plain = {key: settings[key] for key in settings if key not in ("elo", "terms", "anchor")}
    extras = extra_lines({**table, "pairs": None, "models": [], "settings": plain})
    if notes:
        cautions = [f"note: {safe(note)}." for note in settings["warnings"]]
        told = [*(f"{mark}." for mark in marks), meaning, totals_text(settings)]
        return [*told, *extras, *cautions]
    legend = [f"{'; '.join(marks)}."] if marks else []
    lines = 1 + len(settings["warnings"])
    return [*extras, meaning, *legend, *closing_line(settings["warnings"], lines=lines)]


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
