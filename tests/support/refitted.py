"""Bradley-Terry fits in plain Python: nothing of `scoring` is used, nor of any package."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Fought = Mapping[tuple[str, str], tuple[float, float]]
"""Pair to battles and the first one's points; whichever way round, a pair may stand there twice."""


def climbed(theta: Mapping[str, float], fought: Fought) -> dict[str, float]:
    """Return strengths that fit best, by Newton's steps on one model after the other."""
    found = dict(theta)
    of: dict[str, list[tuple[str, float, float]]] = {name: [] for name in found}
    for (a, b), (n, points) in fought.items():
        of[a].append((b, n, points))
        of[b].append((a, n, n - points))
    for _ in range(2000):
        moved = 0.0
        for name, games in of.items():
            hoped = [(n, _chance(found[name] - found[rival])) for rival, n, _ in games]
            off = sum(points for _, _, points in games) - sum(n * p for n, p in hoped)
            step = off / max(sum(n * p * (1 - p) for n, p in hoped), 1e-9)
            step = max(-1.0, min(1.0, step))
            found[name] += step
            moved = max(moved, abs(step))
        if moved < 1e-9:
            break
    first = next(iter(found.values()))
    return {name: value - first for name, value in found.items()}


def hat_values(theta: Mapping[str, float], fought: Fought) -> dict[tuple[str, str], float]:
    """Return by how much each pair's battles draw the fit to themselves; they sum to models - 1."""
    names = list(theta)[1:]
    place = {name: k for k, name in enumerate(names)}
    weight = {}
    matrix = [[0.0] * len(names) for _ in names]
    for (a, b), (n, _) in fought.items():
        p = _chance(theta[a] - theta[b])
        weight[a, b] = n * p * (1 - p)
        for one, other in ((a, b), (b, a)):
            if one in place:
                matrix[place[one]][place[one]] += weight[a, b]
                if other in place:
                    matrix[place[one]][place[other]] -= weight[a, b]
    spread = _inverse(matrix)

    def of(one: str, other: str) -> float:
        return spread[place[one]][place[other]] if one in place and other in place else 0.0

    return {(a, b): w * (of(a, a) + of(b, b) - 2 * of(a, b)) for (a, b), w in weight.items()}


def _chance(gap: float) -> float:
    return 1 / (1 + math.exp(-gap))


def _inverse(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the inverse, by Gauss and Jordan."""
    size = len(matrix)
    rows = [[*row, *(float(k == i) for k in range(size))] for i, row in enumerate(matrix)]
    for k in range(size):
        top = max(range(k, size), key=lambda i: abs(rows[i][k]))
        rows[k], rows[top] = rows[top], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(size):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[size:] for row in rows]
