"""The card of a bench: what a reader must know before trusting a figure made with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from memory.records import TIES, Battle
from runs.console import safe
from runs.reading import counted, named, rates_stand_ins
from runs.sealing import UNKNOWN, Item

BUCKETS_S = (8, 15, 60, 180, 600, 900, 3600)
"""Upper ends of the duration buckets in seconds; the last bucket is open."""


def card_text(
    run: dict[str, Any], battles: list[Battle], *, questions: list[Item], version: str
) -> str:
    """Return card.md of a bench; equal input gives equal text."""
    parts = [
        f"# Bench of {counted(len(questions), 'question')}\n",
        *_warnings(run),
        _WHAT,
        _how(run, version),
        *_counts(battles, questions),
        _biases(questions),
        _CHECKSUMS,
    ]
    return "\n".join(parts)


_WHAT = """## What it is

Each line of `questions.jsonl` is a question that an invented user asked of a video, with two
answers given to it in a battle: the one a judge selected and the one it rejected. Only battles
with a winner are here. A model is scored by judging its answer against both.
"""

_CHECKSUMS = """## Checksums

`manifest.json` holds the size and sha256 of the two other files and of every video, and a digest
of itself. `arena bench verify` computes all of them again. They show that nothing was changed by
accident; they are no signature. The videos are not part of this folder.
"""


def _warnings(run: dict[str, Any]) -> Iterator[str]:
    if rates_stand_ins(run):
        yield (
            "> **These answers come from offline stand-ins**, small programs that measure frames.\n"
            "> The bench shows how the arena works; it ranks no real model.\n"
        )
    if run.get("self_judging"):
        yield "> **A judge or examiner of this run also competed in it.**\n"
    if run.get("offline_judge_on_real"):
        yield "> **An offline judge rated real models**; it reads only sentences it knows.\n"


def _how(run: dict[str, Any], version: str) -> str:
    sampling = ", ".join(f"{key} {value}" for key, value in sorted(_table(run, "sampling").items()))
    facts = {
        "made by": f"videoautoarena {version}",
        "models": _names(run, run.get("models")),
        "judge": _names(run, run.get("judges")),
        "examiner": _names(run, [run.get("examiner")]),
        "rounds": run.get("rounds"),
        "pairing": run.get("pairing"),
        "judged from both seats": run.get("swap"),
        "preset": run.get("preset") or "none",
        "frames": sampling,
        "seed": run.get("seed"),
    }
    rows = "\n".join(f"- {name}: {_plain(value)}" for name, value in facts.items())
    return f"## How it was made\n\n{rows}\n"


def _names(run: dict[str, Any], aliases: Any) -> str:
    cast = _table(run, "cast")
    names = [named(str(alias), _table(cast, alias).get("model", "?")) for alias in aliases or []]
    return ", ".join(names) or "unknown"


def _table(of: dict[str, Any], key: str) -> dict[str, Any]:
    value = of.get(key)
    return value if isinstance(value, dict) else {}


def _plain(value: Any) -> str:
    """Return `value` as text that Markdown takes literally."""
    text = safe(str(value))
    return "".join(f"\\{char}" if char in "\\`*_[]<>|#" else char for char in text)


def _counts(battles: list[Battle], questions: list[Item]) -> Iterator[str]:
    left_out = Counter(_why_left_out(battle) for battle in battles)
    del left_out["selected"]
    yield "## Counts\n"
    yield _rows("by round", Counter(f"{q.round}" for q in questions))
    yield _rows(
        "by duration", Counter(bucket(q.duration_s or 0.0) for q in questions), order=BUCKET_NAMES
    )
    yield _rows("by category", Counter(q.category or UNKNOWN for q in questions))
    yield _rows("by origin of the question", Counter(q.origin or UNKNOWN for q in questions))
    yield _rows(
        "selected answers by model", Counter(q.selected_model or UNKNOWN for q in questions)
    )
    yield _rows("not here, since nobody won", left_out, of="battles")


def _why_left_out(battle: Battle) -> str:
    if battle.verdict in ("a", "b"):
        return "selected"
    if battle.verdict == "split":
        return "split: the seatings disagreed"
    return "tie" if battle.verdict in TIES else battle.verdict.partition("_")[0]


def _rows(
    title: str,
    counts: Counter[str],
    *,
    order: Iterable[str] | None = None,
    of: str = "questions",
) -> str:
    names = [name for name in order or sorted(counts) if name in counts]
    rows = "\n".join(f"| {_plain(name)} | {counts[name]} |" for name in names)
    return f"| {title} | {of} |\n| --- | ---: |\n{rows or '| none | 0 |'}\n"


def bucket(duration_s: float) -> str:
    """Return the name of the duration bucket, such as `8-15 s`."""
    return BUCKET_NAMES[sum(duration_s > end for end in BUCKETS_S)]


BUCKET_NAMES = (
    f"up to {BUCKETS_S[0]} s",
    *(f"{low}-{high} s" for low, high in pairwise(BUCKETS_S)),
    f"above {BUCKETS_S[-1]} s",
)


def _biases(questions: list[Item]) -> str:
    longer = sum(len(q.selected_answer) > len(q.rejected_answer) for q in questions)
    first = sum(q.selected_seat == "a" for q in questions)
    total = len(questions)
    return f"""## Known biases

- The selected answer is the longer one in {longer} of {total} questions, and was read first in
  {first} of {total}. A scorer that only prefers length or the first seat gets those right.
- A model judge chose the selected answers, no person did; judges tend to favour detailed answers.
- Users, questions and their difficulty come from one examiner model. Later rounds ask about
  faults found in earlier ones, so they are harder for models that fail in the same way.
- Several questions share a video and a lineage; they are not independent.
"""
