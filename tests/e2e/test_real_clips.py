"""Nine real clips, where they lie beside the checkout: VP8 in WebM, Matroska, 2048x1810 pixels."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.played import invoke

REAL = Path(__file__).parents[3] / "shared" / "videos"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not REAL.is_dir(), reason="no folder of real clips beside the checkout"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("real") / "out"
    ran = invoke("simulate", "--videos", REAL, "--rounds", 3, "--out", out, "-q")
    assert ran.exit_code == 0, ran.exception
    return out


@pytest.fixture
def bench(run: Path, tmp_path: Path) -> Path:
    frozen = invoke("freeze", run, "--to", tmp_path / "bench")
    assert frozen.exit_code == 0, frozen.exception
    return tmp_path / "bench"


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    return Path(shutil.copytree(REAL, tmp_path / "clips", copy_function=shutil.copyfile))


def test_three_rounds_over_all_nine_are_decided_and_come_out_the_same_again(run: Path) -> None:
    told = json.loads(invoke("status", run, "--json").output)
    assert told["slots"] == told["settled"] == 9 * 3 * 3
    assert invoke("replay", run).exit_code == 0


def test_the_judge_is_right_on_clips_spliced_from_real_ones(run: Path) -> None:
    told = invoke("audit", run, "--trials", "truth", "--cases", 72, "-q", "--json")
    assert told.exit_code == 0, told.exception
    found = {f["key"]: f for f in json.loads(told.stdout)["findings"]}
    accuracy = found["truth.accuracy.offline:judge"]
    assert (accuracy["n"], accuracy["alarm"]) == (52, False)
    assert accuracy["value"] > 0.95
    assert found["truth.longer.offline:judge"]["value"] == pytest.approx(0.5, abs=0.02)


def test_verify_accepts_what_was_frozen(bench: Path) -> None:
    assert invoke("bench", "verify", bench, "--videos", REAL).exit_code == 0


def test_verify_refuses_one_changed_byte(bench: Path) -> None:
    path = bench / "questions.jsonl"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    told = invoke("bench", "verify", bench)
    assert (told.exit_code, "questions.jsonl" in told.output) == (1, True)


def test_verify_refuses_a_removed_hash(bench: Path) -> None:
    path = bench / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["files"]["questions.jsonl"]
    path.write_text(json.dumps(manifest, indent=2, sort_keys=True))
    assert invoke("bench", "verify", bench).exit_code == 1


def test_verify_refuses_two_videos_that_were_swapped(bench: Path, clips: Path) -> None:
    one = clips / "street_bikes.mp4"
    other = clips / "sport_basketball.mp4"
    one.rename(clips / "held")
    other.rename(one)
    (clips / "held").rename(other)
    told = invoke("bench", "verify", bench, "--videos", clips)
    assert told.exit_code == 1
    assert "street_bikes.mp4" in told.output
