"""Files in the shape in which VideoAutoBench is published, made here: no text of theirs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ITEMS = 255
VIDEOS = 241
WORDS = {
    "win": "```[Overall Judge]\nMy final verdict is: [[B>A]]\n```",
    "tie": "```[Overall Judge]\nMy final verdict is tie: [[A=B]]\n```",
    "loss": "```[Overall Judge]\n[[A>B]]\n```",
}
"""How the judge ends when the reference is A and the candidate B."""


def published(items: int = ITEMS, videos: int = VIDEOS) -> dict[str, dict[str, Any]]:
    """Return a bench as its file holds it; the last questions ask again about the first videos."""
    made = {}
    for k in range(items):
        place = k % videos
        video = f"@some.one-{7000 + place}" if place % 3 else f"vid_{place}-x"
        stray = ("**\n\n", "\n\n**") if k % 5 == 0 else ("", "")
        made[f"{video}_{1 + k // videos}"] = {
            "video_id": video,
            "persona": f"A person who plans trip {k} to Vendôme.",
            "question": f"{stray[0]}What happens in scene {k}?{stray[1]}",
            "selected answer": f"1. **Scene {k}**:\n   - It rains, as `t=1.0s` shows.\\n",
            "rejected answer": f"Scene {k}.",
        }
    return made


def write_published(file: Path, bench: Mapping[str, Any]) -> Path:
    """Write a bench as it is published: indented by four, ASCII."""
    file.write_text(json.dumps(bench, indent=4))
    return file


def judgment(bench: Mapping[str, Any], qid: str, *, against: str, words: Any) -> dict[str, Any]:
    """Return one judge output, as it is published."""
    item = bench[qid]
    return {
        "video_id": item["video_id"],
        "qid": qid,
        "persona": item["persona"],
        "question": item["question"],
        "response": f"my answer to {qid}",
        "reference": item[f"{against} answer"],
        "GPT4o Judge response": words,
    }


def write_judgments(
    folder: Path, bench: Mapping[str, Any], *, against: str, verdicts: Sequence[str]
) -> Path:
    """Write a file for each question, in its order; nested, as the published archives are."""
    inner = folder / against / "judge"
    inner.mkdir(parents=True)
    for qid, verdict in zip(bench, verdicts, strict=True):
        analysis = "```[Accuracy]\n[Model A] is right; B>A would be wrong, A=B too.\n```\n\n"
        words = analysis + WORDS.get(verdict, verdict)
        line = json.dumps(judgment(bench, qid, against=against, words=words))
        (inner / f"{qid}.jsonl").write_text(line + "\n")
    return folder / against


def outcomes(wins: int, ties: int, total: int = ITEMS) -> list[str]:
    """Return so many wins and ties, and losses for the rest."""
    return ["win"] * wins + ["tie"] * ties + ["loss"] * (total - wins - ties)
