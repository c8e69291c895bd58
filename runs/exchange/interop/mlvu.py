"""MLVU's published files: the nine of its dev set, and the questions of its test set.

Each is a JSON list of records with `video`, `duration`, `question` and `question_type`, and
`candidates` and `answer` or, of sub-scenes, `scoring_points`. The test set names its questions,
`question_id`, and says no answers; what a model chose goes out in the form it is submitted in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.runs.exchange.interop.task_sets import (
    LONGEST_ID,
    PublishedItems,
    StrictRecord,
    TaskSetImport,
    UnusableRecord,
    files_of,
    make_items,
    named_video,
    put_tasks,
    read_records,
)
from videoautoarena.runs.formats.battle_table import quoted

MLVU = "mlvu"
TASKS = {
    "topic_reasoning": "topic",
    "anomaly_reco": "anomaly",
    "findNeedle": "needle",
    "needle": "needle",
    "needleQA": "needle",
    "ego": "ego",
    "plotQA": "plot",
    "order": "order",
    "count": "count",
    "subPlot": "scene",
    "sub_scene": "scene",
    "summary": "summary",
    "sportsQA": "sports",
    "tutorialQA": "tutorial",
}
"""What the files call a task, dev and test apart, and what it is called here."""
FREE_TEXT = ("scene", "summary")
KNOWN = ("video", "duration", "question", "candidates", "answer", "scoring_points")
"""Keys of a record that have a field of their own in an item."""
# Items of the test set have six options, for which A to D are too few.
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def import_mlvu(
    place: Path, to: Path, *, split: str | None = None, licence: str | None = None
) -> TaskSetImport:
    """Make a task set of the published files in a folder, or of one, whole or not at all.

    A file whose records have a `question_id` is of the test set, another of the dev set, unless
    `split` says so.

    Raises:
        BadInput: a file cannot be read, a record in it cannot be used (it is named by its place),
            or `to` holds something else.
    """
    places = Counter[str]()
    parts = [_part(file, split, places) for file in files_of(place, "*.json")]
    names = {item.video_id: named_video(item.video_id) for part in parts for item in part.items}
    return put_tasks(parts, to, form=MLVU, licence=licence, videos=names)


def _part(file: Path, split: str | None, places: Counter[str]) -> PublishedItems:
    records = read_records(file)
    of = split or ("test" if records.any_has("question_id") else "dev")
    return make_items(records, lambda row: _item(row, of, places))


def _item(row: StrictRecord, split: str, places: Counter[str]) -> TaskItem:
    kind = row.text("question_type")
    if kind not in TASKS:
        raise UnusableRecord(f'has {quoted(kind)} under "question_type", which is no task of MLVU')
    task = TASKS[kind]
    places[task] += 1
    named = "question_id" in row
    # Records of the dev set have no id, so theirs is the task and the place among all files.
    qid = row.text("question_id", longest=LONGEST_ID) if named else f"{task}_{places[task] - 1}"
    options = row.options()
    if bool(options) is (task in FREE_TEXT):
        raise UnusableRecord(
            f'has "candidates", though {task} is answered in words'
            if options
            else 'has no "candidates" to choose from'
        )
    return TaskItem(
        qid=qid,
        video_id=row.text("video", longest=LONGEST_ID),
        task=task,
        question=row.text("question"),
        options=options,
        answer=row.optional_text("answer"),
        points=row.texts("scoring_points"),
        split=split,
        duration_s=row.number("duration"),
        extra=row.rest(KNOWN),
    )


def as_mlvu_predictions(
    items: Sequence[TaskItem], chosen: Mapping[str, int | None]
) -> list[dict[str, str]]:
    """Return the predictions on the asked items of choice in the form of MLVU, in their order.

    Args:
        items: those of a set, of any kind.
        chosen: by qid, the place of the option that was chosen, from 0; None if an answer names
            none, which goes out as an empty option.

    Raises:
        ValueError: a place at which an item has no option.
    """
    return [
        {
            "question_id": item.qid,
            # In an imported set their own word for the task, dev and test apart; else ours.
            "question_type": str(item.extra.get("question_type", item.task)),
            "option": _letter(item, chosen[item.qid]),
        }
        for item in items
        if item.is_choice and item.qid in chosen
    ]


def _letter(item: TaskItem, place: int | None) -> str:
    if place is None:
        return ""
    if not 0 <= place < len(item.options):
        raise ValueError(f"{item.qid} has no option at place {place}")
    return LETTERS[place]
