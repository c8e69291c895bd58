"""What a task set gives away, from Python: the very figures of the command, planned for free."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import videoautoarena as va
from tests.support.clips import draw_folder
from tests.support.played import invoke
from tests.support.played_dialogues import play_dialogues
from tests.support.small_benches import calls_of
from tests.support.task_sets import choice, write_set
from videoautoarena.video.folder.find import find_videos

BLIND = "offline:blind"


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three clips and a set of choices about them, which no test writes to."""
    place = tmp_path_factory.mktemp("probed")
    videos = find_videos(draw_folder(place / "videos", 3, seconds=2)).videos
    items = [choice(video.id, k) for video in videos for k in range(2)]
    write_set(place / "set", items, videos=place / "videos")
    return place


@pytest.fixture
def tasks(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground / "set", tmp_path / "set"))


def printed(*words: object) -> Any:
    return json.loads(invoke("bench", "probe", *words, "--json").stdout)


def test_by_text_alone_nobody_is_asked_and_the_command_says_the_same(tasks: Path) -> None:
    bench = va.open_bench(tasks)
    found = bench.probe()
    assert isinstance(found, va.Probes)
    assert found.to_json() == printed(tasks)
    assert found.to_text() == invoke("bench", "probe", tasks).stdout.removesuffix("\n")
    assert {row["probe"] for row in found.rows} >= {"longest", "shortest", "prior"}
    assert found.asked == []
    assert "<table>" in found._repr_html_()
    assert not (tasks / "results").exists()
    with pytest.raises(va.BadInput, match="nothing to plan"):
        bench.probe.plan()


def test_models_are_asked_without_the_video_after_a_plan_that_asks_nobody(
    ground: Path, tasks: Path
) -> None:
    bench = va.open_bench(tasks)
    asked: dict[str, Any] = {"videos": ground / "videos", "limit": 3}
    plan = bench.probe.plan([BLIND], **asked)
    assert plan.calls_at_most == {BLIND: 4 * 3}
    assert not (tasks / "results").exists()
    found = bench.probe([BLIND], **asked, quiet=True)
    assert {row["view"] for row in found.asked} == {"blind", "one", "shuffled", "other"}
    # Without frames all four are one question.
    assert len(calls_of(tasks)) == 3
    # Asked before, the same costs nothing again, from a command or from a loop.
    assert printed(tasks, "--model", BLIND, "--videos", ground / "videos", "--limit", 3) == (
        found.to_json()
    )
    again = asyncio.run(bench.probe.aio([BLIND], **asked, quiet=True))
    assert again.to_json() == found.to_json()
    assert len(calls_of(tasks)) == 3


def test_a_cap_ends_it_as_unfinished(ground: Path, tasks: Path) -> None:
    bench = va.open_bench(tasks)
    with pytest.raises(va.Unfinished, match="cap is reached") as capped:
        bench.probe(["offline:hawk"], videos=ground / "videos", max_tokens=1, quiet=True)
    assert capped.value.kind == "cap"


def test_what_cannot_be_probed_or_set_is_refused(ground: Path, tasks: Path, tmp_path: Path) -> None:
    talks = va.open_bench(play_dialogues(tmp_path / "talks").folder)
    with pytest.raises(va.BadInput, match="only tasks with options have shortcuts"):
        talks.probe()
    with pytest.raises(va.BadInput, match="there is no setting 'anchor'; see ProbeOptions"):
        va.open_bench(tasks).probe([BLIND], anchor="x")  # type: ignore[call-arg]
