"""Makes the reports of scores on tasks, one for each part of the set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from videoautoarena.runs.bench.score.score import FEW_VIDEOS
from videoautoarena.runs.bench.score.task_points import ScoreFigure
from videoautoarena.runs.bench.score.task_score import TaskBoard, TaskScore, TaskSetScores
from videoautoarena.runs.formats.words import FORMATS, Kind
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.runs.views.results.report import (
    MODEL,
    Column,
    ModelName,
    Part,
    Report,
    Section,
    Sentence,
    Table,
    Verbatim,
    counting,
    named,
    remark,
    sentence,
    spoken_table,
)
from videoautoarena.runs.views.results.sets import (
    MARKS,
    MOST_CURVES,
    RANK,
    RANKS,
    SHARES,
    SWEEP_NOTE,
    board_table,
    bounds_of,
    counts_table,
    cut_note,
    ends_sentences,
    ends_table,
    few_videos,
    figure_fields,
    gap_sentence,
    headline_of,
    ladder_sentences,
    ladders_table,
    odd_ends,
    played_fields,
    saw_none,
    stand_ins,
    sweep_sentences,
    sweep_tables,
    sweeps_table,
)

M_AVG = "M-Avg"
G_AVG = "G-Avg"
OVERALL = "overall"
_AVERAGES: tuple[tuple[str, str, Kind], ...] = (
    ("m_avg", M_AVG, "percent"), ("g_avg", G_AVG, "mark"), ("overall", OVERALL, "percent")
)  # fmt: skip
_INTERVALS: Mapping[Kind, Kind] = {"percent": "percent_interval", "mark": "mark_interval"}
ODD = {
    "unreadable": "names no option, or several",
    "forfeit": "has no answer",
    "unscored": "has no score",
    "void": "was not asked, its video is lost",
}
"""Endings of items that are named beside a table, and words for one such item."""
CSV_FIELDS = (
    "split", "model", "judge", "view", "max_frames", "task", "kind", "value", "low", "high", "n",
    "chance",
)  # fmt: skip
CHANCE = "(chance)"
MOST_NAMED = 4
"""Models that a sentence names; more are counted."""
MOST_MAPS = 12
"""Models whose needles are drawn."""
_BOARD_NOTES = ("meaning", "keyless", "caution", "few")
BARS = remark("Bars are 95 % intervals that know which items share a video; dashed: chance.")
TASKS_NOTE = remark(
    "Of choices the accuracy in percent, of free text the mean score, 2 to 10; beneath it the 95 % "
    "interval."
)
POSITIONS_NOTE = remark(
    "Accuracy in percent, with the number of needles. Down: where in the video the needle's middle "
    "lies; across: the length of the background. Pale: fewer than ten needles. Point at a cell for "
    "its interval."
)


def task_reports(scores: TaskSetScores) -> list[Report]:
    """Return the report of each part of a set."""
    figures = tuple(row for board in scores.boards for row in _figures(board))
    data = Table("data", "Scores on tasks", (MODEL,), figures, CSV_FIELDS)
    return [_report(scores, board, data) for board in scores.boards]


def _report(scores: TaskSetScores, board: TaskBoard, data: Table) -> Report:
    models = _models_table(board)
    tasks = ({"task": task, "mean": of} for task, of in board.task_means.items())
    means = spoken_table("means", tasks, task="text", mean="percent")
    lengths = ({"seconds": seconds, "mean": of} for seconds, of in board.needle_means.items())
    needles = spoken_table("needles", lengths, seconds="length", mean="percent")
    tally = counts_table(
        board.lead,
        items=board.items,
        videos=board.videos,
        sources=board.sources,
        keyless=board.keyless,
        results=sum(row.positions is not None for row in board.watched),
        fewer=sum(one.cheapest != one.best for one in board.sweeps),
        sweeps=len(board.sweeps),
    )
    whole = counting(tally.quote(0, "items"), "item")
    ends = ends_table((row.model, odd_ends(row.counts, ODD, row.missing)) for row in board.models)
    sweeps = sweeps_table(board.sweeps)
    together = [one for one in board.ladders if one.task is None]
    ladders = ladders_table(together)
    nobody = "No answer could be scored."
    if not board.watched:
        nobody = "No model has been shown the videos as they are."
    elif len({row.judge for row in board.watched if row.g_avg}) > 1:
        nobody = "Judges differ: compare models that one judge marked."
    headline = headline_of(board.lead, tally, nobody=nobody)
    part = Verbatim(f"{board.split}: " if board.split else "")
    sentences = (
        *_meaning(scores, board, tally),
        *ends_sentences(ends, whole),
        *saw_none(row.model for row in board.watched if row.is_blind),
        *sweep_sentences(board.sweeps, sweeps),
        *ladder_sentences(together, ladders),
        *_cautions(board, tally),
        headline,
        *_page_sentences(board, models, part),
        *_of_means(board, means, needles, tally, part),
    )
    title = sentence(
        "{part}{items} about {videos}",
        part=part,
        items=whole,
        videos=counting(tally.quote(0, "videos"), "video"),
    )
    tables = (models, means, needles, tally, ends, sweeps, ladders)
    return Report(tables, sentences, headline, above=(title,), data=data)


def _models_table(board: TaskBoard) -> Table:
    tasks = {(one.task, one.kind): one for row in board.models for one in row.tasks}
    # The column of an only task would repeat the mean.
    several = len(tasks) > 1
    is_choice = any(row.m_avg for row in board.models)
    judges = {row.judge for row in board.models} - {None}
    each = []
    for k, one in enumerate(tasks.values() if several else ()):
        # The most of any model: others may lack items that they were not asked.
        n = max(
            of.figure.n
            for row in board.models
            for of in row.tasks
            if (of.task, of.kind) == (one.task, one.kind)
        )
        chance = "" if one.chance is None else f", chance {one.chance:.0f}"
        kind: Kind = "percent" if one.kind == "choice" else "mark"
        about = f"n {n:,}{chance}"
        each.append(Column(f"task_{k}", one.task, kind, spare=len(tasks) - k, about=about))
    columns = [RANK] if board.lead is not None and board.lead.models > 1 else []
    columns.append(MODEL)
    if len(judges) > 1:
        columns.append(Column("judge", "judge", "name"))
    columns += (*_average_columns(board, len(tasks)), *each)
    mark = board.chance if is_choice else None
    rows = [
        _row_fields(row, list(tasks)) | played_fields(row, len(judges), ODD) | {"mark": mark}
        for row in board.models
    ]
    if board.chance is not None:
        of_tasks = {f"task_{k}": one.chance for k, one in enumerate(tasks.values())}
        # What guessing gives, as a row to be read against every column.
        rows.append({"model": CHANCE, "m_avg": board.chance, **of_tasks})
    caption = f"Scores of {counted(len(board.models), 'model')} on tasks"
    return Table("tasks", caption, tuple(columns), tuple(rows))


def _average_columns(board: TaskBoard, tasks: int) -> Iterator[Column]:
    """Yield the averages over tasks, each with its own interval and number of items behind it."""
    shown = [
        of
        for of in _AVERAGES
        # Of an only task all averages are one.
        if any(getattr(row, of[0]) is not None for row in board.models)
        and (of[0] != "overall" or tasks > 1)
    ]
    for place, (key, title, kind) in enumerate(shown):
        # Tasks go before the last average, and of the first the interval alone.
        spare = tasks + 3 * (len(shown) - place)
        of = f"{title} " * (len(shown) > 1)
        head = f"{of}interval" if of else "95 % interval"
        yield Column(key, title, kind, spare=spare * (key == "overall"))
        yield Column(f"{key}_interval", head, _INTERVALS[kind], bounds_of(key), spare=spare - 1)
        yield Column(f"{key}_n", f"{of}n", "count", spare=(spare - 2) * (place > 0))


def _row_fields(row: TaskScore, tasks: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {key: getattr(row, key) for key in ("judge", "view", *RANKS)}
    for key, _, _ in _AVERAGES:
        figure: ScoreFigure | None = getattr(row, key)
        fields |= figure_fields(key, figure) | {f"{key}_n": figure and figure.n}
    for one in row.tasks:
        fields |= figure_fields(f"task_{tasks.index((one.task, one.kind))}", one.figure)
    for name, figure in row.groups.items():
        fields |= figure_fields(f"group {name}", figure)
    return fields


def _meaning(scores: TaskSetScores, board: TaskBoard, tally: Table) -> Iterator[Sentence]:
    """Yield what figures mean, by whose rules they are made, and what has no score."""
    if any(row.m_avg for row in board.models):
        yield sentence(
            "M-Avg: mean of the tasks' accuracies on its n items that count, in percent. No answer "
            "counts as wrong; an item without its video or a known answer does not count.",
            key="meaning",
        )
    if any(row.g_avg for row in board.models):
        scale = Verbatim("2 to 10")
        yield sentence(
            "G-Avg: mean of the tasks' scores of free text, {scale}.", key="meaning", scale=scale
        )
    if scores.as_published:
        yield sentence("By the published rules: replies that are not one letter count as wrong.")
    if scores.stand_ins:
        yield stand_ins()
    if board.keyless:
        yield sentence(
            "{keyless:item} without a known answer: unscored.", tally.quotes(), key="keyless"
        )


def _cautions(board: TaskBoard, tally: Table) -> Iterator[Sentence]:
    """Yield where needles are shown, and what to know about intervals before believing them."""
    if any(row.positions for row in board.models):
        yield sentence(
            "Needles by position and length: --json, arena pictures and arena report.",
            key="needles",
        )
    if board.sources < board.videos:
        yield sentence(
            "Cut together from {sources:video}, by which intervals are clustered.",
            tally.quotes(),
            key="caution",
        )
    if board.sources < FEW_VIDEOS:
        yield few_videos()


def _page_sentences(board: TaskBoard, models: Table, part: Part) -> Iterator[Sentence]:
    """Yield for a page the score of the best, beside chance, and its lead over the next."""
    key = "m_avg" if any(row.m_avg for row in board.watched) else "g_avg"
    # The rows of those shown the whole, each model once.
    found: dict[str, int] = {}
    for k, row in enumerate(board.models):
        figure: ScoreFigure | None = getattr(row, key)
        if row.view == "whole" and figure is not None and figure.value is not None:
            found.setdefault(row.model, k)
    rows = list(found.values())
    for first in rows[:1]:
        chance: tuple[Part, ...] = ()
        said = "{part}{model} scores {figure} of {most}."
        if key == "m_avg":
            several = sum(one.kind == "choice" for one in board.models[first].tasks) > 1
            over = ", averaged over tasks" if several else ""
            said = f"{{part}}{{model}} is right {{figure}} of the time{over}{{chance}}."
            if board.chance is not None:
                chance = ("; guessing gives ", models.quote(len(board.models), key))
        yield sentence(
            said,
            key="score",
            role="page",
            part=part,
            model=ModelName(models.rows[first]["model"]),
            figure=models.quote(first, key),
            chance=chance,
            most=Verbatim("10"),
        )
    yield gap_sentence(models, key, rows, part=part)


def _of_means(
    board: TaskBoard, means: Table, needles: Table, tally: Table, part: Part
) -> Iterator[Sentence]:
    """Yield for a page which tasks are hard, what background costs, and who needs fewer frames."""
    found = board.task_means
    said = "{part}Answers are free text, scored by a judge who has the key."
    about: dict[str, Any] = {"part": part}
    if found:
        hardest = min(found, key=found.__getitem__)
        easiest = max(found, key=found.__getitem__)
        said = "{part}All choices are of one task, {hardest}."
        about |= {"hardest": Verbatim(hardest), "easiest": Verbatim(easiest)}
        if len(found) > 1:
            said = (
                "{part}{hardest} is the hardest task, {low} right on average; {easiest} the "
                "easiest, {high}."
            )
            about |= {"low": means.quote(hardest, "mean"), "high": means.quote(easiest, "mean")}
    yield sentence(said, key="tasks", role="page", **about)
    quotes = tally.quotes()
    if needles.rows:
        short = needles.quotes(0)
        long = needles.quotes(len(needles.rows) - 1)
        said = "{part}Needles are found {low} of the time."
        if len(needles.rows) > 1:
            said = (
                "{part}In {short} of background {low} of needles are found, in {long} {high}, "
                "averaged over {results:result}."
            )
        yield sentence(
            said,
            quotes,
            key="positions",
            role="page",
            part=part,
            short=short["seconds"],
            low=short["mean"],
            long=long["seconds"],
            high=long["mean"],
        )
    fewer = [one.model for one in board.sweeps if one.cheapest != one.best]
    for sweep in board.sweeps[:1]:
        verb = "does" if len(fewer) == 1 else "do"
        said = (
            "{part}No cheaper setting of any model is shown to be within {margin} points of its "
            "best."
        )
        if fewer:
            said = f"{{part}}{{who}} {verb} within {{margin}} points of its best at a cheaper "
            said += "setting."
        many = (quotes["fewer"], " of ", quotes["sweeps"], " models")
        yield sentence(
            said,
            key="sweeps",
            role="page",
            part=part,
            margin=Verbatim(f"{sweep.margin:g}"),
            who=named(fewer) if len(fewer) <= MOST_NAMED else many,
        )


def _figures(board: TaskBoard) -> Iterator[dict[str, Any]]:
    """Yield a row for each figure, with all digits."""
    for row in board.models:
        head = {"split": board.split, **{k: getattr(row, k) for k in CSV_FIELDS[1:5]}}
        for key, title, _ in _AVERAGES:
            figure: ScoreFigure | None = getattr(row, key)
            if figure is not None:
                chance = board.chance if key == "m_avg" else None
                about = {"task": title, "kind": "mean", "chance": chance}
                yield {**head, **about, **figure.model_dump()}
        for one in row.tasks:
            about = {"task": one.task, "kind": one.kind, "chance": one.chance}
            yield {**head, **about, **one.figure.model_dump()}


def board_sections(board: TaskBoard, report: Report, place: int) -> Iterator[Section]:
    """Yield the parts of a page about a part of a set: scores, tasks, needles, budgets."""
    models = report.tables[0]
    of = f" · {board.split}" if board.split else ""
    rows = tuple(row for row in models.rows if row.get("view") == "whole")
    drawn = [row for row in board.models if row.view == "whole"]
    figures = [
        Column(key, title, kind)
        for key, title, kind in _AVERAGES[:2]
        if any(row[key] is not None for row in rows)
    ] or [Column("m_avg", M_AVG, "percent")]
    axis = SHARES if figures[0].key == "m_avg" else MARKS
    ladder = board_table(models, f"Scores{of}", axis, rows, *figures)
    notes = [one for one in report.sentences if one.key in _BOARD_NOTES]
    title = Sentence((*report.above[0].parts, "."))
    said = report.sentence("gap")
    yield Section(f"board-{place}", f"Scores{of}", said, (ladder,), notes=(title, *notes, BARS))
    each = [column for column in models.columns if column.key.startswith("task_")]
    groups = dict.fromkeys(name for row in drawn for name in row.groups)
    by_group = [Column(f"group {name}", name, "percent") for name in groups]
    by_task = (
        replace(models, caption=f"By {what}{of}", columns=(MODEL, *some), rows=rows)
        for what, some in (("task", each), ("group of tasks", by_group))
        if len(some) > 1
    )
    if each:
        said = report.sentence("tasks")
        yield Section(f"tasks-{place}", f"By task{of}", said, tuple(by_task), notes=(TASKS_NOTE,))
    if maps := [_needles(row, of) for row in drawn if row.positions is not None]:
        notes = [POSITIONS_NOTE, *cut_note("results", MOST_MAPS, len(maps))]
        said = report.sentence("positions")
        some = tuple(maps[:MOST_MAPS])
        yield Section(f"positions-{place}", f"Needles{of}", said, some, notes=tuple(notes))
    if board.sweeps:
        yield Section(
            f"sweep-{place}",
            f"Budget{of}",
            report.sentence("sweeps"),
            tuple(sweep_tables(board.sweeps, board.chance)),
            tuple(one for one in report.sentences if one.key == "sweep"),
            (SWEEP_NOTE, *cut_note("models", MOST_CURVES, len(board.sweeps))),
        )


def _needles(row: TaskScore, of: str) -> Table:
    """Return where in the video a model finds needles: positions down, lengths across."""
    found = row.positions
    assert found is not None, "maps are of those whose needles have places"
    fifths = [f"{20 * k}–{20 * (k + 1)} %" for k in range(len(found.cells))]
    each = [(*line, whole) for line, whole in zip(found.cells, found.by_position, strict=True)]
    rows: list[dict[str, Any]] = []
    for name, cells in zip([*fifths, "all"], [*each, found.by_length], strict=True):
        rows.append({"position": name})
        for k, cell in enumerate(cells):
            if cell is not None:
                rows[-1] |= {**figure_fields(f"at_{k}", cell), f"at_{k}_n": cell.n}
    lengths = [FORMATS["length"].cell([seconds]) for seconds in found.lengths]
    columns = (
        Column("position", "position"),
        *(Column(f"at_{k}", title, "percent") for k, title in enumerate(lengths)),
        Column(f"at_{len(lengths)}", "all", "percent", is_aside=True),
    )
    caption = f"Needles of {row.model}{of}" + ("" if row.judge is None else f", judge {row.judge}")
    last = frozenset({len(fifths)})
    return Table(row.model, caption, columns, tuple(rows), starts=last, look="heat")
