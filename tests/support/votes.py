"""Files of battles, as people write them."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.rating.method import RatingMethod
from videoautoarena.runs.rating.rate import rate_file

HEADER = ("model_a", "model_b", "winner")


def written(path: Path, rows: Sequence[Sequence[Any]], header: Sequence[str] = HEADER) -> Path:
    """A file of rows in the form that its name asks for."""
    if path.suffix in (".jsonl", ".ndjson"):
        objects = [dict(zip(header, row, strict=True)) for row in rows]
        path.write_text("".join(json.dumps(found) + "\n" for found in objects))
    elif path.suffix == ".parquet":
        columns = list(zip(*rows, strict=True)) or [()] * len(header)
        arrays = [pa.array(list(column)) for column in columns]
        pq.write_table(pa.table(arrays, names=list(header)), path)
    else:
        with path.open("w", newline="") as stream:
            writer = csv.writer(stream, delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writerow(header)
            writer.writerows(rows)
    return path


def season(battles: int = 300) -> list[tuple[str, str, str, str]]:
    """Battles of three, the earlier in the alphabet the better, on thirty videos."""
    rng = np.random.default_rng(5)
    rows = []
    for k in range(battles):
        a, b = map(str, rng.permutation(["ant", "bee", "cat"])[:2])
        first = rng.random() < 1 / (1 + np.exp(-(ord(b[0]) - ord(a[0]))))
        winner = "tie" if rng.random() < 0.1 else "model_a" if first else "model_b"
        rows.append((a, b, winner, f"v{k % 30}"))
    return rows


def refused(file: Path, method: RatingMethod | None = None) -> str:
    with pytest.raises(BadInput) as wrong:
        rate_file(file, method or RatingMethod())
    return str(wrong.value).removeprefix(f"{file}")
