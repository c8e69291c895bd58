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
from videoautoarena.memory.records.records import Battle

INSPECT = Path(__file__).parents[2] / ".venv-inspect" / "bin"
READ = """
import json, sys
from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample_summaries
told = {folder: {} for folder in sys.argv[1:]}
for folder, info in [(f, info) for f in told for info in list_eval_logs(f)]:
    head, log = read_eval_log(info, header_only=True), read_eval_log(info)
    assert head.eval == log.eval and head.results == log.results and head.stats == log.stats
    assert {s.id for s in read_eval_log_sample_summaries(info)} == {s.id for s in log.samples}
    told[folder][log.eval.model] = {
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
EVIL = "../x\x1b[2J\x00<script>alert(1)</script> attachment://0 {{7}} \ufffe\U0010ffff"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not INSPECT.is_dir(), reason="make slow makes .venv-inspect"),
]


def inspect(*typed: object) -> str:
    line = list(map(str, typed))
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


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
    cast = {name: {"model": f"offline:{name}"} for name in (EVIL, "owl")}
    settings = manifest(models=[EVIL, "owl"], cast=cast)
    out = fill(place / "strangers", fights(), settings=settings)
    assert invoke("export", out, *whats, *to_logs[:2], "--to", place / "evil").exit_code == 0
    return place


def fights() -> list[Battle]:
    """Return battles in which all is said by strangers."""
    return [
        battle(slot(video(), k), model_a=EVIL, question=EVIL, answer_a=EVIL, reason=why, verdict=v)
        for k, (v, why) in enumerate([("a", None), ("void", EVIL)])
    ]


@pytest.fixture(scope="module")
def read(ground: Path) -> dict[str, Any]:
    """What inspect reads in each folder of logs, in one process, which takes long to begin."""
    folders = [ground / name for name in ("logs", "b", "evil")]
    found = json.loads(inspect(INSPECT / "python", "-c", READ, *folders))
    return {Path(folder).name: logs for folder, logs in found.items()}


@pytest.mark.parametrize("logs", ["logs", "b"])
def test_inspect_reads_what_stands_in_the_logs(
    ground: Path, read: dict[str, Any], logs: str
) -> None:
    theirs = read[logs]
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


def test_inspect_reads_whatever_strangers_say(read: dict[str, Any]) -> None:
    won, void = fights()
    samples = read["evil"]["owl"]["samples"]
    assert samples[void.id][2] == f"void: {EVIL}"
    assert EVIL in samples[won.id][0]
