"""What was held against an anchor as arena-hard's files: questions, answers, judgments.

The files have the keys of its second version and the ids of its first, so that tools of both find
theirs. Nothing that a name holds is a path: what is no plain name of a file ends in a digest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.points import LABELS, LEADS, by_question
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import Anchored, Comparison
from videoautoarena.runs.bench.format.schema import Item, digest_of
from videoautoarena.runs.bench.score.score import anchored_by
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.files import make_folder, refuse_existing, write_lines
from videoautoarena.runs.run.rundir.reader import counted

CATEGORY = "video"
"""Under which arena-hard's tools find the questions."""
QUESTIONS = "question.jsonl"
ANSWERS = "model_answer"
JUDGMENTS = "model_judgment"
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MIRRORED = {"A>>B": "B>>A", "A>B": "B>A", "A=B": "A=B", "B>A": "A>B", "B>>A": "A>>B"}
Line = dict[str, Any]


class Exported(NamedTuple):
    """What was written."""

    folder: Path
    questions: int
    answers: int
    judgments: int
    files: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        return {**self._asdict(), "folder": str(self.folder), "files": list(self.files)}

    def as_line(self) -> str:
        """Return it as a line for a person."""
        return (
            f"{self.folder}: {counted(self.questions, 'question')}, "
            f"{counted(self.answers, 'answer')} and {counted(self.judgments, 'judgment')} "
            "as arena-hard files"
        )


def export_arena_hard(
    bench: OpenBench, to: Path, *, judge: str | None = None, force: bool = False
) -> Exported:
    """Write a bench, and what was held against anchors on it, as arena-hard's folder.

    A judge's line holds two games; a seating that was void has no score there, as in arena-hard.

    Raises:
        BadInput: nothing was held against an anchor; a file is there and not `force`; or one model
            answered a question in two ways, of which the folder has room for one.
    """
    results = anchored_by(bench, judge=judge)
    if not results:
        raise BadInput(
            f"there are no results against an anchor on {bench.folder}"
            + (f" by {quoted(judge)}" if judge else "")
            + "; make some with arena bench run --anchor"
        )
    answers = _answers(results)
    files = {
        Path(QUESTIONS): [
            {
                "uid": item.qid,
                "question_id": item.qid,
                "category": CATEGORY,
                "subcategory": item.category or CATEGORY,
                "prompt": item.question,
                "turns": [{"content": item.question}],
                "video_id": item.video_id,
                "persona": item.persona,
            }
            for item in bench.items
        ]
    }
    names = _names(answers)
    for model, texts in answers.items():
        lines = [_answer(model, item, texts[item.qid]) for item in bench.items if item.qid in texts]
        files[Path(ANSWERS, f"{names[model]}.jsonl")] = lines
    judges = _names(one.judge for one in results)
    judged = 0
    for result in results:
        file = f"{_names([result.model])[result.model]}.jsonl"
        path = Path(JUDGMENTS, judges[result.judge], file)
        lines = list(_judgments(bench, result))
        files[path] = [*files.get(path, []), *lines]
        judged += len(lines)
    for path in files:
        refuse_existing(to / path, force=force)
    for path, lines in files.items():
        make_folder((to / path).parent)
        write_lines(to / path, lines)
    given = sum(len(texts) for texts in answers.values())
    return Exported(to, len(bench.items), given, judged, tuple(str(path) for path in files))


def _answers(results: Sequence[Anchored]) -> dict[str, dict[str, str]]:
    """Return what each model answered, by name and qid; the anchors among them."""
    found: dict[str, dict[str, str]] = {}
    for result in results:
        for one in result.rulings:
            for name, text in ((result.model, one.response), (result.anchor, one.anchor_response)):
                if text is None:
                    continue
                if found.setdefault(name, {}).setdefault(one.qid, text) != text:
                    raise BadInput(
                        f"{quoted(name)} answered {quoted(one.qid)} in two ways; "
                        "name one judge with --judge"
                    )
    return found


def _names(names: Iterable[str]) -> dict[str, str]:
    """Return a name of a file or folder for each; no two share one, whatever the case."""
    return {
        name: name
        if _PLAIN.fullmatch(name) and name == name.casefold()
        else f"{re.sub('[^a-z0-9.]+', '-', name.casefold())[:60].strip('-.')}-{digest_of(name)[:8]}"
        for name in names
    }


def _answer(model: str, item: Item, text: str) -> Line:
    return {
        "uid": item.qid,
        "question_id": item.qid,
        "ans_id": digest_of([model, item.qid])[:22],
        "model": model,
        "model_id": model,
        "messages": [
            {"role": "user", "content": item.question},
            {"role": "assistant", "content": {"answer": text}},
        ],
        "choices": [{"index": 0, "turns": [{"content": text}]}],
    }


def _judgments(bench: OpenBench, result: Anchored) -> Iterator[Line]:
    found = by_question(result)
    for item in bench.items:
        if item.qid in found:
            comparisons = found[item.qid]
            seated: Mapping[str | None, Comparison] = {one.seats: one for one in comparisons}
            games = []
            for seats in ("ab", "ba"):
                one = seated.get(seats) or seated.get(None)
                label = LABELS[LEADS[one.verdict]] if one and one.verdict != "void" else None
                if label is not None and seats == "ba":
                    label = _MIRRORED[label]
                words = (one.words if one else None) or (one.reason if one else None) or ""
                games.append({"score": label, "judgment": {"answer": words}})
            yield {
                "uid": item.qid,
                "question_id": item.qid,
                "category": CATEGORY,
                "judge": result.judge,
                "model": result.model,
                "baseline": result.anchor,
                "games": games,
            }
