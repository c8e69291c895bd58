"""How far the classifier of a run agrees with a stronger model, or with people, by category.

Precision and recall, since a category that hardly occurs makes any classifier look accurate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.agents.prompting.contracts import read_decision
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import (
    QUESTION_CATEGORIES,
    Decision,
    QuestionCategory,
)
from videoautoarena.memory.records.remedies import option, step
from videoautoarena.runs.analysis.categories.tagging import draw
from videoautoarena.runs.analysis.categories.tags import (
    SHOWN,
    TaggedQuestion,
    classifiers_of,
    questions_of,
    tags_of,
)
from videoautoarena.runs.formats.battle_table import ColumnSheet, is_gap, quoted, read_sheet
from videoautoarena.runs.formats.files import comma_separated, refuse_existing, write_whole
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.rating.finding import Figure, figure_of
from videoautoarena.runs.rating.fit import share_of
from videoautoarena.runs.run.rundir.reader import RunReader

BY_VIDEO = "Wilson's, on as many questions as their videos are worth"
Said = Mapping[QuestionCategory, Decision]


class CategoryCheckRow(NamedTuple):
    """One category of a check."""

    category: str
    """What it is called."""
    truths: int
    """Questions that the other side calls yes."""
    claims: int
    """Questions that the classifier calls yes, where the other side says yes or no."""
    both: int
    """Questions that both call yes."""
    unknown: int
    """Questions the classifier has no readable answer to, where the other side says yes or no."""
    precision: Figure
    """Share of the claims that are true."""
    recall: Figure
    """Share of the truths that are claimed; what is unknown was not found."""


@dataclass(frozen=True)
class CategoryCheck:
    """How far a classifier agrees with another model or with people."""

    classifier: str
    """Whose tags were checked."""
    against: str
    """A model's name, or a file of people's labels."""
    questions: int
    """Questions of which both said something."""
    rows: tuple[CategoryCheckRow, ...]
    """One a category, see below."""
    interval: str = BY_VIDEO
    """How intervals were made."""

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena categories check --json`."""
        return record_json(self)


def check_rows(
    said: Sequence[Said], truth: Sequence[Said], videos: Sequence[str]
) -> tuple[CategoryCheckRow, ...]:
    """Return precision and recall of what was said of questions against what is true of them.

    Args:
        said: what the classifier says of each question.
        truth: what the other side says of each; where that is unknown the question is left out.
        videos: the video of each; questions about one video are one cluster.
    """
    rows = []
    for name in QUESTION_CATEGORIES:
        kept = [
            (one.get(name, "unknown"), other[name], video)
            for one, other, video in zip(said, truth, videos, strict=True)
            if other.get(name, "unknown") != "unknown"
        ]
        claims = [(true == "yes", video) for say, true, video in kept if say == "yes"]
        truths = [(say == "yes", video) for say, true, video in kept if true == "yes"]
        rows.append(
            CategoryCheckRow(
                category=SHOWN[name],
                truths=len(truths),
                claims=len(claims),
                both=sum(hit for hit, _ in claims),
                unknown=sum(say == "unknown" for say, _, _ in kept),
                precision=_share(claims),
                recall=_share(truths),
            )
        )
    return tuple(rows)


def _share(hits: Sequence[tuple[bool, str]]) -> Figure:
    return figure_of(share_of([hit for hit, _ in hits], [video for _, video in hits]))


def checked_classifier(run: RunReader, against: str) -> str:
    """Return whose tags a model is held against: of whoever tagged the run before it, the first.

    BadInput where nobody else tagged the run, or where it began and several others went on.
    """
    # Not who read the most, which the model itself does once it is asked of a larger sample.
    known = classifiers_of(run)
    if not known:
        raise _untagged(run)
    others = [name for name in known if name != against]
    if not others:
        raise BadInput(f"{against} is the classifier of this run; pass another model or a sheet")
    if known[0] == against and len(others) > 1:
        raise BadInput(
            f"{against} tagged this run first, and {', '.join(others)} did after it; pass one of "
            f"these with {option('against')}, to compare {against} with it"
        )
    return others[0]


def _untagged(run: RunReader) -> BadInput:
    return BadInput(
        f"no question of {run.folder} is tagged; first: {step('categories tag', str(run.folder))}"
    )


def check_comparable(run: RunReader, against: str, *, sample: int, seed: int) -> str:
    """Return whose tags a model would be held against, once it has tagged a sample.

    BadInput where nothing could be compared then: found out later, it costs calls.
    """
    classifier = checked_classifier(run, against)
    drawn = {asked.id for asked in draw(questions_of(run.battles), sample, seed)}
    if tags_of(run, classifier).keys().isdisjoint(drawn | tags_of(run, against).keys()):
        raise BadInput(
            f"no question of the sample is tagged by {classifier}; pass a larger {option('sample')}"
        )
    return classifier


def check_against(
    run: RunReader, against: str, truth: Mapping[str, Said], classifier: str | None = None
) -> CategoryCheck:
    """Return how the run's tags agree with what others say of its questions, by question id.

    BadInput where the run has no tags, or both sides have no question in common.
    """
    tags = tags_of(run, classifier)
    if not tags:
        raise _untagged(run)
    said = {id_ for id_, of in truth.items() if set(of.values()) - {"unknown"}}
    common = [tag for id_, tag in tags.items() if id_ in said]
    if not common:
        raise BadInput(f"{against} says nothing of any question that is tagged")
    rows = check_rows(
        [tag.categories for tag in common],
        [truth[tag.question] for tag in common],
        [tag.video for tag in common],
    )
    return CategoryCheck(common[0].classifier, against, len(common), rows)


def write_sheet(run: RunReader, to: Path, *, sample: int, seed: int, force: bool = False) -> int:
    """Write a random draw of tagged questions for people to fill in; return how many.

    One row a question, a column a category; nothing says what the classifier found.
    """
    refuse_existing(to, force=force)
    tags = tags_of(run)
    asked = [one for one in questions_of(run.battles) if one.id in tags]
    if not asked:
        raise _untagged(run)
    drawn = draw(asked, sample, seed)
    paths = {video.id: video.path for video in run.store.videos()}
    rows = [_row(one, paths.get(one.video, one.video)) for one in drawn]
    columns = ("question", "video", "text", *QUESTION_CATEGORIES)
    text = comma_separated(columns, rows)
    # A question that a model wrote may hold half a character, which has no UTF-8.
    write_whole(to, f"{text}\n".encode("utf-8", "backslashreplace"))
    return len(drawn)


def _row(asked: TaggedQuestion, path: str) -> list[str | int | float | None]:
    # As text a digest of digits alone would lose its zeros in a spreadsheet.
    return [f"q{asked.id}", path, asked.text, *([None] * len(QUESTION_CATEGORIES))]


def read_labels(file: Path) -> dict[str, Said]:
    """Return what people say of questions, by the id of the question.

    The file has a column `question` as `write_sheet` gives it, and columns of categories with yes
    or no; a blank cell says nothing. BadInput for a cell that is neither, or a question twice.
    """
    sheet = read_sheet(file, lambda name: name in ("question", *QUESTION_CATEGORIES))
    if "question" not in sheet.columns:
        raise BadInput(f"{file} has no column question; fill in what arena categories check wrote")
    there = [name for name in QUESTION_CATEGORIES if name in sheet.columns]
    if not there:
        raise BadInput(f"{file} has no column of a category, such as {QUESTION_CATEGORIES[0]}")
    said = {name: _decisions(sheet, name) for name in there}
    column = sheet.columns["question"]
    found: dict[str, Said] = {}
    for row, code in enumerate(column.codes.tolist()):
        id_ = str(column.values[code] or "").strip().removeprefix("q")
        if id_ in found:
            raise sheet.refuse(row, f"question {quoted(id_)} stands there twice")
        found[id_] = {name: said[name][row] for name in there}
    return found


def _decisions(sheet: ColumnSheet, name: str) -> list[Decision]:
    column = sheet.columns[name]
    read = ["unknown" if is_gap(value) else _cell(value) for value in column.values]
    wrong = {
        k: f"is {quoted(value)}; write yes or no, or leave it blank"
        for k, value in enumerate(column.values)
        if read[k] is None
    }
    sheet.check(name, wrong)
    return [read[code] or "unknown" for code in column.codes.tolist()]


_SHORT: Mapping[str, Decision] = {
    # Spreadsheets may turn a typed 1 into 1.0.
    **dict.fromkeys(("y", "1", "1.0", "x", "ja"), "yes"),
    **dict.fromkeys(("n", "0", "0.0", "nein"), "no"),
}


def _cell(value: object) -> Decision | None:
    """Return what a person wrote into a cell; None where that is neither yes nor no."""
    text = str(value).strip().casefold()
    if text in ("", "?", "unknown"):
        return "unknown"
    read = _SHORT.get(text) or read_decision(text)
    return None if read == "unknown" else read
