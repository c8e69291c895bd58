"""Comparisons with an anchor that one can count."""

from __future__ import annotations

from collections.abc import Sequence

from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import Anchored, Comparison, write_result

LABELS = {
    ">>": "much_better",
    ">": "better",
    "=": "same",
    "<": "worse",
    "<<": "much_worse",
    "?": "void",
}


def held(
    bench: OpenBench,
    model: str,
    said: Sequence[str],
    *,
    anchor: str = "base",
    judge: str = "judge",
    texts: tuple[str | None, str | None] = ("It is so.", "It is not."),
    write: bool = True,
) -> Anchored:
    """Write and return a result: a word a question such as `> =`, first with the anchor read first.

    A word alone stands for a question that nobody read, `-` for one that was not judged.
    """
    comparisons = [
        Comparison(
            qid=item.qid,
            verdict=LABELS[word],  # type: ignore[arg-type]
            seats=seats,  # type: ignore[arg-type]
            response=texts[0] if seats else None,
            anchor_response=texts[1] if seats else None,
            words=f"so it is {word}" if seats else None,
            reason=None if seats else "no answer: it broke",
        )
        for item, words in zip(bench.items, said, strict=False)
        if words != "-"
        for seats, word in _seated(words.split())
    ]
    result = Anchored(
        bench=bench.bench,
        model=model,
        judge=judge,
        anchor=anchor,
        how="run",
        rulings=comparisons,
        facts={"model": f"openai:{model}", "seed": 0},
    )
    if write:
        write_result(bench, result, force=True)
    return result


def _seated(words: Sequence[str]) -> list[tuple[str | None, str]]:
    return [(None, words[0])] if len(words) == 1 else list(zip(("ab", "ba"), words, strict=True))
