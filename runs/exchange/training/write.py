"""Rows for training written as JSON lines or Parquet, and what was left out of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from videoautoarena.memory.records.errors import need_package
from videoautoarena.runs.exchange.training.examples import (
    WHY_NO_ANSWER,
    WHY_NO_PAIR,
    RunSources,
    best_of,
    conversations,
    preferences,
)
from videoautoarena.runs.exchange.training.rows import Conversation, Preference, TrainingKind
from videoautoarena.runs.formats.files import whole_file
from videoautoarena.runs.run.battles.export import refuse_place
from videoautoarena.runs.run.rundir.reader import RunReader, counted, marks, open_run

if TYPE_CHECKING:
    import pyarrow as pa

TrainingForm = Literal["jsonl", "parquet"]
TOP = 3
"""Models whose chats are exported by default."""
AT_ONCE = 1000
"""Rows of a row group in Parquet."""
REPORT_EVERY = 500
"""Rows between two reports of how far it is."""


@dataclass(frozen=True)
class TrainingOrder:
    """What is exported, and how."""

    what: TrainingKind
    form: TrainingForm = "jsonl"
    top: int | None = None
    """How many models by rating; None for TOP, or if it does not matter."""


@dataclass
class TrainingSummary:
    """What an export holds and what it does not; complete when its last row is made."""

    what: TrainingKind
    rows: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    videos: set[str] = field(default_factory=set)
    without_licence: set[str] = field(default_factory=set)
    judged_twice: int = 0
    """Pairs judged from both seatings."""
    agreed: int = 0
    """Pairs among them on which the seatings agree."""
    notes: tuple[str, ...] = ()

    def add(self, row: Preference | Conversation) -> None:
        """Count a row."""
        self.rows += 1
        self.videos.add(row.video)
        if row.licence is None:
            self.without_licence.add(row.video)
        if isinstance(row, Preference) and row.seats_agree is not None:
            self.judged_twice += 1
            self.agreed += row.seats_agree

    def as_lines(self) -> list[str]:
        """Return it as lines for a person, the number first."""
        noun = "pair" if self.what == "preferences" else "conversation"
        lines = [f"{counted(self.rows, noun)} about {counted(len(self.videos), 'video')}"]
        lines += self.notes
        order = WHY_NO_PAIR if self.what == "preferences" else WHY_NO_ANSWER
        found = [(self.left_out[why], why) for why in order if self.left_out[why]]
        if found:
            of = "battle" if self.what == "preferences" else "answer"
            parts = "; ".join(f"{count:,} {why}" for count, why in found)
            lines.append(f"left out: {counted(sum(c for c, _ in found), of)} ({parts})")
        if self.judged_twice:
            lines.append(
                f"{self.agreed:,} of {counted(self.judged_twice, 'pair')} judged with the answers "
                "in both orders kept their winner"
            )
        if self.without_licence:
            lines.append(
                f"no licence is known of {len(self.without_licence)} of "
                f"{counted(len(self.videos), 'video')}; see who owns them before you pass this on"
            )
        return lines


@contextmanager
def rows_of(
    out: Path, wanted: TrainingOrder
) -> Iterator[tuple[TrainingSummary, Iterator[Preference | Conversation]]]:
    """Open a run and give its rows, made as they are asked for, and what counts them.

    Raises BadInput if there is no run, or if no model of it can be called the best.
    """
    with open_run(out) as run:
        summary = TrainingSummary(wanted.what)
        yield summary, _counting(_rows(run, wanted, summary), summary)


def _rows(
    run: RunReader, wanted: TrainingOrder, summary: TrainingSummary
) -> Iterator[Preference | Conversation]:
    sources = RunSources(run)
    summary.notes = marks(run.manifest)
    if wanted.what == "preferences":
        return preferences(run, sources, summary.left_out)
    best = best_of(run, wanted.top or TOP)
    summary.notes = (best.as_line(), *summary.notes)
    return conversations(run, best, sources, summary.left_out)


def _counting(
    rows: Iterator[Preference | Conversation], summary: TrainingSummary
) -> Iterator[Preference | Conversation]:
    for row in rows:
        summary.add(row)
        yield row


def line_of(row: Preference | Conversation) -> str:
    """Return a row as one line of ASCII JSON."""
    return json.dumps(row.to_json(), allow_nan=False)


def export_rows(
    out: Path, to: Path, wanted: TrainingOrder, *, force: bool, on_count: Callable[[int], None]
) -> TrainingSummary:
    """Write the file `to`, whole or not at all, and return what it holds.

    Raises:
        BadInput: no run, a file that is there and not to be replaced, is part of the run or cannot
            be written; or Parquet without pyarrow.
    """
    refuse_place(out, to, force=force)
    if wanted.form == "parquet":
        need_package("pyarrow", "--format parquet needs pyarrow", "parquet")
    # One pass: rows are counted as they are written, so memory does not grow with their number.
    with rows_of(out, wanted) as (summary, rows), whole_file(to) as file:
        told = _telling(rows, on_count)
        if wanted.form == "parquet":
            _write_parquet(file, told, wanted.what)
        else:
            for row in told:
                file.write(f"{line_of(row)}\n".encode("ascii"))
    return summary


def _telling(
    rows: Iterator[Preference | Conversation], on_count: Callable[[int], None]
) -> Iterator[Preference | Conversation]:
    for number, row in enumerate(rows, 1):
        yield row
        # Reached when the next row is asked for: by then this one is written.
        if number % REPORT_EVERY == 0:
            on_count(number)


def _write_parquet(
    file: Any, rows: Iterator[Preference | Conversation], what: TrainingKind
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = parquet_schema(what)
    # The schema is stated: inferred from rows, a group of nothing but nulls would have other
    # columns.
    with pq.ParquetWriter(file, schema) as writer:
        while group := [_plain(row.to_json()) for row in islice(rows, AT_ONCE)]:
            writer.write_table(pa.Table.from_pylist(group, schema=schema))


def _plain(value: Any) -> Any:
    """Return a value without lone surrogates, which Parquet cannot hold: they become escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value


def parquet_schema(what: TrainingKind) -> pa.Schema:
    """Return the columns of such an export, named and nested as the rows are."""
    import pyarrow as pa

    text = pa.string()
    whole = pa.int64()
    number = pa.float64()
    texts = pa.list_(text)
    frames = pa.struct({"times_s": pa.list_(number), "digests": texts})
    about = {
        "schema": whole,
        **dict.fromkeys(("video", "path", "sha256"), text),
        "duration_s": number,
        **dict.fromkeys(("category", "licence", "persona"), text),
        "persona_index": whole,
        "language": text,
    }
    origin = {"battle": text, "round": whole, "origin": text}
    if what == "preferences":
        return pa.schema({
            **about, **origin, "prompt": text, "categories": texts,
            **dict.fromkeys(("chosen", "rejected", "chosen_model", "rejected_model"), text),
            **dict.fromkeys(("chosen_frames", "rejected_frames"), frames),
            **dict.fromkeys(("verdict", "chosen_seat", "chosen_by"), text),
            "seats_agree": pa.bool_(),
            "judgings": pa.list_(pa.struct({"judge": text, "seats": text, "verdict": text})),
        })  # fmt: skip
    turn = {**origin, "rival": text, "outcome": text, "categories": texts, "frames": frames}
    return pa.schema({
        **about, "lineage": text, "model": text,
        **dict.fromkeys(("rank", "rank_best", "rank_worst"), whole),
        "messages": pa.list_(pa.struct({"role": text, "content": text})),
        "turns": pa.list_(pa.struct(turn)),
    })  # fmt: skip
