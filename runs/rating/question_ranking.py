"""How often questions of each source came first, second and so on with people who ranked them.

Source: VideoAutoArena, appendix D.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from videoautoarena.memory.store.evidence import CastVote, RankingVote
from videoautoarena.runs.rating.finding import Figure, figure_of
from videoautoarena.runs.rating.fit import number_names
from videoautoarena.scoring.intervals.proportions import measure_share

PLACES = ("1st", "2nd", "3rd", "4th")


@dataclass(frozen=True)
class SourceRanks:
    """The ranks of the questions of one source."""

    source: str
    n: int
    """Rankings in which it had a question."""
    places: tuple[Figure, ...]
    """Share of rankings in which it came first, second and so on."""


@dataclass(frozen=True)
class QuestionRanking:
    """How people who did not know the sources ranked the questions on each video."""

    rankings: int
    """Rankings that stand, skipped sets not among them."""
    videos: int
    """Videos that these are about."""
    skipped: int
    """Sets of questions that somebody could not rank."""
    superseded: int
    """Rankings that were taken back."""
    sources: tuple[SourceRanks, ...]
    """Each `source`, `n` rankings it was in, and `places`: the share of 1st, 2nd and so on; those
    that came first most often lead."""


def rank_sources(cast: Sequence[CastVote[RankingVote]]) -> QuestionRanking | None:
    """Return the shares of each source, clustered by video; None without any ranking."""
    if not cast:
        return None
    standing = [one.vote for one in cast if not one.is_superseded]
    ranked = [vote for vote in standing if vote.ranks is not None]
    sources = sorted({posed.source for vote in ranked for posed in vote.questions})
    most = max((len(vote.questions) for vote in ranked), default=0)
    found = [_of_source(source, ranked, most) for source in sources]
    found.sort(key=lambda one: (*(-(share.value or 0.0) for share in one.places), one.source))
    return QuestionRanking(
        rankings=len(ranked),
        videos=len({vote.video for vote in ranked}),
        skipped=len(standing) - len(ranked),
        superseded=len(cast) - len(standing),
        sources=tuple(found),
    )


def _of_source(source: str, ranked: Sequence[RankingVote], most: int) -> SourceRanks:
    ranks = []
    videos = []
    for vote in ranked:
        for posed, rank in zip(vote.questions, vote.ranks or (), strict=True):
            if posed.source == source:
                ranks.append(rank)
                videos.append(vote.video)
    came = np.array(ranks)
    cluster = number_names(videos)
    places = (figure_of(measure_share(came == place, cluster)) for place in range(1, most + 1))
    return SourceRanks(source, len(ranks), tuple(places))
