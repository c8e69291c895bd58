"""A unit that looks at other videos, too, is handed their rows and lets them go with its own."""

from __future__ import annotations

import asyncio
from pathlib import Path

from videoautoarena.memory.records.records import Video, VideoFrames
from videoautoarena.memory.store.shares import Mirror, Unit
from videoautoarena.memory.store.store import Store


def video(name: str) -> Video:
    shown = {"width_px": 64, "height_px": 48, "fps": 10.0, "codec": "h264", "duration_s": 1.0}
    return Video(id=name, path=f"{name}.mp4", sha256=name * 64, size_bytes=1, **shown)


def test_rows_of_videos_beside_the_own_come_and_go_with_a_unit(tmp_path: Path) -> None:
    with Store.create(tmp_path / "calls.sqlite", {"schema": 1}) as store:
        store.add_videos([video(name) for name in "123"])
        for name in "123":
            frames = VideoFrames(video=name, width_px=64, height_px=48, frames=())
            asyncio.run(store.put_frames(frames))
            store.put_file(f"unusable/{name}", "")
        unit = Unit("1", ("1", "2"), ("2",))
        mirror = Mirror()
        share = store.shares.of(unit)
    mirror.add(share)
    seen = Store(mirror, None, None)
    assert unit.videos == ("1", "2")
    assert [seen.frames(name) is not None for name in "123"] == [True, True, False]
    assert [file.name for file in seen.files()] == ["unusable/1", "unusable/2"]
    mirror.forget(unit)
    assert [seen.frames(name) for name in "12"] == [None, None]
    assert seen.files() == []
