"""Videos of a run are held once, however often they are asked for, and counted without any."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.runfiles import video
from videoautoarena.memory.records.records import Video
from videoautoarena.memory.store.store import Store

TRICKY = 'a "problems":[] b.mp4'


def begun(path: Path, *videos: Video) -> Store:
    store = Store.create(path, {})
    store.add_videos(videos)
    return store


def test_those_that_were_handed_in_are_those_that_come_back_to_all_who_ask(tmp_path: Path) -> None:
    given = [video("a.mp4"), video("b.mp4")]
    with begun(tmp_path / "run.sqlite", *given) as store:
        first = store.videos()
        assert all(one is other for one, other in zip(given, first, strict=True))
        assert store.videos() is first
        # One that is there already is neither added nor kept.
        store.add_videos([video("a.mp4"), added := video("c.mp4")])
        assert store.videos()[2] is added
        # Whoever goes through them meanwhile is not disturbed.
        assert len(first) == 2
        assert store.count_videos() == 3
        assert store.video_ids() == [one.id for one in store.videos()]


def test_a_reader_reads_those_that_were_added_since(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with begun(path, video("a.mp4")) as store, Store.open(path, write=False) as reader:
        (kept,) = reader.videos()
        store.add_videos([video("b.mp4")])
        assert reader.videos()[0] is kept
        assert reader.videos() == store.videos()


def test_videos_with_problems_are_found_whatever_their_names_say(tmp_path: Path) -> None:
    bad = video("bad.mp4").model_copy(update={"problems": ("cut off", "no index")})
    odd = video(TRICKY).model_copy(update={"problems": ("short",)})
    films = (video("good.mp4"), bad, video(f"{TRICKY}2"), odd)
    with begun(tmp_path / "run.sqlite", *films) as store:
        assert store.problem_videos() == [bad, odd]


def test_texts_are_found_by_how_their_names_begin(tmp_path: Path) -> None:
    with begun(tmp_path / "run.sqlite") as store:
        store.put_files({"a/1": "x", "a/2": "", "a": "no", "a0": "no", "b/1": "no", "A/1": "no"})
        assert store.files_under("a/") == {"1": "x", "2": ""}
        assert [store.has_file_under(name) for name in ("a/", "b/", "c/")] == [True, True, False]


@pytest.mark.parametrize("problems", [(), ("cut off",)])
def test_what_most_videos_have_alike_they_share(tmp_path: Path, problems: tuple[str, ...]) -> None:
    films = [video(name).model_copy(update={"problems": problems}) for name in ("a.mp4", "b.mp4")]
    begun(tmp_path / "run.sqlite", *films).close()
    with Store.open(tmp_path / "run.sqlite", write=False) as reader:
        one, other = reader.videos()
    assert [one, other] == films
    assert one.model_fields_set is other.model_fields_set
    assert one.codec is other.codec
    changed = one.model_copy(update={"rotation": 90})
    assert "rotation" in changed.model_fields_set
    assert changed.model_fields_set is not one.model_fields_set
