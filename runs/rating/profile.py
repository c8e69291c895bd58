"""What each model gets wrong more often than others, and where it wins."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple

import numpy as np

from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.memory.records.records import DECIDED
from videoautoarena.runs.formats.record_json import fields_json, record_json
from videoautoarena.runs.formats.words import in_full
from videoautoarena.runs.rating.finding import ENOUGH, SURE, figure_json
from videoautoarena.runs.rating.fit import number_names
from videoautoarena.runs.run.rundir.weaknesses import Fought, Look, Looks
from videoautoarena.scoring.fitting.counts import Ints
from videoautoarena.scoring.intervals.proportions import ClusterCounts, Contrast, measure_contrast

LEAST_ANSWERS = 2
"""Answers that show a theme; what was found in fewer is none."""
MOST_THEMES = 40
"""Only the most frequent themes are kept; weaknesses of all others count as no theme."""
LEAST_TESTED = 5
"""Answers with a theme, of all models, below which no model is said to differ in it."""
QUOTES, BATTLES, TELLING = 4, 6, 4
"""How many faults and battles are named of a theme, and how many telling wins and losses."""

Mark = Literal["more", "less"]
_TYPED, _NEAR = 60, 5
"""Characters that are read of a typed name, and names that are offered in place of a wrong one."""


class ShareDifference(NamedTuple):
    """A difference of two shares with its 95 % interval; None where it is not finite."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ThemeRow:
    """How often one model shows one theme, beside all other models together."""

    theme: str
    """A weakness as it was written: the one most like all that are put together with it."""
    n: int
    """Answers of the model that show it."""
    of: int
    """Answers of the model that were looked at."""
    share: float | None
    """`n` of `of`."""
    low: float | None
    """Lower end of its 95 % interval, clustered by video."""
    high: float | None
    """Upper end."""
    others_n: int
    """Answers of all other models together that show it."""
    others_of: int
    """Their answers that were looked at."""
    others_share: float | None
    """`others_n` of `others_of`."""
    difference: ShareDifference
    """Difference of the two shares: `value`, `low`, `high` (95 %, clustered by video)."""
    quotes: tuple[str, ...]
    """Up to 4 faults of answers that show it, answers with the fewest weaknesses first."""
    battles: tuple[str, ...]
    """Ids of up to 6 battles in which it shows it, in the same order."""
    mark: Mark | None = None
    """`more` or `less` where the interval of the difference excludes 0 at Bonferroni's level for
    `tested` themes; else None."""


@dataclass(frozen=True)
class OtherWeaknesses:
    """Weaknesses that are no theme, since hardly any answer shows them."""

    n: int
    """Answers of the model that show one."""
    quotes: tuple[str, ...]
    battles: tuple[str, ...]


@dataclass(frozen=True)
class Opponent:
    """Results of the decided battles against one model."""

    model: str
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class ModelProfile:
    """What one model gets wrong, and where it wins."""

    model: str
    """Its name."""
    grouped_by: str
    """`words`, or the model whose embeddings made the themes."""
    looked_at: int
    """Its answers that the evolver looked at."""
    tested: int
    """Themes tested for a difference: both sides have 20 answers of several videos, and 5 answers
    show the theme."""
    themes: tuple[ThemeRow, ...]
    """[One](#a-theme-of-weaknesses) a theme, by how often the model shows it; at most 40, the most
    frequent of the run."""
    other: OtherWeaknesses
    """Weaknesses that are no theme: the `n` answers with one, up to 4 `quotes` and 6 `battles`."""
    wins: tuple[str, ...]
    """Ids of up to 4 battles won: over the best-rated, on the hardest questions first."""
    losses: tuple[str, ...]
    """Ids of up to 4 battles lost: to the worst-rated, on the easiest questions first."""
    opponents: tuple[Opponent, ...]
    """Best-rated first: `model`, and decided battles as `wins`, `ties`, `losses`."""

    def to_json(self) -> dict[str, Any]:
        """Return it as `arena leaderboard OUT --profile MODEL --json` prints it."""
        return record_json(self)


@dataclass(frozen=True)
class ModelProfiles:
    """The profiles of all models of a run."""

    grouped_by: str
    """`words`, or the model whose embeddings made the themes."""
    answers: int
    """Answers the evolver looked at."""
    weaknesses: int
    """Different weaknesses it wrote down."""
    profiles: tuple[ModelProfile, ...]
    """[One](#a-profile) a model, best-rated first."""

    def to_json(self) -> dict[str, Any]:
        """Return them as `arena leaderboard OUT --profile --json` prints them."""
        return {**record_json(self), "profiles": [fields_json(one) for one in self.profiles]}


@dataclass(frozen=True, eq=False)
class ThemeTallies:
    """Answers by model, video and theme."""

    themes: Sequence[str]
    shown: Ints
    """Shape (models, themes, videos): answers that show a theme."""
    looked: Ints
    """Shape (models, videos): answers that were looked at."""

    def contrast(self, model: int, theme: int) -> Contrast:
        """Return how a model differs from all others in a theme."""
        hits = self.shown[model, theme]
        sizes = self.looked[model]
        rest = ClusterCounts(
            self.shown[:, theme].sum(axis=0) - hits, self.looked.sum(axis=0) - sizes
        )
        return measure_contrast(ClusterCounts(hits, sizes), rest)

    def others_n(self, model: int, theme: int) -> int:
        """Return how many answers of the others show a theme."""
        return int(self.shown[:, theme].sum() - self.shown[model, theme].sum())

    def is_tested(self, contrast: Contrast, theme: int) -> bool:
        """Return whether both sides have enough answers and videos to say that they differ."""
        sides = (contrast.one, contrast.other)
        enough = all(side.n >= ENOUGH and side.spread is not None for side in sides)
        return enough and int(self.shown[:, theme].sum()) >= LEAST_TESTED


def build_profiles(
    looks: Looks,
    ratings: Mapping[str, float | None],
    *,
    grouped_by: str = "words",
) -> ModelProfiles:
    """Return the profiles of models.

    Args:
        looks: what was written down about answers, and the battles they were given in.
        ratings: the rating of every model, best first; None for one without.
        grouped_by: what the themes of `looks` were made by.
    """
    models = list(ratings)
    found = Counter(theme for look in looks.every for theme in looks.themes_of(look.weaknesses))
    often = [(theme, n) for theme, n in found.items() if n >= LEAST_ANSWERS]
    kept = [theme for theme, _ in sorted(often, key=lambda of: (-of[1], of[0]))[:MOST_THEMES]]
    tallies = _tally(looks, models, kept)
    met = _met(looks.battles, models)
    profiles = []
    for k, model in enumerate(models):
        looked = [look for look in looks.every if look.model == model]
        tested, rows = _rows(tallies, k, looked, looks)
        wins, losses = _telling(met[model], ratings)
        points = defaultdict[str, Counter[float]](Counter)
        for bout in met[model]:
            points[bout.rival][bout.points] += 1
        profile = ModelProfile(
            model,
            grouped_by,
            looked_at=len(looked),
            tested=tested,
            themes=rows,
            other=_other(looked, looks, frozenset(kept)),
            wins=wins,
            losses=losses,
            opponents=tuple(
                Opponent(model, points[model][1.0], points[model][0.5], points[model][0.0])
                for model in models
                if model in points
            ),
        )
        profiles.append(profile)
    return ModelProfiles(grouped_by, len(looks.every), len(looks.counts), tuple(profiles))


def _tally(looks: Looks, models: Sequence[str], themes: Sequence[str]) -> ThemeTallies:
    places = {model: k for k, model in enumerate(models)}
    columns = {theme: k for k, theme in enumerate(themes)}
    every = [look for look in looks.every if look.model in places]
    video = number_names([look.video for look in every])
    videos = int(video.max(initial=-1)) + 1
    shown = np.zeros((len(models), len(themes), videos), dtype=np.int64)
    looked = np.zeros((len(models), videos), dtype=np.int64)
    for look, where in zip(every, video.tolist(), strict=True):
        looked[places[look.model], where] += 1
        for theme in looks.themes_of(look.weaknesses):
            if theme in columns:
                shown[places[look.model], columns[theme], where] += 1
    return ThemeTallies(themes, shown, looked)


def _rows(
    tallies: ThemeTallies, model: int, looked: Sequence[Look], looks: Looks
) -> tuple[int, tuple[ThemeRow, ...]]:
    """Return how many themes were tested for a model, and all of them, the most frequent first."""
    themes = tallies.themes
    contrasts = [tallies.contrast(model, k) for k in range(len(themes))]
    is_tested = [tallies.is_tested(contrast, k) for k, contrast in enumerate(contrasts)]
    tested = sum(is_tested)
    # Where shares are equal, a single 95 % interval excludes 0 in up to 7 % of draws: of forty
    # themes two or three would be marked by chance.
    level = 1.0 - (1.0 - SURE) / max(tested, 1)
    showing = defaultdict[str, list[Look]](list)
    for look in looked:
        for theme in looks.themes_of(look.weaknesses):
            showing[theme].append(look)
    rows = []
    for k, theme in enumerate(themes):
        mark = _mark(contrasts[k], level) if is_tested[k] else None
        row = _row(theme, contrasts[k], showing[theme], others_n=tallies.others_n(model, k))
        rows.append(replace(row, mark=mark))
    # Stable, so that equally frequent themes keep the order of the whole run.
    return tested, tuple(sorted(rows, key=lambda row: -row.n))


def _mark(contrast: Contrast, level: float) -> Mark | None:
    side = contrast.side(level)
    return None if side == 0 else "more" if side > 0 else "less"


def _row(theme: str, contrast: Contrast, showing: Sequence[Look], *, others_n: int) -> ThemeRow:
    one = contrast.one
    other = contrast.other
    # Where an answer has few weaknesses, its battle shows this one most plainly.
    telling = sorted(showing, key=lambda look: len(look.weaknesses))
    share, low, high = map(figure_json, one[:3])
    return ThemeRow(
        theme,
        n=len(showing),
        of=one.n,
        share=share,
        low=low,
        high=high,
        others_n=others_n,
        others_of=other.n,
        others_share=figure_json(other.value),
        difference=ShareDifference(*map(figure_json, (contrast.value, *contrast.bounds()))),
        quotes=_quoted(fault for look in telling for fault in look.faults),
        battles=tuple(look.battle for look in telling[:BATTLES]),
    )


def _quoted(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(list(dict.fromkeys(texts))[:QUOTES])


def _other(looked: Sequence[Look], looks: Looks, kept: frozenset[str]) -> OtherWeaknesses:
    found = [
        (look, [text for text in look.weaknesses if looks.theme_of[text] not in kept])
        for look in looked
    ]
    showing = [(look, texts) for look, texts in found if texts]
    return OtherWeaknesses(
        len(showing),
        _quoted(text for _, texts in showing for text in texts),
        tuple(look.battle for look, _ in showing[:BATTLES]),
    )


class ModelBattle(NamedTuple):
    """One decided battle from one model's side."""

    battle: Fought
    rival: str
    points: float
    """1 for a win, 0 for a loss, else 0.5."""


def _met(battles: Iterable[Fought], models: Sequence[str]) -> dict[str, list[ModelBattle]]:
    """Return the decided battles of each model."""
    met: dict[str, list[ModelBattle]] = {model: [] for model in models}
    for battle in battles:
        a = battle.model_a
        b = battle.model_b
        if battle.verdict in DECIDED and a in met and b in met:
            points = {"a": 1.0, "b": 0.0}.get(battle.verdict, 0.5)
            met[a].append(ModelBattle(battle, b, points))
            met[b].append(ModelBattle(battle, a, 1.0 - points))
    return met


def _telling(
    bouts: Iterable[ModelBattle], ratings: Mapping[str, float | None]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the wins and losses that say most about a model, each as ids of battles.

    Battles against unrated models say nothing. A question without a grade counts as the easiest
    among wins and as the hardest among losses.
    """
    rated = [(ratings[bout.rival], bout) for bout in bouts]
    won = [(r, b.battle) for r, b in rated if r is not None and b.points == 1.0]
    lost = [(r, b.battle) for r, b in rated if r is not None and b.points == 0.0]
    won.sort(key=lambda of: (-of[0], -(of[1].difficulty or 0.0), of[1].id))
    lost.sort(key=lambda of: (of[0], of[1].difficulty or np.inf, of[1].id))
    wins, losses = (tuple(battle.id for _, battle in found[:TELLING]) for found in (won, lost))
    return wins, losses


def profile_of(found: ModelProfiles, typed: str) -> ModelProfile:
    """Return the profile of a model by its name, whole or short.

    Raises:
        WrongArgument: there is no such model; the message names those that may be meant.
    """
    names = {profile.model: profile for profile in found.profiles}
    name = in_full(typed, names)
    if name not in names:
        near = _near(typed, list(names))
        more = len(names) - len(near)
        there = ", ".join([*near, *[f"{more} more"] * (more > 0)])
        raise WrongArgument(f"no model is called {typed!r}; there are {there}")
    return names[name]


def _near(typed: str, names: Sequence[str]) -> list[str]:
    """Return the names that may be meant, typed with or without a provider; else the first ones."""
    forms = {form.casefold(): name for name in names for form in (name, name.partition(":")[2])}
    # Cut, since the time of difflib grows with the square of what somebody typed.
    found = get_close_matches(typed[:_TYPED].casefold(), forms, n=_NEAR, cutoff=0.6)
    return list(dict.fromkeys(forms[form] for form in found)) or list(names[:_NEAR])
