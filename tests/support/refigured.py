"""Shares, agreements and their intervals, in plain Python: nothing of `scoring` is used.

Of the packages outside, SciPy's quantile of Student's t alone. `scoring/intervals/proportions.py`
and `scoring/agreement/rater_agreement.py` name the sources.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from scipy.stats import t as student

Row = Mapping[str, Any]
TIES = ("tie", "tie_good", "tie_bad", "split")


@dataclass(frozen=True)
class Figure:
    """One figure of an audit."""

    value: float
    n: int
    at: Callable[[float], tuple[float, float]] | None
    """Its interval by the level; None where it is not computed again."""
    clusters: int = 2
    others: tuple[float, ...] = ()
    """Further numbers that its sentence may name, as it names them."""


def share(units: Iterable[tuple[float, str]], *others: float) -> Figure:
    """Return the mean of hits, each with its video; Wilson's interval on what they are worth."""
    given = list(units)
    return _measured(given, len(given), others)


def excess(units: Iterable[tuple[float, float, str]], *others: float) -> Figure:
    """Return by how much hits lie above what was expected of each."""
    scaled = [((hit - hoped + 1) / 2, video) for hit, hoped, video in units]
    half = _measured(scaled, 4 * len(scaled), others)

    def at(level: float) -> tuple[float, float]:
        low, high = half.at(level) if half.at else (math.nan, math.nan)
        return 2 * low - 1, 2 * high - 1

    return Figure(2 * half.value - 1, half.n, at, half.clusters, half.others)


def _measured(units: Sequence[tuple[float, str]], most: float, others: Sequence[float]) -> Figure:
    if not units:
        return Figure(math.nan, 0, None)
    n = len(units)
    value = sum(hit for hit, _ in units) / len(units)
    hits = defaultdict[str, float](float)
    sizes = Counter[str]()
    for hit, video in units:
        hits[video] += hit
        sizes[video] += 1
    clusters = len(sizes)
    if clusters == 1:
        return Figure(value, n, lambda _level: (0.0, 1.0), 1, tuple(others))
    usual = n / clusters
    rows = [(hits[video], sizes[video]) for video in sizes] + [(usual / 2, usual)]
    whole = sum(size for _, size in rows)
    mean = sum(hit for hit, _ in rows) / whole
    square = sum((hit - size * mean) ** 2 for hit, size in rows) / whole**2
    square *= (clusters + 1) / clusters
    worth = mean * (1 - mean) / square * n / whole if square > 0 else math.inf
    return Figure(value, n, _wilson(value, min(worth, most), clusters), clusters, tuple(others))


def _wilson(value: float, worth: float, clusters: int) -> Callable[[float], tuple[float, float]]:
    def at(level: float) -> tuple[float, float]:
        k = float(student.ppf((1 + level) / 2, clusters - 1)) ** 2 / worth
        middle = value + k / 2
        half = math.sqrt(k * value * (1 - value) + k * k / 4)
        return max((middle - half) / (1 + k), 0.0), min((middle + half) / (1 + k), 1.0)

    return at


Words = Sequence[tuple[Sequence[str], str]]
"""What was said of each unit, and its video."""


def kappa(units: Words) -> Figure:
    """Return Cohen's kappa of two, each of whose units is two words."""

    def differ(units: Words) -> tuple[float, float]:
        n = len(units)
        one, two = (Counter(words[k] for words, _ in units) for k in (0, 1))
        observed = sum(words[0] != words[1] for words, _ in units) / n if n else 0.0
        return observed, 1 - sum(one[w] * two[w] for w in one) / n**2 if n else 0.0

    return _corrected(units, differ, len(units))


def alpha(units: Words) -> Figure:
    """Return Krippendorff's nominal alpha of units with two words or more."""
    given = [(words, video) for words, video in units if len(words) > 1]

    def differ(units: Words) -> tuple[float, float]:
        said = Counter(word for words, _ in units for word in words)
        total = said.total()
        if total < 2:
            return 0.0, 0.0
        apart = sum(
            sum(one != two for one, two in combinations(words, 2)) * 2 / (len(words) - 1)
            for words, _ in units
        )
        same = sum(count * (count - 1) for count in said.values())
        return apart / total, 1 - same / (total * (total - 1))

    return _corrected(given, differ, sum(len(words) for words, _ in given))


def _corrected(units: Words, differ: Callable[[Words], tuple[float, float]], most: float) -> Figure:
    """Return one less observed over expected disagreement; its interval by leaving videos out."""
    videos = sorted({video for _, video in units})
    observed, expected = differ(units)
    if expected <= 0:
        return Figure(math.nan, len(units), None)
    value = 1 - observed / expected
    n = len(units)
    if len(videos) == 1:
        return Figure(value, n, lambda _level: (-1.0, 1.0), 1)
    left = [differ([unit for unit in units if unit[1] != video]) for video in videos]
    ratios = [seen / hoped for seen, hoped in left if hoped > 0]
    mean = sum(ratios) / len(ratios) if ratios else 0.0
    square = sum((one - mean) ** 2 for one in ratios) * (len(ratios) - 1) / max(len(ratios), 1)
    scatter = expected**2 * square
    spread = observed * (1 - observed)
    worth = spread / scatter if scatter > 0 and spread > 0 else len(videos)
    inner = _wilson(observed, min(worth, most), len(videos))

    def at(level: float) -> tuple[float, float]:
        low, high = inner(level)
        return max(1 - high / expected, -1.0), min(1 - low / expected, 1.0)

    return Figure(value, n, at, len(videos))


def same(units: Words) -> Figure:
    return share((float(one == two), video) for (one, two), video in units)


def three(of: Figure) -> tuple[float, float, float]:
    return (of.value, *(of.at(0.95) if of.at else (math.nan, math.nan)))


def with_others(of: Figure, *others: float) -> Figure:
    return Figure(of.value, of.n, of.at, of.clusters, (*of.others, *others))


def camp(verdict: str | None) -> str | None:
    return "tie" if verdict in TIES else verdict if verdict in ("a", "b") else None


def spoken(row: Row, judge: str) -> dict[str, str]:
    """Return what a judge said of a battle by the seats, where it said who is better."""
    said = [one for one in row["verdicts"] if one["judge"] == judge and camp(one["verdict"])]
    return {one["seats"]: one["verdict"] for one in said}
