"""The record of every pair of models as a report.

A rating of two models' battles alone would say nothing that the share does not. What the share can
tell beside a rating is whether the pair fits the one scale on which all were rated.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from videoautoarena.runs.analysis.leaderboard.head_to_head import UNLIKE, Pair, Pairs
from videoautoarena.runs.rating.method import SOLID_BATTLES, THIN
from videoautoarena.runs.views.results.leaderboard import (
    counted_table,
    extra_sentences,
    spoken_tables,
    totals_sentence,
)
from videoautoarena.runs.views.results.remarks import legend_of, marks_of, notes_of
from videoautoarena.runs.views.results.report import Column, Report, Table, sentence

FIELDS = (
    *("model", "rival", "share", "low", "high", "expected", "wins", "losses", "ties"),
    *("battles", "videos", "both_bad_share", "flags"),
)
MARKS = {
    THIN: ("few", f"fewer than {SOLID_BATTLES} battles"),
    UNLIKE: ("unlike", "the expected share lies outside the interval"),
}
COLUMNS = (
    Column("model", "model", "name"),
    Column("rival", "rival", "name"),
    Column("share", "share", "share"),
    Column("interval", "interval", "share_interval", ("low", "high")),
    Column("expected", "expected", "share", spare=3),
    Column("record", "W-T-L", "record", ("wins", "ties", "losses")),
    Column("battles", "battles", "count", spare=1),
    Column("both_bad_share", "both bad", "share", spare=2),
    Column("notes", "notes", "text"),
)


def pairs_report(found: Pairs) -> Report:
    """Return the report of every pair that met."""
    board = found.board
    flags = {flag for pair in found.pairs for flag in pair.flags}
    # Of what was asked for of ratings, what the expected shares are made of.
    plain = replace(board.settings, elo=None, anchor=None)
    rated = replace(board, pairs=None, settings=plain)
    tally = counted_table(board)
    table = Table(
        name="pairs",
        caption="Head-to-head results of each pair of models",
        columns=COLUMNS,
        rows=tuple(_row(pair) for pair in found.pairs),
        fields=FIELDS,
    )
    meaning = sentence(
        "share: points of the model against the rival, a tie half a point; W-T-L: won, tied, lost; "
        "expected: by the ratings of the whole run."
    )
    nothing = sentence("No two models met in a decided battle yet.")
    sentences = (
        *extra_sentences(rated),
        meaning if found.pairs else nothing,
        *legend_of(flags, MARKS),
        totals_sentence(tally, role="more"),
        *notes_of(board.settings.warnings),
    )
    return Report((table, tally, *spoken_tables(rated)), sentences)


def _row(pair: Pair) -> dict[str, Any]:
    return {
        "model": pair.model,
        "rival": pair.rival,
        **dict(zip(("share", "low", "high"), pair.share, strict=False)),
        "expected": pair.expected,
        **{name: getattr(pair, name) for name in ("wins", "losses", "ties", "battles", "videos")},
        "both_bad_share": pair.both_bad_share.value,
        "flags": list(pair.flags),
        "notes": marks_of(pair.flags, MARKS),
    }
