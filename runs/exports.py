"""Writing a bench as others publish theirs; one that was imported comes out as it went in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from runs.benches import OpenBench
from runs.files import refuse_existing, write_whole
from runs.sealing import Item

VIDEOAUTOBENCH = "videoautobench"
KEYS = {
    "video_id": "video_id",
    "persona": "persona",
    "question": "question",
    "selected answer": "selected_answer",
    "rejected answer": "rejected_answer",
}
"""What the published file calls a part of an item, and what we do."""
_INDENT = 4
"""As it is published."""


def export_videoautobench(bench: OpenBench, to: Path, *, force: bool = False) -> int:
    """Write a bench as VideoAutoBench's file, and return how many questions it holds.

    Of a run that leaves out all but the five keys of that file; an import has whatever it had.

    Raises:
        BadInput: `to` is there and not `force`, or cannot be written.
    """
    refuse_existing(to, force=force)
    layout = bench.manifest.source.layout or {}
    write_whole(to, _written(as_videoautobench(bench), layout))
    return len(bench.items)


def as_videoautobench(bench: OpenBench) -> dict[str, dict[str, JsonValue]]:
    """Return a bench as VideoAutoBench's file holds it: items by qid, keys in their order."""
    layout = bench.manifest.source.layout or {}
    usual = _keys(layout.get("keys"))
    others = layout.get("others")
    own = others if isinstance(others, dict) else {}
    return {item.qid: _entry(item, _keys(own.get(item.qid)) or usual) for item in bench.items}


def _keys(value: Any) -> list[str]:
    return [str(key) for key in value] if isinstance(value, list) else []


def _entry(item: Item, order: list[str]) -> dict[str, JsonValue]:
    known = {theirs: getattr(item, ours) for theirs, ours in KEYS.items()}
    entry = {**known, **item.extra}
    return {key: entry[key] for key in dict.fromkeys((*order, *entry)) if key in entry}


def layout_of(raw: Mapping[str, Mapping[str, Any]], content: bytes) -> dict[str, JsonValue]:
    """Return what the items of a published file do not say of it.

    `keys` is the usual order of keys, `others` that of items which have another. Where the file is
    as one of the usual writers leaves it, `indent`, `ascii` and `end` say how, and it comes out
    again byte for byte.
    """
    orders = {qid: tuple(entry) for qid, entry in raw.items()}
    usual = Counter(orders.values()).most_common(1)[0][0]
    layout: dict[str, JsonValue] = {"keys": list(usual)}
    if others := {qid: list(order) for qid, order in orders.items() if order != usual}:
        layout["others"] = {qid: [*order] for qid, order in others.items()}
    for form in _forms():
        if _dumped(raw, form) == content:
            return {**layout, **form}
    return layout


def _forms() -> Iterator[dict[str, JsonValue]]:
    for indent in (_INDENT, 2, None):
        for is_ascii in (True, False):
            for end in ("", "\n"):
                yield {"indent": indent, "ascii": is_ascii, "end": end}


def _written(value: Any, layout: Mapping[str, JsonValue]) -> bytes:
    usual: dict[str, JsonValue] = {"indent": _INDENT, "ascii": True, "end": "\n"}
    return _dumped(value, {**usual, **{key: layout[key] for key in usual if key in layout}})


def _dumped(value: Any, form: Mapping[str, JsonValue]) -> bytes:
    indent = form["indent"] if isinstance(form["indent"], int) else None
    text = json.dumps(value, indent=indent, ensure_ascii=bool(form["ascii"]), allow_nan=False)
    # Half a character, which only an escape can have written, has no UTF-8.
    return (text + ("\n" if form["end"] else "")).encode("utf-8", "surrogatepass")
