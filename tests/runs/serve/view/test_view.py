"""What a page is given of a run: the data that commands print, its pictures, and no more."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.support.clips import draw_folder
from tests.support.played import invoke
from tests.support.served import Answer, Site, site
from tests.support.small_runs import TRIO, alter, play
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.rundir.opener import FOLDER_FILE
from videoautoarena.runs.run.rundir.reader import RUN_FILE
from videoautoarena.runs.serve.view import pictures
from videoautoarena.runs.serve.view.app import OneRun, RunsOfFolder, view_app
from videoautoarena.runs.views.page.data import CHUNK
from videoautoarena.runs.views.page.document import document, policy
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a video and a run over it."""
    place = tmp_path_factory.mktemp("viewed")
    draw_folder(place / "videos", 1, seconds=3.0)
    play(place / "videos", place / "runs" / "first", rounds=1)
    return place


@pytest.fixture(scope="module")
def out(place: Path) -> Path:
    return place / "runs" / "first"


@pytest.fixture(scope="module")
def cache(place: Path) -> FrameCache:
    return FrameCache(place / "cache")


@pytest.fixture(scope="module")
def shown(out: Path, cache: FrameCache) -> Iterator[Site]:
    with (
        # So few that a model's own frames are not among them by chance.
        pytest.MonkeyPatch.context() as changed,
        site(view_app(OneRun(out, Decoders(cache, workers=1))), policy=policy("report")) as opened,
    ):
        changed.setattr(pictures, "THUMBS", 2)
        yield opened


def parsed(answer: Answer) -> Any:
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    return json.loads(answer.body)


def test_the_page_brings_all_that_it_runs_and_a_policy_that_lets_nothing_else_run(
    shown: Site,
) -> None:
    page = shown.ask("/")
    assert page.text == "".join(document("report", place="served"))
    held = page.headers["content-security-policy"]
    assert held.startswith(policy("report"))
    for rule in ("default-src 'none'", "require-trusted-types-for 'script'", "connect-src 'self'"):
        assert rule in held
    assert "unsafe" not in held
    assert "data:" not in held


def test_the_data_are_what_the_commands_print(shown: Site, out: Path) -> None:
    summary = parsed(shown.ask("/api/summary"))
    board = json.loads(invoke("leaderboard", out, "--json").stdout)
    ratings = {row["model"]: row["rating"] for row in board["models"]}
    assert {row["model"]: row["rating"] for row in summary["models"]} == ratings
    index = parsed(shown.ask("/api/index"))
    battles = invoke("battles", out, "--jsonl").stdout
    listed = [json.loads(line) for line in battles.splitlines()]
    assert index["id"] == [battle["id"] for battle in listed]
    part = parsed(shown.ask("/api/part/0"))
    assert [battle["question"] for battle in part] == [battle["question"] for battle in listed]
    assert index["chunk"] == CHUNK
    assert parsed(shown.ask("/api/part/1")) == []


def test_a_run_that_is_over_says_so(shown: Site, out: Path) -> None:
    count = len(invoke("battles", out, "--jsonl").stdout.splitlines())
    live = parsed(shown.ask("/api/summary"))["live"]
    over = {"settled": count, "slots": count, "running": False, "eta_s": None, "spent_usd": 0.0}
    over["cluster"] = None
    assert live == over
    events = shown.ask("/api/events")
    assert events.headers["content-type"].startswith("text/event-stream")
    first, said, end, rest = events.text.split("\n\n")
    assert first == "retry: 5000"
    assert said.startswith("event: summary\ndata: ")
    assert json.loads(said.partition("data: ")[2]) == over
    assert (end, rest) == ("event: end\ndata: {}", "")


def test_one_run_is_no_list(shown: Site) -> None:
    assert parsed(shown.ask("/api/runs")) == {"runs": None}


def test_no_path_and_no_host_is_in_the_data(shown: Site, place: Path) -> None:
    for path in ("/", "/api/summary", "/api/index", "/api/videos", "/api/part/0"):
        assert str(place).encode() not in shown.ask(path).body


def test_the_thumbnails_lie_where_the_data_say(shown: Site) -> None:
    for id_, video in parsed(shown.ask("/api/videos")).items():
        sprite = video["sprite"]
        sheet = shown.ask(f"/api/sprite/{id_}")
        assert (sheet.status, sheet.headers["content-type"]) == (200, "image/webp")
        with Image.open(BytesIO(sheet.body)) as picture:
            rows = -(-len(sprite["of"]) // sprite["columns"])
            assert picture.size == (sprite["w"] * sprite["columns"], sprite["h"] * rows)
        short = [places for places in video["seen"].values() if len(places) <= 16]
        assert short
        assert all(set(places) <= set(sprite["of"]) for places in short)


def test_a_frame_is_the_one_that_models_were_sent(shown: Site, out: Path) -> None:
    with Store.open(out / RUN_FILE, write=False) as store:
        for video in store.videos():
            frames = store.frames(video.id)
            assert frames is not None
            for number in (0, len(frames.frames) - 1):
                answer = shown.ask(f"/api/frame/{video.id}/{number}")
                assert answer.headers["content-type"] == "image/jpeg"
                assert digest(answer.body) == frames.frames[number].digest
            beyond = shown.ask(f"/api/frame/{video.id}/{len(frames.frames)}")
            assert beyond.status == 404


def test_a_video_plays_and_can_be_moved_about_in(shown: Site, place: Path) -> None:
    for id_, video in parsed(shown.ask("/api/videos")).items():
        whole = (place / "videos" / video["path"]).read_bytes()
        part = shown.ask(f"/api/video/{id_}", Range="bytes=100-199")
        assert (part.status, part.body) == (206, whole[100:200])
        assert part.headers["content-type"] == "video/mp4"


@pytest.mark.parametrize(
    "path",
    [
        *("/api", "/api/nothing", "/api/summary/x", "/index.html", "/run.sqlite"),
        *("/api/part/x", "/api/part/-1", "/api/part/1.5", "/api/part/" + "9" * 5000),
        *("/api/video/clip00.mp4", "/api/video/..", "/api/video/000000000000"),
        *("/api/sprite/000000000000", "/api/frame/000000000000/0", "/api/frame/x/y"),
        *("/api/summary?run=first", "/api/index?run=", "/api/events?run=other"),
    ],
)
def test_what_is_not_of_this_run_is_not_there(shown: Site, path: str) -> None:
    assert shown.ask(path).status == 404


def test_an_id_is_taken_whole(shown: Site) -> None:
    id_ = next(iter(parsed(shown.ask("/api/videos"))))
    for other in (id_[:11], id_.upper() + "0", f"{id_}0"):
        for path in (f"/api/video/{other}", f"/api/frame/{other}/0", f"/api/sprite/{other}"):
            assert shown.ask(path).status == 404


@pytest.fixture
def copied(place: Path, out: Path, tmp_path: Path) -> Path:
    """The run in a folder of its own, beside a copy of its videos."""
    shutil.copytree(place / "videos", tmp_path / "videos")
    return Path(shutil.copytree(out, tmp_path / "out"))


def test_a_file_that_changed_leaves_its_frames(
    copied: Path, cache: FrameCache, tmp_path: Path
) -> None:
    moved = OneRun(copied, Decoders(cache, workers=1), tmp_path / "videos")
    with site(view_app(moved)) as shown:
        id_, video = next(iter(parsed(shown.ask("/api/videos")).items()))
        assert shown.ask(f"/api/video/{id_}").status == 200
        with (tmp_path / "videos" / video["path"]).open("ab") as file:
            file.write(b"!")
        gone = shown.ask(f"/api/video/{id_}")
        assert (gone.status, gone.text) == (410, "this file has changed since the run saw it\n")
        assert shown.ask(f"/api/frame/{id_}/0").status == 200
        cache.prune(0, idle_s=-1)
        lost = shown.ask(f"/api/frame/{id_}/0")
        assert (lost.status, lost.text) == (410, "has changed since it was found\n")


def test_videos_are_read_from_no_folder_that_only_the_run_names(
    copied: Path, cache: FrameCache, tmp_path: Path
) -> None:
    alter(copied, "UPDATE files SET text = :to WHERE name = :name",
          to=str(tmp_path / "videos"), name=FOLDER_FILE)  # fmt: skip
    with site(view_app(OneRun(copied, Decoders(cache, workers=1)))) as shown:
        id_ = next(iter(parsed(shown.ask("/api/videos"))))
        cache.prune(0, idle_s=-1)
        for place_of_one in (f"/api/video/{id_}", f"/api/frame/{id_}/0"):
            gone = shown.ask(place_of_one)
            assert gone.status == 410
            assert gone.text == "its folder is not known here; pass --videos\n"


def test_a_folder_lists_its_runs_and_each_opens(
    place: Path, out: Path, cache: FrameCache, tmp_path: Path
) -> None:
    for name in ("a/b/deep", "a/b/c/deeper", "<b>.run", ".hidden"):
        shutil.copytree(out, tmp_path / "runs" / name)
    (tmp_path / "runs" / "link").symlink_to(out)
    broken = tmp_path / "runs" / "broken"
    broken.mkdir()
    (broken / RUN_FILE).write_bytes(b"no run at all" * 100)
    with site(view_app(RunsOfFolder(tmp_path / "runs", Decoders(cache, workers=1)))) as shown:
        assert shown.ask("/api/summary").status == 404
        runs = {row["name"]: row for row in parsed(shown.ask("/api/runs"))["runs"]}
        assert set(runs) == {"a/b/deep", "<b>.run", "broken"}
        assert "run.sqlite" in runs["broken"]["reason"]
        row = runs["a/b/deep"]
        assert (row["reason"], row["running"]) == (None, False)
        assert row["settled"] == row["slots"] > 0
        assert row["models"] == list(TRIO)
        assert len(parsed(shown.ask(f"/api/index?run={row['id']}"))["id"]) == row["settled"]
        assert shown.ask(f"/api/summary?run={runs['broken']['id']}").status == 503
        for wrong in ("first", "..", "000000000000"):
            assert shown.ask(f"/api/index?run={wrong}").status == 404


def test_looking_leaves_the_run_as_it_is(shown: Site, out: Path) -> None:
    before = (out / RUN_FILE).read_bytes()
    id_ = next(iter(parsed(shown.ask("/api/videos"))))
    for path in ("summary", "events", f"video/{id_}", f"frame/{id_}/1", f"sprite/{id_}"):
        assert shown.ask(f"/api/{path}").status == 200
    assert (out / RUN_FILE).read_bytes() == before
