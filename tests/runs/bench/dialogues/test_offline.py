"""Stand-ins play dialogues in the words of the house, and a plan says what that takes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.canned import billing
from tests.support.clips import draw_folder
from tests.support.dialogue_sets import dialogue, spoken, turn, write_dialogues
from tests.support.loopback import Loopback, ask_offline, serving
from tests.support.small_benches import calls_of, run_bench
from tests.support.whole_runs import KEY
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import CallRow
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.results import read_dialogues
from videoautoarena.runs.bench.format.schema import ABILITIES, DialogueItem
from videoautoarena.video.folder.find import find_videos

FRAME_TOKENS = 85
NEAR = 0.2
PRICES = {"hawk": (2.5, 10.0), "mole": (0.15, 0.6), "judge": (2.0, 8.0)}
FRAMES = {"hawk": 64, "mole": 4, "judge": 64}


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clips and four dialogues about each, which no test writes to."""
    place = tmp_path_factory.mktemp("dialogues")
    videos = find_videos(draw_folder(place / "videos", 2, seconds=3)).videos
    items = [
        spoken(video.id, k, ability=ABILITIES[k], spans=[(0.5, 2.5)] if k % 2 else [])
        for video in videos
        for k in range(4)
    ]
    write_dialogues(place / "set", items, videos=place / "videos")
    return place


@pytest.fixture
def place(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground, tmp_path / "place"))


def test_the_offline_cast_plays_and_is_scored_without_a_network(place: Path) -> None:
    cast = ("--model", "offline:hawk,offline:blind")
    played = run_bench(place / "set", "--videos", place / "videos", *cast, "--json")
    assert played.return_value == 0, played.output
    assert "16 dialogues" in played.output
    scores = json.loads(played.stdout)["scores"]
    assert scores["stand_ins"]
    assert {row["model"] for row in scores["models"]} == {"offline:hawk", "offline:blind"}
    assert all(row["counts"] == {"answered": 16} for row in scores["models"])
    again = run_bench(place / "set", *cast, "--json")
    assert json.loads(again.stdout)["scores"] == scores


def test_a_stand_in_that_plays_cannot_mark(place: Path) -> None:
    typed = ("--videos", place / "videos", "--model", "offline:hawk", "--judge", "offline:owl")
    wrong = run_bench(place / "set", *typed).exception
    assert isinstance(wrong, BadInput)
    assert "cannot judge; the offline one that can is offline:judge" in str(wrong)
    assert not (place / "set/results").exists()


@pytest.mark.slow
def test_results_do_not_depend_on_how_many_calls_are_under_way(place: Path) -> None:
    found = []
    for concurrency in (1, 16):
        folder = Path(shutil.copytree(place / "set", place / f"set{concurrency}"))
        cast = ("--model", "offline:hawk,offline:mole", "--history", "own")
        typed = ("--videos", place / "videos", *cast, "--concurrency", concurrency)
        assert run_bench(folder, *typed).return_value == 0
        found.append({f.name: f.read_bytes() for f in (folder / "results").glob("*.jsonl")})
    assert found[0] == found[1]
    assert len(found[0]) == 2


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loopback]:
    log = tmp_path_factory.mktemp("server") / "log"
    with serving(log, brain=billing(ask_offline, frame_tokens=FRAME_TOKENS)) as running:
        yield running


@pytest.mark.slow
def test_over_http_the_same_is_said_and_marked_as_in_process(
    place: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    declare(place, server.openai_url)
    shutil.copytree(place / "set", place / "near")
    near = ("--videos", place / "videos", "--model", "offline:hawk", "--history", "own")
    assert run_bench(place / "near", *near).return_value == 0
    bench(place, "--model", "hawk", "--history", "own")
    found = []
    for folder in (place / "near", place / "set"):
        (result,) = read_dialogues(open_bench(folder))
        found.append([one.model_copy(update={"usd": None, "ending": None}) for one in result.lines])
    assert found[0] == found[1]


def test_a_plan_counts_the_history_that_each_round_is_sent(place: Path) -> None:
    (video, *_) = find_videos(place / "videos").videos
    declare(place, "http://127.0.0.1:9/v1")
    tokens = []
    for words in (0, 1000):
        item = spoken(video.id)
        first = item.rounds[0].model_copy(update={"reference": "It is so. " + "Well " * words})
        item = item.model_copy(update={"rounds": [first, *item.rounds[1:]]})
        item = item.model_copy(update={"qid": item.own_qid()})
        write_dialogues(place / f"set{words}", [item], videos=place / "videos")
        shutil.rmtree(place / "set")
        (place / f"set{words}").rename(place / "set")
        tokens.append(bench(place, "--model", "hawk", "--plan")["input_tokens"])
    # Two rounds are scored, and each is sent the first; the marker is sent nothing of it.
    assert tokens[1] - tokens[0] == pytest.approx(2 * 5 * 1000 / 4, rel=0.01)


def plan_of(place: Path, item: DialogueItem, *typed: str) -> Any:
    """Return what a set of one dialogue is planned to take."""
    shutil.rmtree(place / "set")
    write_dialogues(place / "set", [item], videos=place / "videos")
    return bench(place, *typed, "--model", "hawk", "--plan")


def test_a_plan_counts_items_to_be_marked_and_what_a_stretch_shows_and_says(place: Path) -> None:
    (video, *_) = find_videos(place / "videos").videos
    declare(place, "http://127.0.0.1:9/v1")
    whole = [plan_of(place, dialogue(video.id, rounds=[turn(1, n, 0)])) for n in (2, 5)]
    assert whole[1]["output_tokens"] - whole[0]["output_tokens"] == pytest.approx(90, abs=2)
    spans: dict[str, Any] = {"spans": [(1.0, 2.0)]}
    part = plan_of(place, dialogue(video.id, rounds=[turn(1, 2, 0)], **spans))
    # Of 18 frames in 3 s it is sent 6, each with a line of its time.
    less = whole[0]["input_tokens"] - part["input_tokens"]
    assert 12 * FRAME_TOKENS <= less <= 12 * (FRAME_TOKENS + 10)
    words = "".join(f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{'so ' * 400}\n\n" for n in range(3))
    (place / "videos" / video.path).with_suffix(".srt").write_text(words)
    said = plan_of(place, dialogue(video.id, rounds=[turn(1, 2, 0)]))
    heard = plan_of(place, dialogue(video.id, rounds=[turn(1, 2, 0)], **spans))
    more = [one["input_tokens"] - before["input_tokens"]
            for one, before in ((said, whole[0]), (heard, part))]  # fmt: skip
    assert more[0] == pytest.approx(900, rel=0.1)
    assert more[1] == pytest.approx(more[0] / 3, rel=0.02)


def declare(place: Path, url: str) -> None:
    """Write which models there are, with their prices."""
    lines = ['[roles]\njudge = "judge"']
    for name, (read, written) in PRICES.items():
        lines += [f'[models.{name}]\nmodel = "openai:{name}"\nbase_url = "{url}"']
        lines += [f'key_env = "LOOPBACK_KEY"\nframe_tokens = {FRAME_TOKENS}']
        lines += [f"max_frames = {FRAMES[name]}"]
        lines += [f"price = {{ input_usd = {read}, output_usd = {written} }}"]
    (place / "arena.toml").write_text("\n".join(lines) + "\n")


def bench(place: Path, *typed: object) -> Any:
    where = ("--videos", place / "videos", "--config", place / "arena.toml", "--json")
    done = run_bench(place / "set", *where, *typed)
    assert done.return_value == 0, done.output
    return json.loads(done.stdout)


def taken(rows: list[CallRow]) -> dict[str, float]:
    return {
        "calls": len(rows),
        "tokens": sum(row.usage.total or 0 for row in rows),
        "cost_usd": sum(row.cost_usd or 0.0 for row in rows),
    }


@pytest.mark.parametrize(
    "typed",
    [
        ("--model", "mole"),
        pytest.param(("--model", "hawk", "--sweep", "frames=4,64"), marks=pytest.mark.slow),
        pytest.param(("--model", "hawk,mole", "--history", "own"), marks=pytest.mark.slow),
        pytest.param(("--model", "hawk,mole"), marks=pytest.mark.slow),
    ],
)
def test_a_plan_is_within_a_fifth_of_what_is_then_taken(
    place: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch, typed: tuple[str, ...]
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    declare(place, server.openai_url)
    known = set[str]()
    for limit in (5, 8):
        plan = bench(place, *typed, "--limit", limit, "--plan")
        assert {line["measured"] for line in plan["lines"] if line["calls"]} == {bool(known)}
        bench(place, *typed, "--limit", limit)
        rows = [row for row in calls_of(place / "set") if row.key not in known]
        known |= {row.key for row in rows}
        said = {**plan, "tokens": plan["input_tokens"] + plan["output_tokens"]}
        for name, amount in taken(rows).items():
            assert said[name] == pytest.approx(amount, rel=NEAR), name
        assert len(rows) <= sum(plan["calls_at_most"].values())
        assert taken(rows)["cost_usd"] <= plan["bound90_usd"]
    done = bench(place, *typed, "--plan")
    assert (done["calls"], done["lines"], done["cost_usd"]) == (0, [], 0.0)
