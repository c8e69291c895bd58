"""Scores on dialogues for people: tables, and what is pasted into papers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from videoautoarena.runs.bench.dialogues.points import ALL
from videoautoarena.runs.bench.dialogues.score import (
    AbilityFigure,
    ConstantScore,
    DialogueScore,
    DialogueScores,
)
from videoautoarena.runs.bench.format.entries import ABILITIES, TWIN, Ability
from videoautoarena.runs.bench.score.score import FEW_VIDEOS
from videoautoarena.runs.bench.score.score_text import Shown, render, saw_none, sheet
from videoautoarena.runs.bench.score.task_points import Figure
from videoautoarena.runs.rundir.reader import STAND_INS, counted
from videoautoarena.runs.text.tables import Cell, comma_separated, mark_up

OVERALL, INTERVAL, OVER_REFUSAL = "overall", "95 % interval", "over refusal"
CSV_COLUMNS = (
    "model", "judge", "history", "max_frames", "by", "part", "value", "low", "high", "n",
)  # fmt: skip
CONSTANT_NAMES = {
    "all_yes": "(all yes)",
    "all_no": "(all no)",
    "silence": "(silence)",
    "refusal": "(refuses all)",
}
EACH = "a scored round"
"""What dollars of a sweep are counted by."""
ODD = ("forfeit", "unscored", "void")
"""How rounds end that are named beside a table."""
_REFUSALS = ("answer refusal", "refusal twin", OVER_REFUSAL)
"""Columns that stand together on every terminal, however narrow."""


def named(ability: Ability) -> str:
    """Return what an ability is called for people."""
    return ability.replace("_", " ")


def render_dialogues(scores: DialogueScores) -> Iterator[RenderableType]:
    """Yield a table by ability and one by turns, length and scenes, with what to read with them."""
    parts = _parts_shown(scores)
    yield Group(*render({}, _shown(scores), notes(scores)))
    if parts is not None:
        yield Text("")
        yield Group(*render({}, parts, []))


def pasted_dialogues(scores: DialogueScores, form: str) -> str:
    """Return scores as Markdown, LaTeX, HTML or CSV; CSV has all digits and a row a figure."""
    if form == "csv":
        return comma_separated(CSV_COLUMNS, list(_csv_rows(scores)))
    found = [sheet({}, _shown(scores), notes(scores))]
    if (parts := _parts_shown(scores)) is not None:
        found.append(sheet({}, parts, []))
    return "\n\n".join(mark_up(one, form) for one in found)


def _by_judge(scores: DialogueScores) -> list[str]:
    return ["judge"] if len({row.judge for row in scores.models}) > 1 else []


def _shown(scores: DialogueScores) -> Shown:
    there = [named(ability) for ability in ALL if ability in scores.abilities]
    if TWIN in scores.abilities:
        there.remove(named(TWIN))
        place = there.index("answer refusal") + 1 if "answer refusal" in there else len(there)
        there[place:place] = [named(TWIN), OVER_REFUSAL]
    columns = ("model", *_by_judge(scores), OVERALL, INTERVAL, *there)
    rows = [_cells(row, columns) for row in scores.models]
    rows += [_constant_cells(one, columns) for one in scores.constants]
    return Shown(
        columns,
        rows=rows,
        in_slice=lambda _: "",
        spare=(*(name for name in reversed(there) if name not in _REFUSALS), INTERVAL),
        longest_name=18,
        captions=(f"Scores of {counted(len(scores.models), 'model')} on dialogues", ""),
        label="dialogues",
    )


def _cells(row: DialogueScore, columns: Sequence[str]) -> list[str]:
    cells = {
        "model": row.model,
        "judge": row.judge,
        OVERALL: _printed(row.overall),
        INTERVAL: _bounds(row.overall),
        OVER_REFUSAL: _printed(row.over_refusal),
    }
    figures = [*row.abilities, *([row.twin] if row.twin else [])]
    cells |= {named(one.ability): _printed(one.figure) for one in figures}
    return [cells.get(name, "-") for name in columns]


def _constant_cells(one: ConstantScore, columns: Sequence[str]) -> list[str]:
    known: Mapping[str, float | None] = {
        OVERALL: one.overall,
        **{named(ability): value for ability, value in one.abilities.items()},
    }
    cells = {name: f"{value:.1f}" for name, value in known.items() if value is not None}
    cells["model"] = CONSTANT_NAMES[one.name]
    return [cells.get(name, "") for name in columns]


def _parts_shown(scores: DialogueScores) -> Shown | None:
    """Return accuracy by turns, length and scenes, of those that differ in the set."""
    parts: dict[str, None] = {}
    for by in ("turns", "length", "scenes"):
        found = dict.fromkeys(
            one.part for row in scores.models for one in row.parts if one.by == by
        )
        if len(found) > 1:
            parts |= dict.fromkeys(_heading(by, part) for part in found)
    if not parts:
        return None
    columns = ("model", *_by_judge(scores), *parts)
    rows = []
    for row in scores.models:
        cells = {_heading(one.by, one.part): _printed(one.figure) for one in row.parts}
        cells |= {"model": row.model, "judge": row.judge}
        rows.append([cells.get(name, "-") for name in columns])
    return Shown(
        columns,
        rows=rows,
        in_slice=lambda _: "",
        spare=tuple(reversed(parts)),
        longest_name=18,
        captions=("Mean of the dialogues by turns, length of the video, and scenes", ""),
        label="dialogue-parts",
    )


def _heading(by: str, part: str) -> str:
    return counted(int(part), "turn") if by == "turns" else part


def _printed(figure: Figure | None) -> str:
    return "-" if figure is None or figure.value is None else f"{figure.value:.1f}"


def _bounds(figure: Figure | None) -> str:
    if figure is None or figure.low is None or figure.high is None:
        return "-"
    return f"{figure.low:.1f} to {figure.high:.1f}"


def notes(scores: DialogueScores) -> list[str]:
    """Return what has to be read with scores: what they are, and what is odd about them."""
    found = [
        "Accuracy: items of the checklists answered as expected, in percent; the mean of a "
        "dialogue's rounds, then of an ability's dialogues. No answer has no item right.",
        _overall_note(scores),
        "(all yes), (all no): what constant answers to the items come to. (silence): a reply "
        "without words. (refuses all): says of whatever is asked for that it is not there.",
    ]
    if TWIN in scores.abilities:
        found.append(
            "Refusal twin: asked like a refusal, of what is there; over refusal: how much of it "
            "is refused. Neither is in the overall."
        )
    elif "answer_refusal" in scores.abilities:
        found.append(
            "Nothing here asks like a refusal of what is there: who always refuses is right."
        )
    if scores.as_published:
        found.append(
            "By the released scorer's arithmetic, faults included: each round is a share of five "
            "items whatever its list holds, to two digits; a perfect reply on 3 items is .60. "
            "Rounds whose judging failed are dropped."
        )
    found += [sweep.as_line(EACH) for sweep in scores.sweeps]
    if scores.stand_ins:
        found.append(f"{STAND_INS}.")
    for row in scores.models:
        odd = [f"{n} {end}" for end in ODD if (n := row.counts.get(end, 0))]
        odd += [f"{row.missing} not asked"] if row.missing else []
        name = f"{row.model}, marked by {row.judge}" if _by_judge(scores) else row.model
        if odd:
            found.append(f"{name}: {', '.join(odd)} of {counted(scores.rounds, 'round')}.")
        if without := [named(one) for one in row.lacking if one in scores.abilities]:
            found.append(f"{name}: nothing counts in {', '.join(without)}.")
    if blind := [row.model for row in scores.models if row.is_blind]:
        found.append(saw_none(blind))
    if scores.videos < FEW_VIDEOS:
        found.append(f"Fewer than {FEW_VIDEOS} videos, too few to trust an interval.")
    return found


def _overall_note(scores: DialogueScores) -> str:
    lacking = [ability for ability in ABILITIES if ability not in scores.abilities]
    if not lacking:
        return "Overall: the plain mean of the six abilities."
    there = len(ABILITIES) - len(lacking)
    return (
        f"Overall: the plain mean of those of the six abilities that are here, {there}; lacking: "
        f"{', '.join(map(named, lacking))}."
    )


def _csv_rows(scores: DialogueScores) -> Iterator[list[Cell]]:
    for row in scores.models:
        head: list[Cell] = [row.model, row.judge, row.history, row.max_frames]
        if row.overall is not None:
            yield [*head, OVERALL, "", *_figures(row.overall)]
        for one in _all_figures(row):
            yield [*head, "ability", one.ability, *_figures(one.figure)]
        if row.over_refusal is not None:
            yield [*head, "over_refusal", "", *_figures(row.over_refusal)]
        for part in row.parts:
            yield [*head, part.by, part.part, *_figures(part.figure)]
    for constant in scores.constants:
        head = [CONSTANT_NAMES[constant.name], None, None, None]
        yield [*head, OVERALL, "", constant.overall, None, None, None]
        for ability, value in constant.abilities.items():
            yield [*head, "ability", ability, value, None, None, None]


def _all_figures(row: DialogueScore) -> list[AbilityFigure]:
    return [*row.abilities, *([row.twin] if row.twin is not None else [])]


def _figures(figure: Figure) -> list[Cell]:
    return [figure.value, figure.low, figure.high, figure.n]
