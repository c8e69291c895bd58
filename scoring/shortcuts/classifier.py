"""Right options told from wrong ones by their words, learned from the other items."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_matrix, hstack

from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.fitting.newton import one_blas_thread
from videoautoarena.scoring.shortcuts.cues import score_length, score_overlap
from videoautoarena.scoring.shortcuts.items import Layout, words

FOLDS, SOFTNESS = 5, 3.0
"""Parts that items are cut into, and C of the regression."""


def cut_folds(items: int, seed: int) -> Ints:
    """Return the part of each item, shape (n,): equally many of each, drawn."""
    return np.random.default_rng(seed).permutation(items) % max(min(FOLDS, items), 1)


def describe(layout: Layout) -> Any:
    """Return the features of each option, sparse, shape (N, features).

    Words and pairs of words by TF-IDF, length against the other options of the item, the share of
    words that the question has, and the place.
    """
    length = score_length(layout)
    count = layout.size[layout.owner]
    off = length - (np.add.reduceat(length, layout.start) / layout.size)[layout.owner]
    wide = np.sqrt((np.add.reduceat(off**2, layout.start) / layout.size)[layout.owner])
    places = layout.place[:, None] == np.arange(int(count.max()))
    others = np.column_stack([off / (wide + 1.0), score_overlap(layout), places])
    return hstack([_weigh_words(layout), csr_matrix(others)]).tocsr()


def classify(layout: Layout, features: Any, fold: Ints) -> Floats:
    """Return how right each option looks to what was learned from the other parts, shape (N,).

    By logistic regression of scikit-learn; all the same where nothing is there to learn from.
    """
    from sklearn.linear_model import LogisticRegression

    right = np.zeros(len(layout.owner))
    right[layout.key] = 1.0
    scores = np.zeros(len(right))
    for train, test in _splits(layout, fold):
        if right[train].any():
            model = LogisticRegression(C=SOFTNESS, max_iter=200, solver="liblinear").fit(
                features[train], right[train]
            )
            scores[test] = model.decision_function(features[test])
    return scores


def learn_linearly(layout: Layout, features: Any, fold: Ints) -> Floats:
    """Return the map from keys to how right options look to what is learned, shape (N, N).

    It is to be applied to 1 for a right option and 0 for a wrong one, less the chance of either;
    what it makes of the options of a part hangs on the keys of the others alone. This is, but for
    a factor, the first step that Newton would take up the likelihood of `classify`. It is linear in
    the keys, so that keys drawn a thousand times cost one product of matrices and no thousand
    regressions.
    """
    products = (features @ features.T).toarray() + 1.0
    chance = (1.0 / layout.size)[layout.owner]
    soft = 1.0 / (SOFTNESS * float((chance * (1.0 - chance)).mean()))
    found: Floats = np.zeros(products.shape)
    for train, test in _splits(layout, fold):
        inner = products[np.ix_(train, train)]
        inner[np.diag_indices_from(inner)] += soft
        with one_blas_thread():
            found[np.ix_(test, train)] = cho_solve(
                cho_factor(inner), products[np.ix_(train, test)]
            ).T
    return found


def _splits(layout: Layout, fold: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield the options to learn from and those to score, for each part that leaves any."""
    of = fold[layout.owner]
    for part in range(int(fold.max(initial=-1)) + 1):
        train = np.flatnonzero(of != part)
        test = np.flatnonzero(of == part)
        if len(train) and len(test):
            yield train, test


def _weigh_words(layout: Layout) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    said = [_grams(option) for option in layout.options]
    if not any(said):
        return csr_matrix((len(said), 0))
    return TfidfVectorizer(analyzer=lambda grams: grams, sublinear_tf=True).fit_transform(said)


def _grams(text: str) -> list[str]:
    one = words(text)
    return one + [f"{a} {b}" for a, b in itertools.pairwise(one)]
