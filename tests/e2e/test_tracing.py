"""LangSmith hears of a run if the user turned it on, and of nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass

import pytest

from tests.support.clips import draw_folder
from tests.support.langsmith import Traced, listening

PLAYED = """
import json, os, sys
import langchain_core.tracers.langchain, langsmith.client
import videoautoarena.graph.arena, videoautoarena.runs.tournament.runner
from videoautoarena.runs.cli.program.main import arena_main, load
load("simulate")
made = langsmith.client.Client.__init__
def counted(self, *args, **kwargs):
    print("a LangSmith client was made")
    made(self, *args, **kwargs)
langsmith.client.Client.__init__ = counted
for name, environment in json.loads(sys.argv.pop()).items():
    # What is loaded has read no variable yet, so that it is loaded once for all.
    if not (child := os.fork()):
        os.environ |= environment
        said = os.open(f"{name}.said", os.O_WRONLY | os.O_CREAT)
        os.dup2(said, 1), os.dup2(said, 2)
        sys.argv += ["--out", name]
        arena_main()
    assert os.waitpid(child, 0)[1] == 0, open(f"{name}.said").read()
"""
RUN = ("simulate", "--videos", "videos", "--rounds", "1")
CAST = ("--models", "offline:hawk,offline:mole")
WAYS: dict[str, dict[str, str]] = {"off": {}, "on": {"LANGSMITH_TRACING": "true"}}


@dataclass(frozen=True)
class TracedRun:
    """What a run said, and what LangSmith was sent."""

    said: str
    heard: list[Traced]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TracedRun]:
    """What came of a run in each environment, which is given LangSmith's address as well."""
    folder = tmp_path_factory.mktemp("traced")
    draw_folder(folder / "videos", 1, seconds=2)
    with listening() as (address, heard):
        ways = {
            name: {**way, "LANGSMITH_API_KEY": "planted", "LANGSMITH_ENDPOINT": f"{address}/{name}"}
            for name, way in WAYS.items()
        }
        words = [sys.executable, "-c", PLAYED, *RUN, *CAST, json.dumps(ways)]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = {}
    for name in WAYS:
        said = (folder / f"{name}.said").read_text()
        found[name] = TracedRun(said, [one for one in heard if one.path.startswith(f"/{name}/")])
    return found


def test_a_key_and_an_address_alone_make_no_client_and_send_nothing(
    runs: dict[str, TracedRun],
) -> None:
    assert runs["off"].heard == []
    assert "LangSmith" not in runs["off"].said


def test_who_turns_it_on_gets_traces_and_is_told_so_first(runs: dict[str, TracedRun]) -> None:
    run = runs["on"]
    assert any("/runs" in one.path for one in run.heard), run.said
    told = "all requests and replies also go to 127.0.0.1, with digests of frames"
    line = f"LangSmith tracing is on: {told}"
    before, found, _ = run.said.partition(line)
    assert found
    assert "a LangSmith client was made" not in before
    assert "planted" not in run.said


def test_it_is_sent_digests_of_frames_and_no_frames(runs: dict[str, TracedRun]) -> None:
    sent = b"".join(one.body for one in runs["on"].heard)
    assert len(set(re.findall(rb"sha256:[0-9a-f]{64}", sent))) > 1
    # How a JPEG begins, in base64 and raw.
    assert b"/9j/" not in sent
    assert b"\xff\xd8\xff" not in sent
