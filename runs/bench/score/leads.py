"""Who leads on a frozen set: from paired differences by video, and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from videoautoarena.runs.bench.format.points import videos_of
from videoautoarena.runs.bench.format.schema import Entry
from videoautoarena.runs.formats.record_json import fields_json
from videoautoarena.runs.rating.leaderboard import BoardLead
from videoautoarena.runs.rating.method import RANKABLE_VIDEOS
from videoautoarena.scoring.fitting.counts import Floats
from videoautoarena.scoring.intervals import ranks
from videoautoarena.scoring.intervals.ranks import videos_needed
from videoautoarena.scoring.ratings.differences import lead_on_units

BASIS = "paired differences on the same items, by video"


@dataclass(frozen=True)
class SetLead(BoardLead):
    """Who may be best of the models of a set."""

    videos: int = 0
    """Videos from which it is said: those that at least two of the models have."""
    models: int = 0
    """How many are compared."""
    seen: int = 0
    """Videos that any of the models has."""


class ModelPlaces(NamedTuple):
    """Where a model stands; None if there are too few videos to rank it."""

    rank: int | None = None
    """Place; None, as the next two, under ten videos, and where judges differ."""
    rank_best: int | None = None
    """The best place that it may have."""
    rank_worst: int | None = None
    """The worst."""


class SetRanking(NamedTuple):
    """Who leads and where each stands, by the keys under which models were given."""

    lead: SetLead | None
    """None if nobody is compared."""
    places: dict[Any, ModelPlaces]

    def lead_json(self) -> dict[str, Any] | None:
        """Return who leads as JSON-ready values."""
        return None if self.lead is None else fields_json(self.lead)


NOBODY = SetRanking(None, {})


def rank_on_items(
    items: Mapping[str, Entry],
    points: Mapping[str, Mapping[str, float]],
    *,
    tasks: Mapping[str, str] | None = None,
    most: float = 1.0,
    means: Mapping[str, float] | None = None,
) -> SetRanking:
    """Return who leads of models by their points, 0 to `most` by qid, and where each stands.

    Models on too few videos are ranked only beside others like them, and videos count that two of
    them share, since nothing else is compared. Where items belong to tasks,
    each task counts as much. `means`, on the scale of points, are by what models stand where that
    is not quite the mean of their points.
    """
    videos = {name: len({items[qid].cluster for qid in mine}) for name, mine in points.items()}
    # A model seen on few videos must not lead others that were seen on many.
    least = RANKABLE_VIDEOS if max(videos.values(), default=0) >= RANKABLE_VIDEOS else 1
    names = [name for name, seen in videos.items() if seen >= least]
    if not names:
        return NOBODY
    qids = [qid for qid in items if any(qid in points[name] for name in names)]
    # NaN is no 0: two models are compared on the questions that both have.
    scores = np.array([[points[name].get(qid, np.nan) for name in names] for qid in qids])
    kinds = None if tasks is None else _numbered(tasks[qid] for qid in qids)
    stand = None if means is None else np.array([means[name] for name in names]) / most
    clusters = videos_of(items, qids)
    # It takes figures from 0 to 1, and free text earns up to ten.
    found = lead_on_units(scores / most, clusters, kinds, means=stand)
    # A model that stands alone shares nothing, so its own videos are counted.
    shared = (~np.isnan(scores)).sum(axis=1) >= min(2, len(names))
    return ranking_of(
        names,
        found.mean,
        found.errors,
        found.lead,
        videos=len(np.unique(np.asarray(clusters)[shared])),
        seen=found.clusters,
    )


def _numbered(tasks: Iterable[str]) -> list[int]:
    places: dict[str, int] = {}
    return [places.setdefault(task, len(places)) for task in tasks]


def ranking_of(
    names: Sequence[str],
    scores: Floats,
    errors: Floats,
    lead: ranks.ModelOrder,
    *,
    videos: int,
    seen: int | None = None,
) -> SetRanking:
    """Return who leads of models by what is known of their differences on so many videos.

    `seen` is how many videos any of them has, if that is more.
    """
    is_ranked = videos >= RANKABLE_VIDEOS
    order = np.argsort(-scores, kind="stable").tolist()
    first = [k for k in order if lead.place[k] == 1]
    rivals = [k for k in order if lead.may_be_best[k] and k not in first]
    # Models that share fewer than two videos have no finite error: nothing tells what it takes.
    nearest = next((k for k in rivals if np.isfinite(errors[first[0], k])), None)
    more = None
    if nearest is not None:
        gap = float(scores[first[0]] - scores[nearest])
        reach = float(lead.bound[nearest] * errors[first[0], nearest])
        more = videos_needed(gap, reach, videos=videos)
    places = zip(names, lead.place, lead.best, lead.worst, strict=True)
    found = SetLead(
        first=tuple(names[k] for k in first),
        is_ranked=is_ranked,
        rivals=tuple(names[k] for k in rivals),
        above=tuple(names[k] for k in order if k not in first and lead.apart[first, k].all()),
        more=more,
        basis=BASIS,
        nearest=None if nearest is None else names[nearest],
        videos=videos,
        models=len(names),
        seen=videos if seen is None else seen,
    )
    ranked = {name: ModelPlaces(*map(int, of)) for name, *of in places} if is_ranked else {}
    return SetRanking(found, ranked)
