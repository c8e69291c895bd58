"""What a run says of its videos: their files, and which frames everybody was sent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.support.golden import exported, unpack
from tests.support.played import battle, call, manifest, play, slot, video
from videoautoarena.memory.records.records import Cue, Frame, Nonce, Subtitles, VideoFrames
from videoautoarena.memory.store.evidence import TRIAL_SCOPE
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.rundir.account import RunVideo, places_of, videos_of
from videoautoarena.runs.run.rundir.reader import SUBTITLES, open_run

FILM = video()
ID = slot(FILM, 0).id
ROLES = {"examiner", "persona", "questioner", "judge", "evolver", "grader"}
TIMES = tuple(float(second) for second in range(12))


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("golden") / "out")


def with_frames(out: Path, times: tuple[float, ...] = TIMES) -> Path:
    """Add a video's frames to a run."""
    frames = tuple(Frame(time_s=time_s, digest=f"{k}") for k, time_s in enumerate(times))
    with Store.open(out / "run.sqlite", write=True) as store:
        kept = VideoFrames(video=FILM.id, width_px=8, height_px=8, frames=frames)
        asyncio.run(store.put_frames(kept))
    return out


def only(out: Path) -> RunVideo:
    with open_run(out) as run:
        (found,) = videos_of(run)
    return found


def seen(out: Path) -> dict[str, tuple[int, ...]]:
    found = only(out).seen
    assert found is not None
    return found


def asked(role: Any, alias: str, frames: int | None, **more: Any) -> Any:
    return call(ID, nonce=Nonce(scope=ID, role=role), alias=alias, frames=frames, **more)


def test_contestants_saw_the_frames_whose_times_their_battles_hold(golden: Path) -> None:
    videos = {one["id"]: one for one in exported(golden, "videos")}
    sent: dict[str, dict[str, set[float]]] = {id_: {} for id_ in videos}
    for one in exported(golden, "battles"):
        for seat in "ab":
            if one[f"answer_{seat}"] is not None:
                times = sent[one["video"]].setdefault(one[f"model_{seat}"], set())
                times.update(one[f"frames_{seat}"])
    assert sum(map(len, sent.values())) > 4
    for id_, found in videos.items():
        assert found["times"] == sorted(found["times"])
        assert set(found["seen"]) == set(sent[id_]) | ROLES
        for model, times in sent[id_].items():
            assert {found["times"][k] for k in found["seen"][model]} == times, model


def test_roles_saw_as_many_frames_as_their_exported_calls_were_made_from(golden: Path) -> None:
    videos = {one["id"]: one for one in exported(golden, "videos")}
    counts: dict[tuple[str, str], set[int]] = {}
    for row in exported(golden, "calls"):
        if row["role"] != "contestant" and row["frames"]:
            counts.setdefault((row["scope"][:12], row["role"]), set()).add(row["frames"])
    assert {role for _, role in counts} >= {"examiner", "judge", "questioner", "evolver"}
    for (id_, role), (frames,) in counts.items():
        assert len(videos[id_]["seen"][role]) == frames, role


def test_a_file_is_what_the_run_found(tmp_path: Path) -> None:
    out = play(tmp_path / "out", [battle(slot(FILM, 0))])
    found = only(out)
    assert (found.id, found.path, found.bytes) == (FILM.id, "clip.mp4", FILM.size_bytes)
    assert (found.duration_s, found.width, found.height, found.fps) == (12.5, 640, 360, 25.0)
    assert (found.category, found.subtitles) == ("Cooking Recipes", None)


def test_what_a_run_does_not_hold_is_none(tmp_path: Path) -> None:
    fought = battle(slot(FILM, 0), category=None, verdict="void", reason="no frames")
    found = only(play(tmp_path / "out", [fought]))
    assert (found.category, found.times, found.seen) == (None, None, None)


def test_subtitles_are_named_by_their_file(tmp_path: Path) -> None:
    out = with_frames(play(tmp_path / "out", [battle(slot(FILM, 0))]))
    cue = Cue(start_s=0.0, end_s=1.0, text="x")
    kept = Subtitles(path="sub/clip.srt", sha256="0", code="c", cues=(cue,))
    with Store.open(out / "run.sqlite", write=True) as store:
        store.put_file(f"{SUBTITLES}{FILM.id}", kept.model_dump_json())
    assert only(out).subtitles == "sub/clip.srt"


def test_a_contestant_stands_with_all_that_any_answer_was_made_from(tmp_path: Path) -> None:
    fought = [
        battle(slot(FILM, 0), frames_a=(0.0, 11.0), frames_b=()),
        battle(slot(FILM, 1), frames_a=(3.0,), answer_b=None, verdict="forfeit_b", reason="x"),
    ]
    out = with_frames(play(tmp_path / "out", fought))
    assert seen(out) == {"hawk": (0, 3, 11), "owl": ()}


def test_a_role_saw_every_so_manieth_frame_of_what_its_model_takes(tmp_path: Path) -> None:
    cast = {**manifest()["cast"], "examiner": _entry(12), "judge": _entry(6)}
    calls = [asked("examiner", "examiner", 12), asked("judge", "judge", 3), asked("grader", "j", 0)]
    played = play(tmp_path / "out", [], calls=calls, settings=manifest(cast=cast))
    # Of twelve its model takes 0, 2, 4, 7, 9 and 11; of those its server took three.
    assert seen(with_frames(played)) == {"examiner": tuple(range(12)), "judge": (0, 4, 11)}


def test_calls_that_failed_and_trials_of_judges_show_nothing(tmp_path: Path) -> None:
    trial = f"{TRIAL_SCOPE}repeat:{ID}:judge"
    calls = [
        asked("judge", "judge", 4, reply=None, failure="x", failure_kind="timeout"),
        call(trial, alias="judge", frames=4),
    ]
    assert seen(with_frames(play(tmp_path / "out", [], calls=calls))) == {}


def test_judges_of_a_panel_stand_by_their_names(tmp_path: Path) -> None:
    cast = {**manifest()["cast"], "second": _entry(4)}
    settings = manifest(cast=cast, judges=["judge", "second"])
    calls = [asked("judge", "judge", 2), asked("judge", "second", 1)]
    out = with_frames(play(tmp_path / "out", [], calls=calls, settings=settings))
    assert list(seen(out)) == ["judge judge", "judge second"]


def test_a_contestant_that_is_called_like_a_role_is_not_taken_for_it(tmp_path: Path) -> None:
    models = ["evolver", "owl"]
    cast = {**manifest()["cast"], "evolver": _entry(4)}
    fought = battle(slot(FILM, 0), model_a="evolver", frames_a=(5.0,))
    played = play(
        tmp_path / "out",
        [fought],
        calls=[asked("evolver", "examiner", 4)],
        settings=manifest(models=models, cast=cast),
    )
    found = seen(with_frames(played))
    assert found["evolver"] == (5,)
    assert found["evolver examiner"] == (0, 4, 7, 11)


def test_frames_of_one_time_are_told_apart_by_how_they_are_spread() -> None:
    times = (0.0, 0.01, 0.01, 0.02)
    assert places_of(times, (0.0, 0.01, 0.02)) == [0, 2, 3]
    assert places_of(times, (0.01, 0.01)) == [1, 2]
    assert places_of(times, (0.02, 7.0)) == [3]


def _entry(most: int) -> dict[str, Any]:
    return {"model": "openai:x", "max_frames": most, "endpoint": "x", "timeout_s": 1.0}
