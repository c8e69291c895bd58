"""Short texts that say the same in other words, found by their words or by vectors of them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import csr_array, hstack
from scipy.spatial.distance import squareform

from videoautoarena.scoring.fitting.counts import Floats, Ints

Embed = Callable[[Sequence[str]], Floats]

MOST = 1500
"""Distinct texts that are clustered; the rest join the nearest theme, since the cost is quadratic.
"""
BY_WORDS, BY_VECTORS = 0.14, 0.3
"""Least mean cosine between the texts of two groups at which they become one theme."""
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
_ENGLISH = """
a about above across after afterwards again against all almost alone along already also although
always am among amongst amoungst amount an and another any anyhow anyone anything anyway anywhere
are around as at back be became because become becomes becoming been before beforehand behind
being below beside besides between beyond bill both bottom but by call can cannot cant co con
could couldnt cry de describe detail do done down due during each eg eight either eleven else
elsewhere empty enough etc even ever every everyone everything everywhere except few fifteen fifty
fill find fire first five for former formerly forty found four from front full further get give go
had has hasnt have he hence her here hereafter hereby herein hereupon hers herself him himself his
how however hundred i ie if in inc indeed interest into is it its itself keep last latter latterly
least less ltd made many may me meanwhile might mill mine more moreover most mostly move much must
my myself name namely neither never nevertheless next nine no nobody none noone nor not nothing
now nowhere of off often on once one only onto or other others otherwise our ours ourselves out
over own part per perhaps please put rather re same see seem seemed seeming seems serious several
she should show side since sincere six sixty so some somehow someone something sometime sometimes
somewhere still such system take ten than that the their them themselves then thence there
thereafter thereby therefore therein thereupon these they thick thin third this those though three
through throughout thru thus to together too top toward towards twelve twenty two un under until
up upon us very via was we well were what whatever when whence whenever where whereafter whereas
whereby wherein whereupon wherever whether which while whither who whoever whole whom whose why
will with within without would yet you your yours yourself yourselves
"""
"""Stop words of the University of Glasgow, as scikit-learn has them."""
_NO_THEME = frozenset((_ENGLISH + _COMMON).split())
"""Words in which any weakness may be told."""


def find_themes(counts: Mapping[str, int], embed: Embed | None = None) -> dict[str, str]:
    """Return the theme of each text, named by the most central one of the texts like it.

    Texts that differ only in case, blanks and closing stops count as one. The same texts give the
    same answer each time.

    Args:
        counts: how often each text was written.
        embed: makes vectors of texts; with None, their words and pieces of words are compared.

    Source: average linkage by Sokal and Michener (1958), Univ. Kansas Sci. Bull. 38.
    """
    spellings = defaultdict[str, list[str]](list)
    for text in counts:
        spellings[_plain(text)].append(text)
    groups = [sorted(same, key=lambda t: (-counts[t], t)) for same in spellings.values()]
    # The most frequent first: they make the themes where there are more than MOST.
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


def _pieces(text: str) -> Iterator[str]:
    """Yield each run of three to five letters of the words that tell a theme, ends marked."""
    for word in _WORD.findall(text.casefold()[:_READ]):
        if word in _NO_THEME:
            continue
        marked = f" {word} "
        # A word that is no longer than a run counts once.
        for size in range(3, min(5, len(marked)) + 1):
            for start in range(len(marked) - size + 1):
                yield marked[start : start + size]


def _words(texts: Sequence[str]) -> Any:
    """Return the texts as unit rows of the weights of words and of three to five letters."""
    parts = [_weights(map(reader, texts)) for reader in (_stems, _pieces)]
    return _normalized(csr_array(hstack(parts)))


def _weights(documents: Iterable[Iterable[str]]) -> Any:
    """Return unit rows of the weights of terms: 1 + log of their counts, by how rare they are.

    To the last bit those of scikit-learn's `TfidfVectorizer(sublinear_tf=True)`: a digit would turn
    which of two equally near texts are joined. It is not used, since a report needs nothing else
    of its 51 MB.
    """
    first_seen = dict[str, int]()
    counts = [
        Counter(first_seen.setdefault(term, len(first_seen)) for term in terms)
        for terms in documents
    ]
    if not first_seen:
        return csr_array((len(counts), 1))
    terms = np.array([term for count in counts for term in sorted(count)])
    times = np.array([float(count[term]) for count in counts for term in sorted(count)])
    ends = np.cumsum([0, *map(len, counts)])
    rarity = np.log((len(counts) + 1.0) / (np.bincount(terms) + 1.0)) + 1.0
    shape = (len(counts), len(first_seen))
    found = _normalized(
        csr_array(((np.log(times) + 1.0) * rarity[terms], terms, ends), shape=shape)
    )
    column = np.empty(len(first_seen), dtype=found.indices.dtype)
    column[[first_seen[term] for term in sorted(first_seen)]] = np.arange(len(first_seen))
    found.indices = column[found.indices]
    # Columns were renumbered, which scipy cannot know.
    found.has_sorted_indices = False
    return found


def _normalized(rows: Any) -> Any:
    """Return sparse rows scaled to unit length; those of nothing stay so."""
    squares = csr_array((rows.data**2, rows.indices, rows.indptr), shape=rows.shape)
    lengths = np.sqrt(squares @ np.ones(rows.shape[1]))
    lengths[lengths == 0] = 1.0
    rows.data /= np.repeat(lengths, np.diff(rows.indptr))
    return rows


def _centred(embed: Embed, texts: Sequence[str]) -> Floats:
    """Return vectors less their mean, which all texts share and so tells nothing of any."""
    vectors = embed(texts)
    vectors = vectors - vectors.mean(axis=0)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    lengths[lengths == 0] = 1.0
    return np.asarray(vectors / lengths[:, None], dtype=np.float64)


def _cluster(points: Any, least: float) -> Ints:
    """Return the theme of each point, numbered from 0; the first `MOST` make themes."""
    head = points[:MOST]
    rest = points[MOST:]
    if head.shape[0] == 1:
        return np.zeros(1, dtype=np.int64)
    apart = _dot(head, head)
    # In place, and rounding may have put a cosine above 1.
    np.clip(np.subtract(1.0, apart, out=apart), 0.0, None, out=apart)
    np.fill_diagonal(apart, 0.0)
    tree = linkage(squareform(apart, checks=False), "average")
    del apart
    labels = np.unique(fcluster(tree, 1.0 - least, "distance"), return_inverse=True)[1]
    if not rest.shape[0]:
        return labels.astype(np.int64)
    # The mean vector of a theme gives the mean cosine to its texts, as average linkage has it.
    near = _dot(rest, _sums(head, labels, 1.0 / np.bincount(labels)[labels]))
    # A text that is like no theme is one of its own.
    alone = labels.max() + 1 + np.arange(len(near))
    found = np.where(near.max(axis=1) >= least, near.argmax(axis=1), alone)
    return np.unique(np.concatenate([labels, found]), return_inverse=True)[1].astype(np.int64)


def _central(points: Any, labels: Ints, weights: Floats) -> Ints:
    """Return the place of the point of each theme that is nearest to all of it."""
    sums = _sums(points, labels, weights)
    # Rounded, so that among equals the first is taken and no last digit decides.
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
