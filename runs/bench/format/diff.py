"""What changed from one bench to another: questions, videos and settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.schema import DialogueItem, Entry, Shape

Report = dict[str, Any]
_SETTINGS = ("generator", "source", "run", "selection", "licence", "with_videos")
_MISSING = object()


def diff(first: Path, second: Path) -> Report:
    """Return what changed from one bench to another; BadInput where one is not intact.

    A question is the same where its qid is; else where it asks the same of the same video,
    which finds those whose answers or users changed, as the qid of a run goes by all of them.
    """
    before = open_bench(first)
    after = open_bench(second)
    pairs = [(old, after.by_qid[qid]) for qid, old in before.by_qid.items() if qid in after.by_qid]
    done = {old.qid for old, _ in pairs}
    waiting = defaultdict[tuple[str, str], list[Entry]](list)
    for item in after.items:
        if item.qid not in done:
            waiting[_asks(after, item)].append(item)
    removed = list[Entry]()
    for item in before.items:
        if item.qid in done:
            continue
        if same := waiting[_asks(before, item)]:
            pairs.append((item, same.pop(0)))
        else:
            removed.append(item)
    new_ids = {id(item) for items in waiting.values() for item in items}
    added = [item for item in after.items if id(item) in new_ids]
    changed = [
        {"qid": old.qid, "now": new.qid, "fields": sorted(fields)}
        for old, new in pairs
        if (fields := _changed(old, new))
    ]
    manifests = (one.manifest.model_dump(mode="json", by_alias=True) for one in (before, after))
    left, right = (dict(_flat({key: one.get(key) for key in _SETTINGS}, ())) for one in manifests)
    return {
        "schema": SCHEMA,
        "benches": [
            {"bench": one.bench, "questions": len(one.items), "videos": len(one.manifest.videos)}
            for one in (before, after)
        ],
        "same": before.bench == after.bench,
        "questions": {
            "unchanged": len(pairs) - len(changed),
            "changed": changed,
            "removed": [_named(item) for item in removed],
            "added": [_named(item) for item in added],
        },
        "videos": _videos(before, after),
        "settings": [
            {"setting": ".".join(key), "before": left.get(key), "after": right.get(key)}
            for key in {**left, **right}
            if left.get(key, _MISSING) != right.get(key, _MISSING)
        ],
    }


def _asks(bench: OpenBench[Any], item: Entry) -> tuple[str, str]:
    """Return what a question asks of which video, whatever the bench calls that."""
    entry = bench.manifest.videos[item.video_id]
    return entry.sha256 or item.video_id, " ".join(_text(item).split())


def _text(item: Entry) -> str:
    """Return what an item asks; of a dialogue its ability and what is said first."""
    if isinstance(item, DialogueItem):
        return f"{item.ability}: {item.rounds[0].user if item.rounds else ''}"
    return str(getattr(item, "question", ""))


def _changed(before: Shape, after: Shape) -> list[str]:
    """Return the names of the fields that differ."""
    old, new = (one.model_dump(mode="json", by_alias=True) for one in (before, after))
    return [key for key in {**old, **new} if old.get(key) != new.get(key)]


def _named(item: Entry) -> Report:
    return {"qid": item.qid, "video": item.video_id, "question": _text(item)}


def _videos(before: OpenBench[Any], after: OpenBench[Any]) -> Report:
    old = before.manifest.videos
    new = after.manifest.videos
    both = [id_ for id_ in old if id_ in new]
    return {
        "unchanged": sum(old[id_] == new[id_] for id_ in both),
        "changed": [
            {"video": id_, "fields": _changed(old[id_], new[id_])}
            for id_ in both
            if old[id_] != new[id_]
        ],
        "removed": [id_ for id_ in old if id_ not in new],
        "added": [id_ for id_ in new if id_ not in old],
    }


def _flat(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flat(inner, (*path, key))
    else:
        yield path, value
