"""Shortcut probes: how often the key of a choice item is named without its video, and by what.

Seven probes each pick an option from texts and from the keys of the other items. Four of them
(longest, shortest, overlap, centre) look at no key, so that what they earn by chance is known
exactly. The three that learn (place, prior, classifier) earn by chance about as much, but scatter
more; where keys may be drawn again, as in sets that were made here, so often are they, and the
probe is fitted again each time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_matrix, hstack

from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.fitting.newton import one_blas_thread
from videoautoarena.scoring.questions.items import (
    FOUND,
    GIVEN_AWAY,
    LOOK,
    ChoiceItem,
    ItemDefect,
    ItemLayout,
    ProbePicks,
    Reading,
    TailChances,
    find_defects,
    lay_out,
    measure_leaks,
    measure_rough_tails,
    measure_tails,
    measure_unevenness,
    pick,
    score_centre,
    score_length,
    score_overlap,
    score_rates,
    words,
)

FOLDS, SOFTNESS = 5, 3.0
"""Parts that items are cut into, and the parameter C of the regression."""


def cut_folds(items: int, seed: int) -> Ints:
    """Return the part of each item, shape (n,): equally many of each, drawn."""
    return np.random.default_rng(seed).permutation(items) % max(min(FOLDS, items), 1)


def describe(layout: ItemLayout) -> Any:
    """Return the features of each option, sparse, shape (N, features).

    Words and pairs of words by TF-IDF, length against the other options of the item, the share of
    words that the question has, and the place.
    """
    length = score_length(layout)
    count = layout.size[layout.owner]
    off = length - (np.add.reduceat(length, layout.start) / layout.size)[layout.owner]
    wide = np.sqrt((np.add.reduceat(off**2, layout.start) / layout.size)[layout.owner])
    places = layout.place[:, None] == np.arange(int(count.max()))
    # One character more, since options of one length have no spread to be divided by.
    others = np.column_stack([off / (wide + 1.0), score_overlap(layout), places])
    return hstack([_weigh_words(layout), csr_matrix(others)]).tocsr()


def classify(layout: ItemLayout, features: Any, fold: Ints) -> Floats:
    """Return how right each option looks to a model of the other parts, shape (N,).

    The model is scikit-learn's logistic regression; all scores are 0 with nothing to learn from.
    """
    # Imported here: an extra, which only this probe needs.
    from sklearn.linear_model import LogisticRegression

    right = np.zeros(len(layout.owner))
    right[layout.key] = 1.0
    scores = np.zeros(len(right))
    for train, test in _splits(layout, fold):
        # scikit-learn refuses to learn from examples of one kind.
        if right[train].any():
            model = LogisticRegression(C=SOFTNESS, max_iter=200, solver="liblinear").fit(
                features[train], right[train]
            )
            scores[test] = model.decision_function(features[test])
    return scores


def learn_linearly(layout: ItemLayout, features: Any, fold: Ints) -> Floats:
    """Return the map from keys to how right options look to what is learned, shape (N, N).

    It is to be applied to 1 for a right option and 0 for a wrong one, less the chance of either;
    what it makes of the options of one part depends on the keys of the others only. This is, but
    for a factor, the first step that Newton would take up the likelihood of `classify`. It is
    linear in the keys, so that keys drawn a thousand times cost one product of matrices and no
    thousand regressions.
    """
    # The one is the intercept, as a feature that all options share.
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


def _splits(layout: ItemLayout, fold: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield the options to learn from and those to score, for each part that leaves any."""
    of = fold[layout.owner]
    for part in range(int(fold.max(initial=-1)) + 1):
        train = np.flatnonzero(of != part)
        test = np.flatnonzero(of == part)
        if len(train) and len(test):
            yield train, test


def _weigh_words(layout: ItemLayout) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    said = [_grams(option) for option in layout.options]
    if not any(said):
        return csr_matrix((len(said), 0))
    return TfidfVectorizer(analyzer=lambda grams: grams, sublinear_tf=True).fit_transform(said)


def _grams(text: str) -> list[str]:
    one = words(text)
    return one + [f"{a} {b}" for a, b in itertools.pairwise(one)]


PROBES = ("longest", "shortest", "place", "prior", "overlap", "centre", "classifier")
DRAWS = 999
"""Draws of keys where they may be drawn again: enough for a p-value of .001."""
_BY_TEXT: dict[str, Callable[[ItemLayout], Floats]] = {
    "longest": score_length,
    "shortest": lambda layout: -score_length(layout),
    "overlap": score_overlap,
    "centre": score_centre,
}
_LABELS: dict[str, Callable[[ItemLayout], Ints]] = {
    "place": lambda layout: layout.place,
    "prior": lambda layout: layout.text,
}
LEARNED = (*_LABELS, "classifier")
_AT_ONCE = 2_000_000
"""Most options, over all draws, that are held at a time."""
MOST_LEARNED = 500
"""Most items that the classifier's draws are made on, since their cost grows with the cube."""
# Right answers spread as evenly as one draw in a hundred are a quota and no chance.
_EVEN = 0.01
_SLACK = 1e-6


@dataclass(frozen=True)
class ProbeResult:
    """What one probe earns on a set."""

    SHOWN: ClassVar = ("probe", "share", "chance", "p", "p_below", "redrawn", "reading")

    probe: str
    """Its name."""
    share: float
    """Share of items whose key it names, 0 to 1; a pick shared by t options is worth 1/t. NaN
    without an item."""
    chance: float
    """What it would earn if keys were drawn evenly: the mean of 1 / options."""
    p: float
    """How likely keys drawn evenly give it as much, or more."""
    p_below: float
    """How likely they give it as little, or less."""
    redrawn: bool
    """Whether `p` counts draws of keys; else it is exact for what looks at no key."""
    reading: Reading
    """`found`, `look`, `clean` or `balanced too exactly`."""
    credits: Floats
    """Shape (items given,), what it earns on each item, 0 to 1; NaN for items without a key."""


class ProbeReport(NamedTuple):
    """What a set of items gives away."""

    n: int
    """Items with a key and at least two options; nothing but defects is said of others. One whose
    key is none of its options is among them, and nothing names it."""
    results: tuple[ProbeResult, ...]
    leak: Floats
    """Shape (items given,), how likely the probes that were found name the key; NaN without one."""
    given_away: NDArray[np.bool_]
    """Shape (items given,), whether `leak` is above one half."""
    defects: tuple[ItemDefect, ...]


class _ProbedItems(NamedTuple):
    """Items ready to be probed, and how often their keys are drawn again."""

    items: Sequence[ChoiceItem]
    layout: ItemLayout
    fold: Ints
    draws: int
    seed: int


def probe_items(
    items: Sequence[ChoiceItem], *, probes: Collection[str] = PROBES, draws: int = 0, seed: int = 0
) -> ProbeReport:
    """Return what the items give away to each of the probes.

    Args:
        items: those that are answered together; probes that learn do so from all of them.
        probes: some of `PROBES`.
        draws: how often keys are drawn again for probes that learn, such as `DRAWS`; 0 where the
            keys are what somebody found right and cannot be drawn.
        seed: of the draws and of the classifier's parts.

    Raises:
        ValueError: a probe that there is none of.
    """
    if unknown := set(probes) - set(PROBES):
        raise ValueError(f"no probe is called {', '.join(sorted(unknown))}")
    ready = _prepare(items, draws, seed)
    layout = ready.layout
    leak = np.full(len(items), np.nan)
    if len(layout.key) == 0:
        return ProbeReport(0, (), leak, np.zeros(len(items), np.bool_), find_defects(items))
    found = [(_pick(ready, name), name) for name in PROBES if name in probes]
    results = tuple(_find(ready, picks, name) for picks, name in found)
    speaking = [
        picks.top / picks.shared[layout.owner]
        for (picks, _), result in zip(found, results, strict=True)
        if result.reading == "found"
    ]
    told = np.column_stack([*speaking, np.empty((len(layout.owner), 0))])
    leak[layout.given[: len(layout.key)]] = measure_leaks(layout, told, ready.fold)
    away = np.nan_to_num(leak) > GIVEN_AWAY
    return ProbeReport(len(layout.given), results, leak, away, find_defects(items))


def _prepare(items: Sequence[ChoiceItem], draws: int, seed: int) -> _ProbedItems:
    layout = lay_out(items)
    return _ProbedItems(items, layout, cut_folds(len(layout.given), seed), draws, seed)


def _pick(ready: _ProbedItems, name: str) -> ProbePicks:
    layout = ready.layout
    if name in _BY_TEXT:
        return pick(_BY_TEXT[name](layout), layout)
    if name == "classifier":
        return pick(classify(layout, describe(layout), ready.fold), layout)
    rates = score_rates(layout, _LABELS[name](layout), layout.key[None])
    return pick(rates[0], layout)


def _find(ready: _ProbedItems, picks: ProbePicks, name: str) -> ProbeResult:
    layout = ready.layout
    earned = picks.earn(layout.key)
    credits = np.full(len(ready.items), np.nan)
    credits[layout.given] = earned
    known = _tell_tails(layout, picks, name)
    redrawn = bool(ready.draws) and name in LEARNED
    tails = _redraw(ready, name, earned) if redrawn else known
    return ProbeResult(
        probe=name,
        share=float(earned.mean()),
        chance=float((1.0 / layout.size).mean()),
        p=tails.above,
        p_below=tails.below,
        redrawn=redrawn,
        reading=_read(ready, name, tails=tails, known=known),
        credits=credits,
    )


def _tell_tails(layout: ItemLayout, picks: ProbePicks, name: str) -> TailChances:
    """Return the tails that follow from the sizes of items and picks alone."""
    k = len(layout.key)
    hit = picks.hits(layout.key)
    shared = picks.shared[:k]
    size = layout.size[:k]
    if name not in LEARNED:
        return measure_tails(hit, shared, size)
    # What is learned from other keys scatters more than its ties tell.
    return measure_rough_tails(hit / shared, size)


def _read(ready: _ProbedItems, name: str, *, tails: TailChances, known: TailChances) -> Reading:
    if tails.above <= FOUND:
        return "found"
    if name in _LABELS and known.below <= FOUND:
        if _evenness(ready, name) <= _EVEN:
            return "balanced too exactly"
        # Leaving a key out of nearly even counts lowers its own rate: that happens to any set.
        return "clean" if ready.draws and tails.above > LOOK else "look"
    if tails.below <= FOUND:
        return "balanced too exactly"
    return "look" if tails.above <= LOOK else "clean"


def _evenness(ready: _ProbedItems, name: str) -> float:
    """Return how likely keys drawn evenly spread over texts or places as evenly as these do."""
    layout = ready.layout
    labels = _LABELS[name](ready.layout)
    here = measure_unevenness(layout, labels, layout.key[None])[0]
    drawn = [measure_unevenness(layout, labels, keys) for keys in _draw_keys(ready, DRAWS)]
    return _rank(np.concatenate(drawn) <= here + _SLACK)


def _redraw(ready: _ProbedItems, name: str, earned: Floats) -> TailChances:
    """Return the tails by draws of keys, on each of which the probe is fitted again."""
    layout = ready.layout
    if name == "classifier":
        here, drawn = _redraw_classifier(ready)
    else:
        labels = _LABELS[name](layout)
        here = float(earned.sum())
        drawn = np.concatenate(
            [
                pick(score_rates(layout, labels, keys), layout).earn(keys).sum(axis=1)
                for keys in _draw_keys(ready, ready.draws)
            ]
        )
    return TailChances(_rank(drawn >= here - _SLACK), _rank(drawn <= here + _SLACK))


def _redraw_classifier(ready: _ProbedItems) -> tuple[float, Floats]:
    """Return what the classifier's linear form earns, and what by each draw of keys."""
    if len(ready.layout.given) > MOST_LEARNED:
        draw = np.random.default_rng([ready.seed, 2])
        # Whole items are left out, and both the set's keys and drawn ones are scored on the same
        # part.
        some = draw.choice(ready.layout.given, MOST_LEARNED, replace=False)
        ready = _prepare([ready.items[i] for i in some], ready.draws, ready.seed)
    layout = ready.layout
    learned = learn_linearly(layout, describe(layout), ready.fold)

    def earn(keys: Ints) -> Floats:
        right = np.zeros((len(keys), len(layout.owner)))
        np.put_along_axis(right, keys, 1.0, axis=1)
        scores = (right - (1.0 / layout.size)[layout.owner]) @ learned.T
        return np.asarray(pick(scores, layout).earn(keys).sum(axis=1), dtype=np.float64)

    drawn = [earn(keys) for keys in _draw_keys(ready, ready.draws)]
    return float(earn(layout.key[None])[0]), np.concatenate(drawn)


def _rank(as_far: NDArray[np.bool_]) -> float:
    # The set's own keys count as one of the draws, so that p is never 0.
    return float((1 + as_far.sum()) / (1 + len(as_far)))


def _draw_keys(ready: _ProbedItems, draws: int) -> Iterator[Ints]:
    """Yield keys drawn evenly, in portions of shape (some draws, k), `draws` in all."""
    layout = ready.layout
    # A stream of its own, so that keys do not depend on how the parts were drawn.
    draw = np.random.default_rng([ready.seed, 1])
    k = len(layout.key)
    step = max(1, _AT_ONCE // len(layout.owner))
    for first in range(0, draws, step):
        share = draw.random((min(step, draws - first), k))
        yield layout.start[:k] + (share * layout.size[:k]).astype(np.int64)
