"""Every pair's own record: what share of its battles the better one took, and what was expected.

A rating of two models' battles alone would say nothing that the share does not. What the share can
tell beside a rating is whether the pair fits the one scale on which all were rated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from memory.records import DECIDED, SCHEMA, TIES, Battle
from runs.findings import tell_figure, tell_share
from runs.leaderboard import build, points_of, wanted
from runs.leaderboard_method import SOLID_BATTLES, THIN, Method, Table
from scoring.bradley_terry import SCALE
from scoring.shares import Share, measure_share


def build_pairs(battles: Sequence[Battle], roster: Sequence[str], **given: Any) -> Table:
    """Return the record of every pair that met in a decided battle, the better-rated one first.

    Args:
        battles: those that count, in slot order.
        roster: every model of the run.
        given: as for `runs.leaderboard.build`; its fit says what was to be expected.
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
