"""What questions are about, found from their words: latent topics, then dense clusters of them.

scikit-learn is an extra and takes a second and a half to import, so functions import it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from videoautoarena.memory.records.errors import need_package
from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.fitting.newton import one_blas_thread

LEAST = 20
"""The fewest questions that get topics."""
DEPTH = 16
"""Latent dimensions: enough for some dozens of topics, few enough for clusters to be dense."""
# The most words by which questions are told apart: those that occur most often.
WORDS = 2000
SMALLEST = 5
"""The fewest questions of a topic, which has a hundredth of all at least."""
MOST = 3000
"""Questions that are clustered; the rest join the nearest cluster, since the cost is quadratic."""
OTHER = "other"


def need_topics() -> None:
    """Raise MissingExtra where topics cannot be found."""
    need_package("sklearn", "a draw over topics needs scikit-learn", "text")


def topics_of(
    questions: Sequence[str], seed: int, vectors: Floats | None = None
) -> list[str | None]:
    """Return the topic of each question: its three weightiest words, or `other` for outliers.

    All None if there are too few questions or words, or nothing clusters. With one seed and one
    release of scikit-learn the answer is the same each time.

    Args:
        questions: whose words also name the topics.
        seed: of the reduction.
        vectors: shape (questions, width), what to cluster in place of words; None: their words.

    Source: HDBSCAN by Campello, Moulavi and Sander (2013), PAKDD; VisionArena draws so.
    """
    need_topics()
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    # A word of one question alone groups nothing, nor does one of more than half of them.
    read = TfidfVectorizer(
        stop_words="english", min_df=2, max_df=0.5, max_features=WORDS, sublinear_tf=True
    )
    try:
        weights = read.fit_transform(questions)
    except ValueError:  # no word occurs twice
        return [None] * len(questions)
    # What all embeddings have in common would else be the first of the latent dimensions.
    wide = weights if vectors is None else vectors - vectors.mean(axis=0)
    depth = min(DEPTH, min(wide.shape) - 1)
    if len(questions) < LEAST or depth < 1:
        return [None] * len(questions)
    # Sums of several threads may end in other bits, and so in other clusters.
    with one_blas_thread():
        # scikit-learn takes seeds below 2**32 alone; here any whole number is one.
        found = TruncatedSVD(depth, random_state=seed % 2**32).fit_transform(wide)
        # Of unit length, so that questions are near by their direction and not by their length.
        labels = _cluster(normalize(found), seed)
    if labels.max() < 0:
        return [None] * len(questions)
    names = _names(weights, labels, read.get_feature_names_out())
    return [names.get(int(label), OTHER) for label in labels]


def _cluster(points: Floats, seed: int) -> Ints:
    """Return the cluster of each point; -1 stands for none."""
    from sklearn.cluster import HDBSCAN

    size = len(points)
    drawn = np.sort(np.random.default_rng(seed % 2**32).permutation(size)[:MOST])
    least = max(SMALLEST, len(drawn) // 100)
    labels = np.full(size, -1, dtype=np.int64)
    labels[drawn] = HDBSCAN(min_cluster_size=least, copy=True).fit_predict(points[drawn])
    groups = [points[labels == label].mean(axis=0) for label in range(labels.max() + 1)]
    if groups and size > len(drawn):
        rest = np.setdiff1d(np.arange(size), drawn)
        labels[rest] = np.argmax(points[rest] @ np.array(groups).T, axis=1)
    return labels


def _names(weights: object, labels: Ints, words: Sequence[str]) -> dict[int, str]:
    names: dict[int, str] = {}
    for label in range(int(labels.max()) + 1):
        total = np.asarray(weights[np.flatnonzero(labels == label)].sum(axis=0)).ravel()  # type: ignore[index]
        # Stable, so that words of equal weight give the same name each time.
        best = np.argsort(-total, kind="stable")[:3]
        name = " ".join(str(words[k]) for k in best if total[k] > 0)
        # Two clusters may have the same three words, and an item knows its topic by name alone.
        names[label] = f"{name} ({label})" if name in names.values() else name
    return names
