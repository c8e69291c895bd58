"""The table of a run: decided battles rated, everything else counted, one sentence to take away."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from memory.records import DECIDED, SCHEMA, TIES
from runs.leaderboard_text import RANKABLE_VIDEOS, TOO_FEW, Table, render, summarize
from runs.reading import STAND_INS
from scoring.bradley_terry import MEAN, SCALE
from scoring.cells import Cells, Ints, count_cells
from scoring.intervals import LEVEL
from scoring.ratings import Ratings, rate
from scoring.tallies import Tally, tally

COMFORTABLE_VIDEOS = 50
"""With fewer videos in a group the table carries a warning."""
ONE_SIDED, APART = "one-sided", "not comparable"

__all__ = ["Rated", "Table", "build", "render", "summarize"]


class Rated(Protocol):
    """What a leaderboard asks of a battle."""

    @property
    def video(self) -> str:
        """Id of the video it is about."""

    @property
    def model_a(self) -> str | None:
        """The model in the first seat; None where nobody was drawn."""

    @property
    def model_b(self) -> str | None:
        """The model in the second seat."""

    @property
    def verdict(self) -> str:
        """How it ended."""


def build(
    battles: Sequence[Rated],
    roster: Sequence[str],
    *,
    stand_ins: bool = False,
    warnings: Iterable[str] = (),
) -> Table:
    """Return the leaderboard of `battles` as JSON-ready values.

    Decided battles are rated, ties and splits as half a win to each; forfeits and voids are only
    counted. Ranks hold within a component: models that battles join.

    Args:
        battles: those that count, in slot order.
        roster: every model of the run, also one without a battle.
        stand_ins: the run's models are offline ones, and the table says so.
        warnings: further sentences to stand in the settings.
    """
    names = list(dict.fromkeys([*roster, *_seen(battles)]))
    cells = _count(battles, names)
    ratings, counts = rate(cells), tally(cells)
    forfeits = Counter(_forfeiter(battle) for battle in battles)
    groups = [_best_first(ratings, group) for group in ratings.components]
    order = [k for group in groups for k in group]
    order += sorted(set(range(len(names))) - set(order))
    told = [STAND_INS] * stand_ins + [*warnings] + _complaints(ratings)
    return {
        "schema": SCHEMA,
        "models": [
            {
                "model": names[k],
                **_rated(ratings, k),
                **_counted(counts, k),
                "forfeits": forfeits[names[k]],
                "flags": _flags(ratings, k),
            }
            for k in order
        ],
        "components": [[names[k] for k in group] for group in groups],
        "settings": _settings(battles, ratings) | {"stand_ins": stand_ins, "warnings": told},
    }


def _seen(battles: Iterable[Rated]) -> list[str]:
    seats = [name for battle in battles for name in (battle.model_a, battle.model_b)]
    return [name for name in seats if name is not None]


def _count(battles: Iterable[Rated], names: list[str]) -> Cells:
    place = {name: k for k, name in enumerate(names)}
    decided = [battle for battle in battles if battle.verdict in DECIDED]
    videos = {battle.video: k for k, battle in enumerate(decided)}
    return count_cells(
        [place[battle.model_a or ""] for battle in decided],
        [place[battle.model_b or ""] for battle in decided],
        outcome=[_points(battle.verdict) for battle in decided],
        models=len(names),
        cluster=[videos[battle.video] for battle in decided],
    )


def _points(verdict: str) -> float:
    return 0.5 if verdict in TIES else float(verdict == "a")


def _forfeiter(battle: Rated) -> str | None:
    return {"forfeit_a": battle.model_a, "forfeit_b": battle.model_b}.get(battle.verdict)


def _best_first(ratings: Ratings, group: Ints) -> list[int]:
    # Rounded, so that equal models stand in roster order on every machine.
    order = np.argsort(-ratings.rating[group].round(6), kind="stable")
    return [int(k) for k in group[order]]


def _rated(ratings: Ratings, k: int) -> dict[str, float | int | None]:
    span = (ratings.rating[k], ratings.low[k], ratings.high[k])
    places = (ratings.place[k], ratings.best[k], ratings.worst[k])
    return {
        **{
            key: _number(value, 4)
            for key, value in zip(("rating", "low", "high"), span, strict=True)
        },
        **{
            key: int(value) or None
            for key, value in zip(("rank", "rank_best", "rank_worst"), places, strict=True)
        },
    }


def _counted(counts: Tally, k: int) -> dict[str, float | int | None]:
    return {
        "battles": int(counts.battles[k]),
        "wins": int(counts.wins[k]),
        "losses": int(counts.losses[k]),
        "ties": int(counts.ties[k]),
        "win_rate": _number(counts.win_rate[k], 6),
    }


def _number(value: float, digits: int) -> float | None:
    return round(float(value), digits) if math.isfinite(value) else None


def _flags(ratings: Ratings, k: int) -> list[str]:
    home = next((c for c, group in enumerate(ratings.components) if k in group), None)
    if home is None:
        return []
    found = {
        ONE_SIDED: bool(ratings.one_sided[k]),
        APART: home > 0,
        TOO_FEW: ratings.clusters[home] < RANKABLE_VIDEOS,
    }
    return [flag for flag, holds in found.items() if holds]


def _complaints(ratings: Ratings) -> list[str]:
    told = []
    if len(ratings.components) > 1:
        told.append(
            f"{len(ratings.components)} groups of models never met; each has a scale of its own"
        )
    fewest = min(ratings.clusters, default=COMFORTABLE_VIDEOS)
    if fewest < COMFORTABLE_VIDEOS:
        where = "a group has only " if len(ratings.components) > 1 else "only "
        videos = "1 video" if fewest == 1 else f"{fewest} videos"
        worry = TOO_FEW if fewest < RANKABLE_VIDEOS else "below 50 the intervals are wide"
        told.append(f"{where}{videos}: {worry}")
    return told


def _settings(battles: Sequence[Rated], ratings: Ratings) -> dict[str, Any]:
    verdicts: Counter[str] = Counter(battle.verdict for battle in battles)
    return {
        "model": "bradley-terry",
        "ties": "half",
        "scale": round(SCALE * math.log(10)),
        "mean": MEAN,
        "level": LEVEL,
        "interval": "sandwich clustered by video, Student's t",
        "videos": list(ratings.clusters),
        "totals": {
            "battles": len(battles),
            "decided": sum(verdicts[v] for v in DECIDED),
            "ties": sum(verdicts[v] for v in TIES),
            "splits": verdicts["split"],
            "forfeits": verdicts["forfeit_a"] + verdicts["forfeit_b"],
            "voids": verdicts["void"],
        },
    }
