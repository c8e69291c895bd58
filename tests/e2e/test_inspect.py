"""Logs are opened by inspect_ai itself, which lives in an environment of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import draw_folder
from tests.support.inspect_logs import read_logs
from tests.support.played import battle, invoke, manifest, slot, video
from tests.support.played import play as fill
from tests.support.small_runs import play

INSPECT = Path(__file__).parents[2] / ".venv-inspect" / "bin"
READ = """
import json, sys
from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample_summaries
told = {}
for info in list_eval_logs(sys.argv[1]):
    head, log = read_eval_log(info, header_only=True), read_eval_log(info)
    assert head.eval == log.eval and head.results == log.results and head.stats == log.stats
    assert {s.id for s in read_eval_log_sample_summaries(info)} == {s.id for s in log.samples}
    told[log.eval.model] = {
        "status": log.status,
        "metrics": {s.name: {k: m.value for k, m in s.metrics.items()} for s in log.results.scores},
        "samples": {
            s.id: [s.messages[-1].text, s.output.completion, s.error and s.error.message,
                   {k: v.value for k, v in s.scores.items()}]
            for s in log.samples
        },
        "pictures": sum("data:image" in str(s) for s in read_eval_log(
            info, resolve_attachments=True).samples),
    }
print(json.dumps(told))
"""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not INSPECT.is_dir(), reason="make slow makes .venv-inspect"),
]


def inspect(*typed: object) -> str:
    line = list(map(str, typed))
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def read_by_inspect(logs: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(inspect(INSPECT / "python", "-c", READ, logs))
    return found


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one clip, a bench of it that was played, and the logs of both."""
    place = tmp_path_factory.mktemp("ground")
    play(draw_folder(place / "videos", 1, seconds=2), place / "out")
    to_logs = ("--format", "inspect", "--frames", 2, "--to")
    assert invoke("freeze", place / "out", "--to", place / "bench").exit_code == 0
    typed = ("--videos", place / "videos", "--model", "offline:mole")
    assert invoke("bench", "run", place / "bench", *typed).exit_code == 0
    whats = ("--what", "battles")
    assert invoke("export", place / "out", *whats, *to_logs, place / "logs").exit_code == 0
    done = invoke("bench", "export", place / "bench", *to_logs, place / "b")
    assert done.exit_code == 0
    assert f"frames of videos are in {place / 'b'}: before others get them" in done.stderr
    return place


@pytest.mark.parametrize("logs", ["logs", "b"])
def test_inspect_reads_what_stands_in_the_logs(ground: Path, logs: str) -> None:
    theirs = read_by_inspect(ground / logs)
    ours = read_logs(ground / logs)
    assert theirs.keys() == ours.keys()
    for model, log in ours.items():
        assert theirs[model]["status"] == log.header["status"]
        assert theirs[model]["metrics"] == log.metrics
        assert theirs[model]["pictures"] == len(log.samples)
        assert theirs[model]["samples"] == {
            id_: [
                one["messages"][-1]["content"],
                one["output"].get("completion", ""),
                one["error"]["message"] if "error" in one else None,
                {name: score["value"] for name, score in one["scores"].items()},
            ]
            for id_, one in log.samples.items()
        }


def test_inspect_dumps_and_bundles_them(ground: Path, tmp_path: Path) -> None:
    file = next((ground / "logs").iterdir())
    dumped = json.loads(inspect(INSPECT / "inspect", "log", "dump", file))
    assert dumped["version"] == 2
    bundle = tmp_path / "bundle"
    inspect(INSPECT / "inspect", "view", "bundle", "--log-dir", ground / "logs",
            "--output-dir", bundle)  # fmt: skip
    assert (bundle / "index.html").is_file()
    assert len(list((bundle / "logs").glob("*.eval"))) == len(list((ground / "logs").iterdir()))


def test_inspect_reads_whatever_strangers_say(tmp_path: Path) -> None:
    evil = "../x\x1b[2J\x00<script>alert(1)</script> attachment://0 {{7}} \ufffe\U0010ffff"
    cast = {name: {"model": f"offline:{name}"} for name in (evil, "owl")}
    fights = [
        battle(slot(video(), k), model_a=evil, question=evil, answer_a=evil, reason=why, verdict=v)
        for k, (v, why) in enumerate([("a", None), ("void", evil)])
    ]
    out = fill(tmp_path / "out", fights, settings=manifest(models=[evil, "owl"], cast=cast))
    typed = ("--what", "battles", "--format", "inspect", "--to", tmp_path / "logs")
    assert invoke("export", out, *typed).exit_code == 0
    theirs = read_by_inspect(tmp_path / "logs")
    assert theirs["owl"]["samples"][fights[1].id][2] == f"void: {evil}"
    assert evil in theirs["owl"]["samples"][fights[0].id][0]
