"""Figures of a set of dialogues: what each model came to by ability, and by turns and length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from videoautoarena.runs.bench.dialogues.score import DialogueScore, DialogueScores
from videoautoarena.runs.bench.format.entries import ABILITIES, TWIN, spoken
from videoautoarena.runs.bench.score.task_points import Figure
from videoautoarena.runs.figures.accuracies import COMMAND, Panel, Plate, draw_panels
from videoautoarena.runs.figures.canvas import Notes, Picture
from videoautoarena.runs.rundir.reader import STAND_INS
from videoautoarena.runs.views.dialogues import OVER_REFUSAL, dialogues_report

_PERCENT = (0.0, 100.0)
_REFUSAL = "answer_refusal"
_LINES = "Lines: 95 % intervals; n: dialogues."
_REFUSED = "Lines: 95 % intervals; n: dialogues, of over refusal rounds."


def abilities(scores: DialogueScores) -> Picture:
    """Return the accuracy of each model in each ability; the mean over the six stands first."""
    legend = ("Dashed: what saying nothing comes to.", _REFUSED if _has_twin(scores) else _LINES)
    panels = list(_by_ability(scores))
    return _picture("abilities", "accuracy by ability", scores, panels, legend)


def parts(scores: DialogueScores) -> Picture:
    """Return the accuracy of each model by turns, length of the video, and scenes."""
    panels = list(_by_part(scores))
    return _picture("parts", "accuracy by turns, length and scenes", scores, panels, (_LINES,))


def has_parts(scores: DialogueScores) -> bool:
    """Return whether the dialogues differ in turns, length or scenes."""
    return any(_by_part(scores))


def _picture(
    name: str, shows: str, scores: DialogueScores, panels: Sequence[Panel], legend: Sequence[str]
) -> Picture:
    plate = Plate(
        shows.capitalize(),
        STAND_INS if scores.stand_ins else "",
        _names(scores.models),
        panels,
        Notes([*legend, *_notes(scores)], [], COMMAND),
    )
    return Picture(name, shows, lambda bare: draw_panels(plate, bare=bare))


def _notes(scores: DialogueScores) -> list[str]:
    """Return what is to know of the scores, without that of rows which are not drawn."""
    said = (one for one in dialogues_report(scores).sentences if one.role == "said")
    return [one.text for one in said if one.key != "constants"]


def _has_twin(scores: DialogueScores) -> bool:
    return TWIN in scores.abilities


def _names(rows: Sequence[DialogueScore]) -> list[str]:
    """Return the names of models, with judges where there are several."""
    if len({row.judge for row in rows}) < 2:
        return [row.model for row in rows]
    return [f"{row.model} ({row.judge})" for row in rows]


def _by_ability(scores: DialogueScores) -> Iterator[Panel]:
    silence = next(one for one in scores.constants if one.name == "silence")
    rows = scores.models
    there = [ability for ability in ABILITIES if ability in scores.abilities]
    if len(there) > 1:
        yield Panel("overall", _PERCENT, silence.overall, tuple(row.overall for row in rows))
    for ability in there:
        figures = tuple(
            next((one.figure for one in row.abilities if one.ability == ability), None)
            for row in rows
        )
        yield Panel(spoken(ability), _PERCENT, silence.abilities.get(ability), figures)
        if ability == _REFUSAL:
            yield from _refused(scores)
    if _REFUSAL not in there:
        yield from _refused(scores)


def _refused(scores: DialogueScores) -> Iterator[Panel]:
    """Yield what stands beside refusals: the twin, and how much of it is refused."""
    if not _has_twin(scores):
        return
    silence = next(one for one in scores.constants if one.name == "silence")
    twins = tuple(row.twin.figure if row.twin else None for row in scores.models)
    yield Panel(spoken(TWIN), _PERCENT, silence.abilities.get(TWIN), twins)
    yield Panel(OVER_REFUSAL, _PERCENT, None, tuple(row.over_refusal for row in scores.models))


def _by_part(scores: DialogueScores) -> Iterator[Panel]:
    for by in ("turns", "length", "scenes"):
        known: dict[str, dict[int, Figure]] = {}
        for place, row in enumerate(scores.models):
            for one in row.parts:
                if one.by == by:
                    known.setdefault(one.part, {})[place] = one.figure
        order = sorted(known, key=int) if by == "turns" else list(known)
        for part in order if len(order) > 1 else ():
            figures = tuple(known[part].get(place) for place in range(len(scores.models)))
            name = f"{part} turns" if by == "turns" else part
            yield Panel(name, _PERCENT, None, figures)
