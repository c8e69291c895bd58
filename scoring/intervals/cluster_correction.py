"""What clusters of unequal size do to a sandwich, and what is done about it.

A large cluster draws the fit to itself, so that its score comes out too small; and where few
clusters hold most of the evidence, there are fewer pieces of it than clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.sparse import csr_array

from videoautoarena.scoring.fitting.counts import Floats, Ints

_FELT = 0.1
"""Clusters that hold less than this part of what is known of any direction draw nothing that
matters."""
_TERMS = 50
_SMALL = 1e-10


def cluster_meat(
    cluster: Ints,
    entries: Sequence[tuple[Ints, Floats]],
    inform: Callable[[Floats], Floats],
    *,
    pull: Floats,
    bread: Floats,
) -> tuple[Floats, float]:
    """Return the sum over clusters of the outer product of their summed scores, and how many.

    The scores are corrected where some cluster draws the fit to itself, and the number of clusters
    is the effective one. `cluster`, shape (E,), says whose scores the entries are: of each, of
    which parameter it is and its value, two arrays of shape (E,).
    """
    shape = (len(pull), len(bread))
    effective = effective_number(pull)
    if not is_felt(pull):
        return sum_outer(cluster, entries, shape=shape), effective
    scores = without_pull(sum_scores(cluster, entries, shape=shape), bread, inform)
    # The jackknife's (G - 1) / G, of which make_spread takes the reverse.
    scores *= 1.0 - 1.0 / len(pull)
    return np.asarray(scores.T @ scores, dtype=np.float64), effective


def sum_outer(
    cluster: Ints, entries: Sequence[tuple[Ints, Floats]], *, shape: tuple[int, int]
) -> Floats:
    """Return the sum over clusters of the outer product of their summed scores."""
    rows, columns = shape
    if 8 * len(cluster) * len(entries) < rows * columns:
        of = np.tile(cluster, len(entries))
        column = np.concatenate([c for c, _ in entries])
        value = np.concatenate([v for _, v in entries])
        scores = csr_array((value, (of, column)), shape=shape)
        return np.asarray((scores.T @ scores).toarray(), dtype=np.float64)
    dense = sum_scores(cluster, entries, shape=shape)
    return np.asarray(dense.T @ dense, dtype=np.float64)


def sum_scores(
    cluster: Ints, entries: Sequence[tuple[Ints, Floats]], *, shape: tuple[int, int]
) -> Floats:
    """Return the summed scores of each cluster, shape (clusters, parameters)."""
    rows, columns = shape
    start = cluster * columns
    dense = np.zeros(rows * columns)
    for column, value in entries:
        dense += np.bincount(start + column, value, rows * columns)
    return dense.reshape(shape)


def sum_pull(cluster: Ints, hat: Floats, clusters: int) -> Floats:
    """Return how much each cluster draws the fit to itself: its hat values, shape (clusters,)."""
    return np.bincount(cluster, hat, clusters).astype(np.float64)


def is_felt(pull: Floats) -> bool:
    """Whether some cluster draws the fit to itself; `pull` as for `effective_number`."""
    return bool(pull.max(initial=0.0) > _FELT)


def without_pull(scores: Floats, bread: Floats, inform: Callable[[Floats], Floats]) -> Floats:
    """Return each cluster's score as a fit to the other clusters would leave it, CR3's.

    The sum over n of (H_g P)^n s_g, with H_g the information of a cluster and P the inverse of that
    of all, but for n from 50 on: a cluster that alone knows a direction keeps a finite score.

    Args:
        scores: shape (G, k).
        bread: shape (k, k), P.
        inform: takes directions, shape (G, k), to each cluster's information times its own.

    Source: Bell and McCaffrey (2002), Survey Methodology 28.
    """
    whole = scores.copy()
    term = scores
    least = _SMALL * float(np.abs(scores).max(initial=0.0))
    for _ in range(_TERMS):
        term = inform(term @ bread)
        whole += term
        if np.abs(term).max(initial=0.0) <= least:
            break
    return whole


def effective_number(pull: Floats) -> float:
    """Return how many equal clusters would say as much, from 2 to G; G where there are fewer.

    Satterthwaite's degrees of freedom, and one more, of a mean of independent battles in clusters
    that each hold a share of the information: `pull`, shape (G,), is the trace of each cluster's
    information times the inverse of all of it.

    Source: Bell and McCaffrey (2002); Pustejovsky and Tipton (2018), J. Bus. Econ. Stat. 36.
    """
    clusters = len(pull)
    if clusters < 3 or not pull.sum() > 0.0:
        return float(clusters)
    share = pull / pull.sum()
    beside = share**2 / np.maximum(1.0 - share, 1.0 / clusters**2)
    spread = (share**2).sum() + beside.sum() ** 2 - (beside**2).sum()
    return float(np.clip(1.0 + 1.0 / spread, 2.0, clusters))
