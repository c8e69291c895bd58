"""Results on a bench as Inspect's viewer shows them: a log a model and judge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.memory.records.records import CallRow, Video
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.points import WORTH
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import REFERENCES, Against, Result, Ruling
from videoautoarena.runs.bench.format.schema import MANIFEST, Item, digest_of
from videoautoarena.runs.bench.play.calls import calls_file, open_calls
from videoautoarena.runs.bench.play.game import scope_of
from videoautoarena.runs.bench.play.videos import seen_videos
from videoautoarena.runs.bench.score.score import build_scores, results_by
from videoautoarena.runs.exchange.interop.inspect_folder import (
    Frames,
    OnProgress,
    Written,
    cast_entry,
    judged,
    parameters_of,
    rival_said,
    row_metrics,
    say_nothing,
    span_of,
    write_folder,
)
from videoautoarena.runs.exchange.interop.inspect_log import Json, Log, Sample, Score

SCORER = "bench"
"""The mean of what an answer brought against both references."""
_FIGURES = ("value", "low", "high", "n", "win", "tie", "loss", "void", "missing")
_AGAINST: dict[Against, str] = {"selected": "vs_selected", "rejected": "vs_rejected"}


class _Shelf(NamedTuple):
    """What is at hand beside the results."""

    bench: OpenBench
    store: Store | None
    films: Mapping[str, Video]
    """By the digest of the bench's id."""
    pictures: Frames


def export_results(
    bench: OpenBench,
    to: Path,
    *,
    judge: str | None = None,
    frames: int = 0,
    force: bool = False,
    on_progress: OnProgress = say_nothing,
) -> Written:
    """Write a log for every result on a bench into the folder `to`.

    Args:
        bench: whose results.
        to: made if it is not there; it may hold other logs.
        judge: whose rulings; None for all judges', each in logs of its own.
        frames: thumbnails of frames in every sample.
        force: replace what is there.
        on_progress: hears after every log how many are written.

    Raises:
        BadInput: no results, a log is there and not `force`, or one cannot be written.
    """
    results = results_by(bench, judge)
    rows = {(r["model"], r["judge"]): r for r in build_scores(bench, results)["models"]}
    with ExitStack() as stack:
        store = open_calls(bench, write=False)
        if store is not None:
            stack.enter_context(store)
        sampling = bench.manifest.run.get("sampling")
        given = sampling if isinstance(sampling, dict) else {}
        shelf = _Shelf(bench, store, seen_videos(store), Frames(store, given, frames))
        filled = [
            (_log(shelf, result, rows[result.model, result.judge]), _samples(shelf, result))
            for result in results
        ]
        return write_folder(
            to, filled, force=force, pictures=shelf.pictures, on_progress=on_progress
        )


def _log(shelf: _Shelf, result: Result, row: Mapping[str, Any]) -> Log:
    bench = shelf.bench
    file = calls_file(bench) if shelf.store is not None else bench.folder / MANIFEST
    began_s, ended_s = span_of(shelf.store, file)
    name = bench.folder.resolve().name
    return Log(
        task=f"arena bench {name}",
        model=result.model,
        source=digest_of([bench.bench, result.judge]),
        dataset=name,
        began_s=began_s,
        ended_s=ended_s,
        scores=[
            Score(SCORER, row_metrics(row, ("average", "low", "high", "n", "videos"))),
            *(Score(_AGAINST[side], row_metrics(row[side], _FIGURES)) for side in REFERENCES),
        ],
        metadata={
            "bench": bench.bench,
            "licence": bench.manifest.licence,
            "source": bench.manifest.source.format,
            "how": result.how,
            "judge": result.judge,
            "flags": row["flags"],
            "facts": result.facts,
            "prompts": bench.manifest.run.get("prompts"),
        },
        parameters=parameters_of(cast_entry(bench.manifest.run.get("cast"), result.model)),
        roles={"judge": result.judge},
    )


def _samples(shelf: _Shelf, result: Result) -> Iterator[Sample]:
    rulings = defaultdict[str, list[Ruling]](list)
    for ruling in result.rulings:
        rulings[ruling.qid].append(ruling)
    for item in shelf.bench.items:
        if said := rulings.get(item.qid):
            film = shelf.films.get(digest_of(item.video_id))
            reasons = list(
                dict.fromkeys(r.reason or "no reason" for r in said if r.verdict == "void")
            )
            yield Sample(
                id=item.qid,
                question=item.question,
                persona=item.persona,
                target=item.selected_answer,
                answer=next((r.response for r in said if r.response is not None), None),
                asides=[
                    *rival_said("the bench, selected", item.selected_answer),
                    *rival_said("the bench, rejected", item.rejected_answer),
                ],
                pictures=shelf.pictures.of(film.id, None) if film is not None else (),
                scores=_scores(result, said),
                brief={
                    "video": item.video_id,
                    "category": item.category,
                    "topic": item.topic,
                    "difficulty": item.difficulty,
                    "origin": item.origin,
                    **{side: _words(said, side) for side in REFERENCES},
                },
                metadata={
                    "qid": item.qid,
                    "item": item.model_dump(
                        by_alias=True,
                        exclude={"question", "selected_answer", "rejected_answer", "persona"},
                    ),
                    "rulings": [
                        {
                            "against": r.against,
                            "verdict": r.verdict,
                            "seats": r.seats,
                            "reason": r.reason,
                        }
                        for r in said
                    ],
                },
                calls=_answering(shelf, result, item),
                error=f"void: {'; '.join(reasons)}" if reasons else None,
            )


def _words(rulings: Sequence[Ruling], side: Against) -> str | None:
    said = dict.fromkeys(r.verdict for r in rulings if r.against == side)
    return ", ".join(said) or None


def _scores(result: Result, rulings: Sequence[Ruling]) -> dict[str, Json]:
    """Return what an answer brought; without a verdict on a side there is none, and no mean."""
    found = dict[str, Json]()
    for side in REFERENCES:
        held = [r for r in rulings if r.against == side]
        worth = [WORTH[side][r.verdict] for r in held if r.verdict in WORTH[side]]
        if worth:
            found[_AGAINST[side]] = {
                "value": sum(worth) / len(worth),
                "answer": _words(held, side),
                "explanation": "\n\n".join(_explained(result, r) for r in held),
            }
    if len(found) == len(REFERENCES):
        mean = sum(one["value"] for one in found.values()) / len(found)
        return {SCORER: {"value": mean}, **found}
    return found


def _explained(result: Result, ruling: Ruling) -> str:
    theirs = f"the {ruling.against} answer"
    return judged(
        result.judge,
        f"{ruling.verdict} against {theirs}",
        sides=(theirs, result.model),
        is_turned=ruling.seats == "ba",
        words=ruling.words,
        reason=ruling.reason,
    )


def _answering(shelf: _Shelf, result: Result, item: Item) -> list[CallRow]:
    """Return the calls for a model's answer; two names of one model share theirs."""
    if shelf.store is None or result.how != "run":
        return []
    rows = shelf.store.journal.calls(scope_of(item))
    asked = [row for row in rows if row.nonce.role == "contestant"]
    own = [row for row in asked if row.alias == result.model]
    return own or [row for row in asked if row.model == result.facts.get("model")]
