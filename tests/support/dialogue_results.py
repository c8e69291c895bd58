"""Results on sets of dialogues, made by hand."""

from __future__ import annotations

from collections.abc import Sequence

from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import DialogueResult, RoundLine, write_result
from videoautoarena.runs.bench.format.schema import DialogueItem

Y = "yes"
N = "no"
GOOD = [Y, Y, Y, N, N]
SILENT = [N] * 5


def line(
    item: DialogueItem, number: int, answers: Sequence[str] | None, **changed: object
) -> RoundLine:
    """Return what the judge said of one round; None is no answer."""
    end = "forfeit" if answers is None else "answered"
    made = {"qid": item.qid, "round": number, "end": end, "answers": list(answers or ())}
    return RoundLine.model_validate({**made, "response": "So it is.", **changed})


def hand_in(
    bench: OpenBench[DialogueItem], model: str, lines: Sequence[RoundLine], **changed: object
) -> DialogueResult:
    """Write and return a result."""
    made = {"bench": bench.bench, "model": model, "judge": "judge", "how": "run"}
    result = DialogueResult.model_validate({**made, "lines": list(lines), **changed})
    write_result(bench, result)
    return result


def said_alike(bench: OpenBench[DialogueItem], answers: Sequence[str]) -> list[RoundLine]:
    return [line(item, number, answers) for item in bench.items for number in (2, 3)]
