"""Logs for Inspect's viewer, read by what is published of their shape; none of their code."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

Json = dict[str, Any]
STATUS = {"started", "success", "cancelled", "error"}
STOPS = {"stop", "max_tokens", "model_length", "tool_calls", "content_filter", "unknown"}
ROLES = {"system", "user", "assistant", "tool"}


class ReadLog(NamedTuple):
    header: Json
    samples: dict[str, Json]
    summaries: list[Json]

    @property
    def metrics(self) -> dict[str, dict[str, float]]:
        """Figures by scorer, then by name."""
        return {
            score["name"]: {name: one["value"] for name, one in score["metrics"].items()}
            for score in self.header["results"]["scores"]
        }


def read_logs(folder: Path) -> dict[str, ReadLog]:
    """Return the logs of a folder by their model; each must be as theirs are."""
    logs = [read_log(file) for file in sorted(folder.iterdir())]
    return {log.header["eval"]["model"]: log for log in logs}


def read_log(file: Path) -> ReadLog:
    """Return a log; fails where it is not one."""
    assert re.fullmatch(
        r"\d{4}(-\d\d){2}T(\d\d-){4}\d\d_[a-z0-9-]+_[a-z0-9-]+_\w+\.eval", file.name
    )
    with ZipFile(file) as archive:
        parts = {name: json.loads(archive.read(name).decode()) for name in archive.namelist()}
    header = parts.pop("header.json")
    summaries = parts.pop("summaries.json")
    start = parts.pop("_journal/start.json")
    assert start["eval"] == header["eval"]
    for name in parts:
        assert re.fullmatch(r"samples/[0-9A-Za-z][0-9A-Za-z.+~-]*_epoch_1\.json", name)
    samples = {sample["id"]: sample for sample in parts.values()}
    assert [one["id"] for one in summaries] == header["eval"]["dataset"]["sample_ids"]
    _check_header(header, len(samples))
    for one in summaries:
        _check_sample(samples[one["id"]])
        assert one.get("error") is None or "error" in samples[one["id"]]
        assert one["scores"].keys() == samples[one["id"]]["scores"].keys()
    return ReadLog(header, samples, summaries)


def _check_header(header: Json, samples: int) -> None:
    spec = header["eval"]
    results = header["results"]
    assert header["version"] == 2
    assert header["status"] in STATUS
    assert datetime.fromisoformat(spec["created"]).tzinfo is not None
    for stamp in ("started_at", "completed_at"):
        datetime.fromisoformat(header["stats"][stamp])
    assert {"task", "model", "dataset", "config"} <= spec.keys()
    assert results["total_samples"] == spec["dataset"]["samples"] == samples
    for score in results["scores"]:
        assert {"name", "scorer", "metrics"} <= score.keys()
        for name, metric in score["metrics"].items():
            assert metric["name"] == name
            assert isinstance(metric["value"], int | float)


def _check_sample(sample: Json) -> None:
    assert sample["epoch"] == 1
    assert isinstance(sample["target"], str)
    for message in (*sample["input"], *sample["messages"]):
        assert message["role"] in ROLES
        _check_content(message["content"], sample["attachments"])
    for choice in sample["output"]["choices"]:
        assert choice["stop_reason"] in STOPS
    for score in sample["scores"].values():
        assert isinstance(score["value"], int | float)
    for usage in (*sample["model_usage"].values(), *sample["role_usage"].values()):
        assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    if "error" in sample:
        assert {"message", "traceback", "traceback_ansi"} == sample["error"].keys()


def _check_content(content: Any, attachments: dict[str, str]) -> None:
    for part in content if isinstance(content, list) else ():
        assert part["type"] in ("text", "image")
        if part["type"] == "image":
            kept = attachments[part["image"].removeprefix("attachment://")]
            assert kept.startswith("data:image/jpeg;base64,")
    assert isinstance(content, list | str)
