"""What a bench has for `datasets` and the Hub, made from its questions: Parquet and a README.

`questions.jsonl` stays what counts. Parquet knows no lone surrogates, so text that has them is
written with escapes there; `extra` and the judges' words travel as JSON.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.schema import PARQUET, Item
from videoautoarena.runs.bench.freeze.card import Told, card_text

TEXTS = (
    *("qid", "video_id", "persona", "question", "selected_answer", "rejected_answer"),
    *("chosen_by", "selected_model", "rejected_model", "selected_seat", "battle", "origin"),
    *("category", "topic"),
)
WHOLE = ("persona_index", "round")
NUMBERS = ("duration_s", "difficulty")
AS_JSON = ("votes", "judge_verdicts", "extra")
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
LICENCES = (
    *("apache-2.0", "mit", "cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0"),
    *("cc-by-nc-sa-4.0", "cc-by-nd-4.0", "cc-by-nc-nd-4.0", "odc-by", "odbl"),
)
"""Those that the Hub knows by name, as far as data is given under them."""


def parquet_bytes(items: Sequence[Item]) -> bytes:
    """Return the questions as Parquet; the same questions and pyarrow give the same bytes.

    Raises:
        BadInput: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as missing:
        raise BadInput(
            "--parquet needs pyarrow; install it with: pip install 'videoautoarena[parquet]'"
        ) from missing
    kinds = {
        **dict.fromkeys(TEXTS, pa.string()),
        **dict.fromkeys(WHOLE, pa.int64()),
        **dict.fromkeys(NUMBERS, pa.float64()),
        **dict.fromkeys(AS_JSON, pa.string()),
    }
    rows = [_row(item) for item in items]
    columns = {name: pa.array([row[name] for row in rows], kinds[name]) for name in kinds}
    to = io.BytesIO()
    pq.write_table(pa.table(columns), to)
    return to.getvalue()


def _row(item: Item) -> dict[str, Any]:
    whole = item.model_dump()
    return {
        **{name: _text(whole[name]) for name in TEXTS},
        **{name: whole[name] for name in (*WHOLE, *NUMBERS)},
        **{name: json.dumps(whole[name]) for name in AS_JSON},
    }


def _text(value: str | None) -> str | None:
    return None if value is None else value.encode("utf-8", "backslashreplace").decode()


def readme_text(told: Told) -> str:
    """Return README.md: what `datasets` must know, then the card."""
    licence = told.manifest.licence
    known = (licence or "").strip().lower().replace(" ", "-")
    size = next((name for most, name in SIZES if len(told.items) < most), "n>100K")
    head = [
        "---",
        *([f"license: {known}"] if known in LICENCES else ["license: other"]),
        *([f"license_name: {json.dumps(licence)}"] if licence and known not in LICENCES else []),
        "task_categories: [visual-question-answering]",
        f"size_categories: [{json.dumps(size)}]",
        "tags: [video, benchmark, pairwise-preferences]",
        "configs:",
        "- config_name: default",
        f"  data_files: [{{split: test, path: {PARQUET}}}]",
        "---",
        "",
    ]
    return "\n".join(head) + card_text(told)
