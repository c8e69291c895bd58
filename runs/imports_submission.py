"""Answers to a bench that are handed in as one file, to be judged later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memory.errors import BadInput
from memory.records import SCHEMA
from runs.benches import OpenBench
from runs.imports_judgments import check_texts, named, read_object
from runs.json_files import Twice, kind_of, read_json
from runs.rate_columns import quoted
from runs.reading import counted
from runs.results import Answers, write_answers


@dataclass(frozen=True)
class HandedIn:
    """Answers that were taken in."""

    model: str
    questions: int
    answers: int
    empty: int
    missing: int

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena import videoautobench-submission --json`."""
        return {"schema": SCHEMA, **asdict(self)}

    def as_line(self) -> str:
        """Return it as a line for a person."""
        told = f"{self.answers} of {counted(self.questions, 'question')} answered"
        odd = {"empty": self.empty, "missing": self.missing}
        return told + "".join(f", {number} {what}" for what, number in odd.items() if number)


def import_submission(
    file: Path, bench: OpenBench, model: str, *, allow_differing: bool = False, force: bool = False
) -> HandedIn:
    """Take in a model's answers, an object of them by qid, to be judged later.

    Raises:
        BadInput: the file cannot be read, an answer is of another question than the bench's, or
            answers of this model are there and not `force`.
    """
    raw = read_json(file)
    if not isinstance(raw, dict) or not raw:
        raise BadInput(f"{file} holds {kind_of(raw)}; it must be an object of answers by their qid")
    if isinstance(raw, Twice):
        raise BadInput(f"{file} has the qid {quoted(raw.key)} twice")
    items, responses = {item.qid: item for item in bench.items}, {}
    for qid, entry in raw.items():
        where = f"{file}, {quoted(qid)}"
        if qid not in items:
            raise BadInput(f"{where}: the bench does not ask that; nothing was imported")
        answer = read_object(entry, where)
        check_texts(answer, items[qid], where, allow_differing=allow_differing)
        responses[qid] = _response(answer, qid, where)
    answers = Answers(
        bench=bench.bench,
        model=named("model", model),
        how="import",
        responses=responses,
        facts={"format": "videoautobench-submission"},
    )
    write_answers(bench, answers, force=force)
    empty = sum(not text.strip() for text in responses.values())
    missing = len(items) - len(responses)
    return HandedIn(answers.model, len(items), len(responses) - empty, empty, missing)


def _response(answer: Mapping[str, Any], qid: str, where: str) -> str:
    if answer.get("qid", qid) != qid:
        raise BadInput(f"{where} says it has the qid {quoted(answer['qid'])}")
    response = answer.get("response")
    if not isinstance(response, str):
        told = f'{kind_of(response)} under "response"' if "response" in answer else 'no "response"'
        raise BadInput(f"{where} has {told}; it must be a text; nothing was imported")
    return response
