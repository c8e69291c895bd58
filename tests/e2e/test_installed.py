"""From a wheel, outside the source tree: the commands, the import, and openai-agents beside it."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
from pathlib import Path

import pytest

from tests.support.clips import copy_but_one, draw_folder
from tests.support.wheels import ROOT, Environment, build, copy_sources

FETCHED = ROOT / ".wheels"
AGENTS = bool(list(FETCHED.glob("openai_agents-*.whl")))
pytestmark = pytest.mark.slow
FACE = """
import json, sys, videoautoarena as va
run = va.open_run(sys.argv[1])
print(json.dumps([va.__file__, va.__version__, run.leaderboard().to_json()]))
"""
BOTH = """
import agents, videoautoarena.agents, videoautoarena.agents.calls.retry
from videoautoarena.agents.roles import judge
assert agents.Agent(name="theirs").name == "theirs"
assert not hasattr(videoautoarena.agents, "Agent")
print(agents.__file__)
print(videoautoarena.agents.__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sources = copy_sources(tmp_path_factory.mktemp("sources"))
    return build("wheel", sources, tmp_path_factory.mktemp("dist") / "wheel")


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    environment = Environment(tmp_path_factory.mktemp("clean") / "env")
    environment.install("--no-deps", wheel)
    environment.lend_dependencies()
    return environment


def test_a_tournament_on_a_clip_is_played_and_read_from_python(
    clean: Environment, tmp_path: Path
) -> None:
    draw_folder(tmp_path / "clips", 1, seconds=3)
    clean.run("simulate", "--videos", "clips", "--rounds", "1", "--quiet", cwd=tmp_path)
    told = clean.run("arena", "leaderboard", "arena-out", "--json", cwd=tmp_path)
    place, version, board = json.loads(clean.run("python", "-c", FACE, "arena-out", cwd=tmp_path))
    assert Path(place).is_relative_to(clean.packages)
    assert board == json.loads(told)
    assert version in clean.run("arena", "--version", cwd=tmp_path)


def test_the_demo_runs_as_it_does_in_a_clone(
    clean: Environment, sample_clips: Path, tmp_path: Path
) -> None:
    copy_but_one(sample_clips, tmp_path / "arena-samples")
    told = clean.run("arena", "demo", "--quiet", cwd=tmp_path)
    assert "hawk" in told
    status = json.loads(clean.run("arena", "status", "arena-out/demo", "--json", cwd=tmp_path))
    assert status["settled"] == status["slots"] == 108


@pytest.mark.skipif(not AGENTS, reason="make slow could not fetch openai-agents into .wheels")
def test_openai_agents_is_installed_beside_it_and_both_work(wheel: Path, tmp_path: Path) -> None:
    environment = Environment(tmp_path / "env")
    environment.install("--no-deps", wheel)
    environment.install("--find-links", FETCHED, "openai-agents")
    agents, own = (recorded(environment, name) for name in ("openai_agents", "videoautoarena"))
    assert not set(agents) & set(own)
    for name, digest in {**agents, **own}.items():
        assert digest_of(environment.packages / name) == digest, name
    environment.lend_dependencies()
    places = environment.run("python", "-c", BOTH, cwd=tmp_path).split()
    packages = environment.packages
    assert places == [
        str(packages / "agents" / "__init__.py"),
        str(packages / "videoautoarena" / "agents" / "__init__.py"),
    ]


def recorded(environment: Environment, name: str) -> dict[str, str]:
    """Return the digest of every file that a distribution installed, as it recorded it."""
    (record,) = environment.packages.glob(f"{name}-*.dist-info/RECORD")
    rows = csv.reader(record.read_text().splitlines())
    found = {path: digest.removeprefix("sha256=") for path, digest, _ in rows if digest}
    assert len(found) > 50
    return found


def digest_of(path: Path) -> str:
    digest = hashlib.sha256(path.read_bytes()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
