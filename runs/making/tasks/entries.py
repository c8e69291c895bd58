"""Lines of a made set: an item whose film is encoded, and what stands where in it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NotRequired, TypedDict, cast

from pydantic import JsonValue

from videoautoarena.memory.records.records import Record
from videoautoarena.runs.bench.format.schema import BenchVideo, TaskItem
from videoautoarena.runs.making.tasks.items import MAKER, DraftItem
from videoautoarena.video.synth.timeline import Film

ID_LENGTH = 12
"""Hex digits of a video's digest that are its id."""


class Encoded(Record):
    """A film of the draft, beside its file."""

    sha256: str
    size_bytes: int
    film: Film


class _OnLadder(TypedDict):
    ladder: NotRequired[str]
    rung: NotRequired[int]


class ItemOrigin(TypedDict):
    """How an item that was cut together came about, as `made` of its line says it."""

    kind: str
    """Kind of the task, such as `needle`."""
    maker: str
    """Version of the rules by which it was made."""
    seed: int
    """Seed of all draws."""
    background_s: int
    """Seconds of ground that were asked for."""
    ladder: NotRequired[str]
    """With `--ladder`: a name that the same item has at all lengths."""
    rung: NotRequired[int]
    """With `--ladder`: which of the lengths it is, from 1."""
    ground_s: float
    """Seconds of ground that it has."""
    ground: list[dict[str, Any]]
    """What its ground was cut from: `video` by sha256, `start_s`, `seconds`."""
    probes: list[dict[str, Any]]
    """The same for what was set in, with its `text`, `before` which frame of the ground it stands,
    its `first` frame and `frames` in the film, `at_s` and `lasts_s`."""
    described: list[dict[str, Any]]
    """All stretches that the options are about."""
    frames: int
    """Frames of the film."""
    rate: str
    """Frames a second of the film, as a fraction."""


def video_of(encoded: Encoded) -> BenchVideo:
    """Return the manifest's entry of a film."""
    film = encoded.film
    rate = Fraction(film.rate)
    return BenchVideo(
        sha256=encoded.sha256,
        # Named by its bytes: no name may tell what was set in.
        path=f"{encoded.sha256[:ID_LENGTH]}.mp4",
        size_bytes=encoded.size_bytes,
        duration_s=_duration_s(film),
        width_px=film.width_px,
        height_px=film.height_px,
        # As of any video in a manifest; `made` of the item has the exact fraction.
        fps=round(float(rate), 3),
        codec="h264",
    )


def _duration_s(film: Film) -> float:
    return round(float(film.frames / Fraction(film.rate)), 3)


def entry_of(item: DraftItem, encoded: Encoded, seed: int) -> TaskItem:
    """Return the line of an item whose film is there."""
    draft = TaskItem(
        qid="",
        video_id=encoded.sha256[:ID_LENGTH],
        task=item.kind,
        question=item.question,
        options=list(item.options),
        answer=item.options[item.key],
        duration_s=_duration_s(encoded.film),
        made=cast(dict[str, JsonValue], _about(item, encoded.film, seed)),
    )
    return draft.model_copy(update={"qid": draft.own_qid()})


def _about(item: DraftItem, film: Film, seed: int) -> ItemOrigin:
    """Return where everything stands in a film, and what its options were checked by."""
    set_in = zip(item.plan.probes, item.texts, film.probes, strict=True)
    on_ladder: _OnLadder = {"ladder": item.ladder, "rung": item.rung} if item.ladder else {}
    return {
        "kind": item.kind,
        "maker": MAKER,
        "seed": seed,
        "background_s": item.seconds,
        **on_ladder,
        "ground_s": item.ground_s,
        "ground": [excerpt.model_dump() for excerpt in item.plan.ground],
        "probes": [
            {
                **probe.model_dump(),
                "text": text,
                "first": place.first,
                "frames": place.frames,
                "at_s": round(place.start_s, 3),
                "lasts_s": round(place.seconds, 3),
            }
            for probe, text, place in set_in
        ],
        "described": [{"text": one.text, **one.excerpt.model_dump()} for one in item.stretches],
        "frames": film.frames,
        "rate": film.rate,
    }
