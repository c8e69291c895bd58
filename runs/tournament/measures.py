"""What calls of one kind took, as sums that add up over runs, and what further calls will take.

A call is a vector: tokens in that no cache had, those read from one, those written to one, tokens
out, and seconds; all its tries together. Calls about one video are alike, so they are no
independent measurements of a kind: what lies between videos is told from what lies within one by
the analysis of variance (random effects, one way, unequal groups). A bound holds all of it: the
spread of calls and of videos, and how little is known of either by few of them.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from videoautoarena.memory.records.records import Attempt, CallRow, Usage

CallVector = NDArray[np.float64]
"""Shape (5,): tokens in that were neither read from a cache nor written to one, tokens read, tokens
written, tokens out, seconds."""
Moments = NDArray[np.float64]
"""Shape (5, 5): sums of products of call vectors."""

SIZE = 5
CALL_S = 2.0
"""Seconds that a call is expected to take, besides reading and writing tokens."""
READ_A_SECOND, WRITTEN_A_SECOND = 8_000, 50
"""Tokens that a model is expected to read and to write per second."""
CALL_CV = 0.6
"""Standard deviation that is stated for calls about one video, as a share of their mean."""
VIDEO_CV = 0.3
"""The same for the means of videos."""
GUESS_CV = 0.8
"""The same for a mean that nobody has measured."""
TRANSFER_CV = 0.1
"""The same for the mean of a run against that of earlier ones."""
_CALLS, _VIDEOS = 5.0, 4.0
"""Measured calls, and videos, that weigh as much as what is stated of their spread."""
_Z = 1.2816
"""Nine tenths of a normal distribution lie below so many standard deviations above its mean."""
_MOST_CV = 1.5
_VIDEO = re.compile(r"[0-9a-f]{12}")
_UPPER = np.triu_indices(SIZE)


class Spread(NamedTuple):
    """How far a sum over calls may lie from what is expected."""

    alone: float = 0.0
    """Variance of what each call, or kind of calls, has for itself."""
    shared: float = 0.0
    """Standard deviation of what all kinds may have in common, such as a video's length."""

    def plus(self, other: Spread) -> Spread:
        """Return that of both sums together."""
        return Spread(self.alone + other.alone, self.shared + other.shared)

    def times(self, factor: float) -> Spread:
        """Return that of a multiple of the sum."""
        return Spread(self.alone * factor**2, self.shared * factor)

    def bound90(self, expected: float) -> float:
        """Return what a sum stays below in nine of ten cases, by a log-normal distribution."""
        if expected <= 0:
            return 0.0
        cv = min(math.sqrt(self.alone + self.shared**2) / expected, _MOST_CV)
        variance = math.log1p(cv**2)
        return expected * max(1.0, math.exp(_Z * math.sqrt(variance) - variance / 2))


NO_SPREAD = Spread()


@dataclass(frozen=True)
class CallCount:
    """How many calls are expected, and about how many videos."""

    calls: float
    variance: float = 0.0
    """Of their number: replies are repaired, questions refused and pairs drawn by chance."""
    videos: float = 1.0


@dataclass(frozen=True, eq=False)
class CallMeasure:
    """Sums over measured calls of one kind."""

    calls: float
    videos: float
    squares: float
    """Sum over videos of the squared number of calls."""
    sums: CallVector
    products: Moments
    """Sum over calls of each vector times itself."""
    between: Moments
    """Sum over videos of their sum times itself, over their number of calls."""

    @classmethod
    def of(cls, vectors: Iterable[tuple[str, CallVector]]) -> CallMeasure:
        """Sum up calls, each with the video it is about."""
        by_video: dict[str, list[CallVector]] = defaultdict(list)
        for video, vector in vectors:
            by_video[video].append(vector)
        groups = [np.array(group) for group in by_video.values()]
        counts = np.array([len(group) for group in groups], dtype=np.float64)
        sums = np.array([group.sum(axis=0) for group in groups]).reshape(-1, SIZE)
        every = np.concatenate(groups) if groups else np.zeros((0, SIZE))
        return cls(
            calls=float(counts.sum()),
            videos=float(len(groups)),
            squares=float((counts**2).sum()),
            sums=sums.sum(axis=0),
            products=every.T @ every,
            between=(sums / counts[:, None]).T @ sums if groups else np.zeros((SIZE, SIZE)),
        )

    def plus(self, other: CallMeasure) -> CallMeasure:
        """Return the measure of both, which are of different videos, or count as such."""
        return CallMeasure(
            self.calls + other.calls,
            self.videos + other.videos,
            self.squares + other.squares,
            self.sums + other.sums,
            self.products + other.products,
            self.between + other.between,
        )

    def weighed(self, share: float) -> CallMeasure:
        """Return the measure as if only a share of its videos had been measured."""
        return CallMeasure(
            self.calls * share,
            self.videos * share,
            self.squares * share,
            self.sums * share,
            self.products * share,
            self.between * share,
        )

    def scaled(self, factors: CallVector) -> CallMeasure:
        """Return the measure of calls so many times as large, part by part."""
        both = np.outer(factors, factors)
        return replace(
            self,
            sums=self.sums * factors,
            products=self.products * both,
            between=self.between * both,
        )

    @cached_property
    def mean(self) -> CallVector:
        """The average call."""
        found: CallVector = self.sums / self.calls
        return found

    def sum_of(
        self, weights: CallVector, count: CallCount, *, transfer_cv: float = 0.0
    ) -> tuple[float, Spread]:
        """Return what so many further calls come to, each its vector times `weights`.

        `transfer_cv` is how far their mean may lie from the measured one, as a share of it.
        """
        mean = float(weights @ self.mean)
        within, between = self._variances(weights, mean)
        calls = count.calls
        alone = calls * within + calls**2 * within / self.calls + count.variance * mean**2
        # Few videos say little of how far others lie from them.
        known = max(self.videos - 1, 0.0) + _VIDEOS
        per_video = between * (1 / max(count.videos, 1.0) + self.squares / self.calls**2)
        shared = calls * math.sqrt(per_video) * _student(known) / _Z
        return calls * mean, Spread(alone, math.hypot(shared, calls * mean * transfer_cv))

    def _variances(self, weights: CallVector, mean: float) -> tuple[float, float]:
        """Return the variance of calls about one video, and of the means of videos.

        Both lean towards what is stated, the more the less was measured.
        """
        stated_within = (CALL_CV * mean) ** 2
        stated_between = (VIDEO_CV * mean) ** 2
        products, between = (
            float(weights @ sums @ weights) for sums in (self.products, self.between)
        )
        calls_free = max(self.calls - self.videos, 0.0)
        videos_free = max(self.videos - 1, 0.0)
        inside = max(products - between, 0.0)
        within = (inside + _CALLS * stated_within) / (calls_free + _CALLS)
        if videos_free <= 0:
            return within, stated_between
        outside = max(between - self.calls * mean**2, 0.0) / videos_free
        each = (self.calls - self.squares / self.calls) / videos_free
        bare = inside / calls_free if calls_free > 0 else within
        found = max(outside - bare, 0.0) / each if each > 0 else stated_between
        return within, (videos_free * found + _VIDEOS * stated_between) / (videos_free + _VIDEOS)

    def to_json(self) -> dict[str, Any]:
        """Return it as it is kept in a file; of symmetric sums the upper half."""
        return {
            "calls": self.calls,
            "videos": self.videos,
            "squares": self.squares,
            "sums": self.sums.tolist(),
            "products": self.products[_UPPER].tolist(),
            "between": self.between[_UPPER].tolist(),
        }


def whole_of(upper: Sequence[float]) -> Moments:
    """Return symmetric sums by their upper half."""
    found = np.zeros((SIZE, SIZE))
    found[_UPPER] = upper
    return found + np.triu(found, 1).T


def guessed_sum(mean: float, count: CallCount, *, most: float = 0.0) -> tuple[float, Spread]:
    """Return what calls come to whose mean is no more than stated.

    `most` is the mean if what was hoped for fails, such as a cache; the spread is that of the more.
    """
    calls = count.calls
    wide = max(mean, most)
    alone = calls * (CALL_CV * wide) ** 2 + count.variance * wide**2
    return calls * mean, Spread(alone, calls * wide * GUESS_CV)


def vector_of(usage: Usage, seconds: float) -> CallVector:
    """Return tokens and seconds as a call's vector."""
    read = usage.input_tokens or 0
    # A server may state more of either than there was input.
    cached = min(usage.cached_tokens or 0, read)
    written = min(usage.written_tokens or 0, read - cached)
    parts = (read - cached - written, cached, written, usage.output_tokens or 0, seconds)
    return np.array(parts, dtype=np.float64)


def usual_seconds(read: float, written: float) -> float:
    """Return the seconds that a call of so many tokens in and out is expected to take."""
    return CALL_S + read / READ_A_SECOND + written / WRITTEN_A_SECOND


def taken_by(row: CallRow) -> CallVector | None:
    """Return what all tries of a call took; None if its server counted no tokens."""
    if row.usage.total is None:
        return None

    def waited(one: CallRow | Attempt) -> float:
        if row.batch is not None:
            # How long a batch took says nothing of a call that is sent by itself.
            return usual_seconds(one.usage.input_tokens or 0, one.usage.output_tokens or 0)
        return one.latency_s if isinstance(one, CallRow) else one.waited_s

    found = sum(vector_of(one.usage, waited(one)) for one in row.tries)
    return np.asarray(found, dtype=np.float64)


def video_of(scope: str) -> str:
    """Return the id of the video that a scope names; what it begins with if it names none."""
    found = _VIDEO.search(scope)
    return found.group() if found else re.split("[-:]", scope, maxsplit=1)[0]


def _student(freedom: float) -> float:
    """Return the nine-tenths quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.9))
