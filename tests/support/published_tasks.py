"""Files shaped as MLVU and LongVideoBench publish theirs; the text is made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]


def mlvu_choice(count: int, kind: str = "plotQA", *, options: int = 4) -> Rows:
    """Return records of choice as the dev set has them; the right option moves on by one."""
    return [
        {
            "video": f"film_{k}.mp4",
            "duration": 200 + k,
            "question": f"What happens in scene {k}?",
            "candidates": [f"It is thing {k} of {place}" for place in range(options)],
            "answer": f"It is thing {k} of {k % options}",
            "question_type": kind,
        }
        for k in range(count)
    ]


def mlvu_test(count: int, kind: str = "needleQA", prefix: str = "NQA") -> Rows:
    """Return records of the test set: six options, a question id, no answer."""
    rows = mlvu_choice(count, kind, options=6)
    for k, row in enumerate(rows):
        del row["answer"]
        row["question_id"] = f"{prefix}_{k}"
    return rows


def mlvu_scenes(count: int) -> Rows:
    """Return records of sub-scenes to be described."""
    return [
        {
            "video": f"film_{k}.mp4",
            "duration": 300.5,
            "question": f"Please describe scene {k}.",
            "answer": f"In scene {k} it rains.",
            "question_type": "subPlot",
            "scoring_points": ["It rains", f"It is scene {k}"],
        }
        for k in range(count)
    ]


def lvb(count: int, *, options: int = 5, keyed: bool = True) -> Rows:
    """Return records as `lvb_val.json` holds them, two a video; or as the test file does."""
    return [
        {
            "video_id": f"vid-{k // 2}",
            "question": f"Who enters when it is said to be {k}?",
            "question_wo_referring_query": "Who enters?",
            "candidates": [f"person {place} of {k}" for place in range(options)],
            "correct_choice": k % options if keyed else -1,
            "position": [k, 2 * k],
            "topic_category": "KH-Knowledge-History",
            "question_category": ("S2E", "TAA")[k % 2],
            "level": "L2-Relation",
            "id": f"vid-{k // 2}_{k % 2}",
            "video_path": f"vid-{k // 2}.mp4",
            "subtitle_path": f"vid-{k // 2}_en.json",
            "duration_group": 15,
            "starting_timestamp_for_subtitles": 100 + k // 2,
            "duration": 12.5,
            "view_count": 1000,
        }
        for k in range(count)
    ]


def write(file: Path, rows: object) -> Path:
    """Write a file as it is published: indented by four."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(rows, indent=4))
    return file
