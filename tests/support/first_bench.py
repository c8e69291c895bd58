"""A bench as it was frozen under schema 1, made of one of now: the same questions and answers."""

from __future__ import annotations

from pathlib import Path

from runs.benches import OpenBench
from runs.sealing import digest_of, manifest_bytes, question_bytes, sealed_file
from runs.sealing_first import FirstItem, FirstManifest, FirstVideo


def as_first(bench: OpenBench, to: Path) -> Path:
    """Write a bench in schema 1 and return its folder."""
    to.mkdir()
    files = {"card.md": b"# A bench\n", "questions.jsonl": _questions(bench)}
    for name, content in files.items():
        (to / name).write_bytes(content)
    now = bench.manifest
    names = set(FirstVideo.model_fields)
    raw = FirstManifest(
        generator=now.generator,
        run=now.run,
        files={name: sealed_file(content) for name, content in files.items()},
        videos={
            id_: FirstVideo.model_validate(video.model_dump(include=names))
            for id_, video in now.videos.items()
        },
        count=now.count,
    ).model_dump(by_alias=True)
    (to / "manifest.json").write_bytes(manifest_bytes({**raw, "bench": digest_of(raw)}))
    return to


def _questions(bench: OpenBench) -> bytes:
    names = set(FirstItem.model_fields) - {"schema_version"}
    items = [FirstItem.model_validate(item.model_dump(include=names)) for item in bench.items]
    return question_bytes(items)  # type: ignore[arg-type]
