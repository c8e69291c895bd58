"""Short texts that say the same in other words, found by their words or by vectors of them.

scikit-learn takes a second and a half to import, so this module is imported where it is needed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import csr_array, hstack
from scipy.spatial.distance import squareform
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from sklearn.preprocessing import normalize

from videoautoarena.scoring.fitting.counts import Floats, Ints

Embed = Callable[[Sequence[str]], Floats]

MOST = 1500
"""Distinct texts that are clustered; the rest join the nearest theme, since the cost is quadratic.
"""
BY_WORDS, BY_VECTORS = 0.14, 0.3
"""Cosine that the texts of two groups have to one another on average, at least, to be one theme."""
_READ = 400
"""Characters of a text that are read."""
_WORD = re.compile(r"\w+")
_ENDING = re.compile(r"(?:ies|ing|ed|es|ly|s|e)\Z")
_LEAST_STEM = 5
_COMMON = """
answer answers confuse confuses did didn do does doesn don fail failed fails gave get gets give
gives ignore ignored ignores inaccurate incorrect incorrectly lack lacks make makes miss missed
misses model overlook overlooked overlooks response responses too tends unable video videos wrong
wrongly
"""
_NO_THEME = ENGLISH_STOP_WORDS | frozenset(_COMMON.split())
"""What any weakness may be told with."""


def find_themes(counts: Mapping[str, int], embed: Embed | None = None) -> dict[str, str]:
    """Return the theme of each text: the one among those like it that is most like them all.

    Texts that differ in case, blanks and closing stops alone are one. With the same texts and one
    release of scikit-learn the answer is the same each time.

    Args:
        counts: how often each text was written.
        embed: makes vectors of texts; None: their words are compared, and pieces of words.

    Source: average linkage by Sokal and Michener (1958), Univ. Kansas Sci. Bull. 38.
    """
    spellings = defaultdict[str, list[str]](list)
    for text in counts:
        spellings[_plain(text)].append(text)
    groups = [sorted(same, key=lambda t: (-counts[t], t)) for same in spellings.values()]
    groups.sort(key=lambda same: (-sum(counts[t] for t in same), same[0]))
    if not groups:
        return {}
    texts = [same[0] for same in groups]
    weights = np.array([float(sum(counts[text] for text in same)) for same in groups])
    points = _words(texts) if embed is None else _centred(embed, texts)
    labels = _cluster(points, BY_WORDS if embed is None else BY_VECTORS)
    names = [texts[place] for place in _central(points, labels, weights)]
    return {text: names[label] for same, label in zip(groups, labels, strict=True) for text in same}


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" .!;,")


def _stems(text: str) -> list[str]:
    """Return the words that tell a theme, without their endings."""
    words = [w for w in _WORD.findall(text.casefold()[:_READ]) if w not in _NO_THEME]
    return [_ENDING.sub("", w) if len(w) >= _LEAST_STEM else w for w in words]


def _left(text: str) -> str:
    words = _WORD.findall(text.casefold()[:_READ])
    return " ".join(word for word in words if word not in _NO_THEME)


def _words(texts: Sequence[str]) -> Any:
    """Return the texts as unit rows of the weights of words and of three to five letters."""
    readers = (
        TfidfVectorizer(analyzer=_stems, sublinear_tf=True),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), preprocessor=_left,
                        sublinear_tf=True),
    )  # fmt: skip
    parts = []
    for reader in readers:
        try:
            parts.append(reader.fit_transform(texts))
        except ValueError:  # not a word in any of them
            parts.append(csr_array((len(texts), 1)))
    return csr_array(normalize(hstack(parts)))


def _centred(embed: Embed, texts: Sequence[str]) -> Floats:
    """Return vectors without what all texts share, which says nothing of any."""
    vectors = embed(texts)
    return np.asarray(normalize(vectors - vectors.mean(axis=0)), dtype=np.float64)


def _cluster(points: Any, least: float) -> Ints:
    """Return the theme of each point, numbered from 0; the first `MOST` make themes."""
    head = points[:MOST]
    rest = points[MOST:]
    if head.shape[0] == 1:
        return np.zeros(1, dtype=np.int64)
    apart = _dot(head, head)
    np.clip(np.subtract(1.0, apart, out=apart), 0.0, None, out=apart)
    np.fill_diagonal(apart, 0.0)
    tree = linkage(squareform(apart, checks=False), "average")
    del apart
    labels = np.unique(fcluster(tree, 1.0 - least, "distance"), return_inverse=True)[1]
    if not rest.shape[0]:
        return labels.astype(np.int64)
    near = _dot(rest, _sums(head, labels, 1.0 / np.bincount(labels)[labels]))
    alone = labels.max() + 1 + np.arange(len(near))
    found = np.where(near.max(axis=1) >= least, near.argmax(axis=1), alone)
    return np.unique(np.concatenate([labels, found]), return_inverse=True)[1].astype(np.int64)


def _central(points: Any, labels: Ints, weights: Floats) -> Ints:
    """Return the place of the point of each theme that is nearest to all of it."""
    sums = _sums(points, labels, weights)
    # Rounded, so that of equals the first is taken, not the one with luck in its last digit.
    near = np.round(np.asarray((points * sums[labels]).sum(axis=1)).ravel(), 9)
    order = np.lexsort((np.arange(len(labels)), -near, labels))
    return np.asarray(order[np.unique(labels[order], return_index=True)[1]], dtype=np.int64)


def _sums(points: Any, labels: Ints, weights: Floats) -> Any:
    """Return the weighted sum of the points of each theme."""
    shape = (int(labels.max()) + 1, len(labels))
    return csr_array((weights, (labels, np.arange(len(labels)))), shape=shape) @ points


def _dot(one: Any, other: Any) -> Floats:
    product: Any = one @ other.T
    return np.asarray(product.toarray() if hasattr(product, "toarray") else product)
