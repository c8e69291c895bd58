"""Figures about the questions of a run by category: how many, together with what, and who leads.

Every group of battles is rated apart, plainly and with style held equal, as a leaderboard is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import (
    DECIDED,
    QUESTION_CATEGORIES,
    Battle,
    QuestionCategory,
)
from videoautoarena.memory.records.remedies import step
from videoautoarena.memory.store.evidence import QuestionTag
from videoautoarena.runs.analysis.categories.tags import (
    NONE,
    SHOWN,
    asked_of,
    questions_of,
    said_yes,
    tags_of,
)
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.rating.finding import UNKNOWN, Figure, figure_of
from videoautoarena.runs.rating.fit import UNCONTROLLED, rater_of, share_of
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.rating.method import SOLID_BATTLES, USUAL
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.run.rundir.reader import RunReader

ALL = "all"
"""The group of all battles, which the others stand beside."""


class Place(NamedTuple):
    """Where a model stands in one group of battles; None where it is not rated in it."""

    model: str
    """Name in the roster."""
    rating: float | None
    """None, as the next three, where it is not rated in the group."""
    low: float | None
    """Lower end of its 95 % interval."""
    high: float | None
    """Upper end."""
    place: int | None
    """From 1, by rating, among the models that battles of the group join."""
    style_rating: float | None
    """With style held equal; None too, as the next two, where the battles do not tell style from
    the models."""
    style_place: int | None
    """Place by that."""
    moved: int | None
    """Places it moves up by that; below 0 down."""
    battles: int
    """Decided ones."""
    is_thin: bool
    """Under 100 of them."""


class Group(NamedTuple):
    """Battles of one category or language, and who leads in them."""

    name: str
    battles: int
    """Decided ones."""
    both_bad_share: Figure
    is_thin: bool
    places: tuple[Place, ...]
    """Places of all models, best first."""


class Count(NamedTuple):
    """How many questions are of a category."""

    category: str
    questions: int
    unknown: int
    """Questions for which this category could not be read."""
    share: Figure
    """Share of the questions that could be read; its interval knows which of them share a video."""


@dataclass(frozen=True)
class CategoryReport:
    """The figures that the tags of a run give."""

    classifier: str
    """Whose tags count."""
    model: str
    """`provider:model`."""
    questions: int
    """Questions of the run, equal ones about one video counted once."""
    tagged: int
    """Questions among these with a readable tag."""
    counts: tuple[Count, ...]
    """For each category, then `none of these`: `category`, `questions`, `unknown`, and `share` of
    those that could be read."""
    overlap: tuple[tuple[int, ...], ...]
    """Numbers of questions of both, by category and category in the order of `counts`."""
    groups: tuple[Group, ...]
    """`all` battles, then each category that occurs: `name`, `battles`, `both_bad_share`,
    `is_thin`, and `places`, see below."""
    languages: tuple[Group, ...]
    """The same groups by language; empty if no battle says its language."""

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena categories show --json`."""
        return record_json(self)


def report_of(run: RunReader, classifier: str | None = None) -> CategoryReport:
    """Return the figures of a run's tags; BadInput where it has none that could be read."""
    tags = tags_of(run, classifier)
    if not tags:
        there = ", ".join(dict.fromkeys(tag.classifier for tag in run.store.evidence.tags()))
        of = "" if classifier is None else f" by {classifier}"
        first = f"first: {step('categories tag', str(run.folder))}"
        known = f"it is by {there}" if of and there else first
        raise BadInput(f"no question of {run.folder} is tagged{of}; {known}")
    # Read once: what follows goes through them for every category.
    battles = list(run.battles)
    asked = [one for one in questions_of(battles) if one.id in tags]
    found = [tags[one.id] for one in asked]
    named = {
        battle.id: said_yes(tags[one.id])
        for battle in battles
        if battle.question is not None
        and (one := asked_of(battle.video, battle.question)).id in tags
    }
    # All of them are by one classifier.
    some = next(iter(tags.values()))
    return CategoryReport(
        classifier=some.classifier,
        model=some.model,
        questions=len(questions_of(battles)),
        tagged=len(found),
        counts=(*(_count(name, found) for name in QUESTION_CATEGORIES), _of_none(found)),
        overlap=_overlap(found),
        groups=_by_category(run, battles, named),
        languages=_by_language(run, battles),
    )


def _count(name: QuestionCategory, tags: Sequence[QuestionTag]) -> Count:
    read = [tag for tag in tags if tag.categories.get(name, "unknown") != "unknown"]
    hits = [tag.categories[name] == "yes" for tag in read]
    share = share_of(hits, [tag.video for tag in read])
    return Count(SHOWN[name], sum(hits), len(tags) - len(read), figure_of(share))


def _of_none(tags: Sequence[QuestionTag]) -> Count:
    """Return how many are of none; unknown where a category that was not read may still fit."""
    read = [tag for tag in tags if "unknown" not in tag.categories.values() or said_yes(tag)]
    hits = [not said_yes(tag) for tag in read]
    share = figure_of(share_of(hits, [tag.video for tag in read]))
    return Count(NONE, sum(hits), len(tags) - len(read), share)


def _overlap(tags: Sequence[QuestionTag]) -> tuple[tuple[int, ...], ...]:
    sets = [set(said_yes(tag)) for tag in tags]
    return tuple(
        tuple(sum(one in of and other in of for of in sets) for other in QUESTION_CATEGORIES)
        for one in QUESTION_CATEGORIES
    )


def _by_category(
    run: RunReader, battles: Sequence[Battle], named: Mapping[str, Sequence[str]]
) -> tuple[Group, ...]:
    tagged = [battle for battle in battles if battle.id in named]
    groups = [group_of(run, ALL, battles)]
    for name in QUESTION_CATEGORIES:
        if part := [battle for battle in tagged if name in named[battle.id]]:
            groups.append(group_of(run, SHOWN[name], part))
    if rest := [battle for battle in tagged if not named[battle.id]]:
        groups.append(group_of(run, NONE, rest))
    return tuple(groups)


def _by_language(run: RunReader, battles: Sequence[Battle]) -> tuple[Group, ...]:
    spoken = sorted({battle.language for battle in battles if battle.language is not None})
    parts = ((code, [one for one in battles if one.language == code]) for code in spoken)
    return tuple(group_of(run, code, part) for code, part in parts)


def group_of(run: RunReader, name: str, battles: Sequence[Battle]) -> Group:
    """Return who leads in some battles of a run, plainly and with style held equal."""
    roster = run.manifest["models"]
    decided = [battle for battle in battles if battle.verdict in DECIDED]
    rater = rater_of(run.manifest)
    plain = build(battles, roster, method=USUAL, rater=rater)
    styled = build(battles, roster, method=replace(USUAL, style=True), rater=rater)
    bad = share_of([b.verdict == "tie_bad" for b in decided], [b.video for b in decided])
    share = figure_of(bad) if decided else UNKNOWN
    thin = len(decided) < SOLID_BATTLES
    return Group(name, len(decided), share, thin, tuple(places_of(plain, styled)))


def places_of(plain: RatedLeaderboard, styled: RatedLeaderboard) -> Iterable[Place]:
    """Yield where each model stands, plainly and with style held equal where that is identified."""
    place = place_in(plain)
    other = place_in(styled)
    adjusted = {row.model: row for row in styled.models}
    for row in plain.models:
        controlled = adjusted[row.model]
        # There the adjusted board is the plain one, and "moved 0 places" would claim that style
        # moves nobody.
        is_refused = UNCONTROLLED in controlled.flags
        before = place(row.model)
        after = None if is_refused else other(row.model)
        moved = None if before is None or after is None else before - after
        yield Place(
            row.model,
            row.rating,
            row.low,
            row.high,
            before,
            None if is_refused else controlled.rating,
            after,
            moved,
            row.battles,
            row.battles < SOLID_BATTLES,
        )


def place_in(board: RatedLeaderboard) -> Callable[[str], int | None]:
    """Return a function from a model to its place, from 1, within the group that battles join.

    It returns None for a model that no battle rates.
    """
    found: dict[str, int] = {}
    rated = {row.model for row in board.models if row.rating is not None}
    for group in board.components:
        found |= {name: k for k, name in enumerate((n for n in group if n in rated), start=1)}
    return found.get
