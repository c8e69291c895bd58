"""A film shows what its plan says, frame by frame, in full pictures, as a file and without one."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tests.support.coded import KINDS, QUICK, each, h264
from tests.support.films import draw_smooth, files, frames_of, probe, whole
from tests.support.stamped import RECIPES, Recipe, read_stamp
from tests.support.stamped import encode as encode_clip
from tests.support.textured import draw_textured
from videoautoarena.memory.records.errors import BadInput, UnusableVideo
from videoautoarena.memory.records.records import Sampling
from videoautoarena.video.decode.container import sha256_of
from videoautoarena.video.decode.index import read_index
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.sampling.policies import sample
from videoautoarena.video.synth.film import EncodedFilm, encode, sample_film
from videoautoarena.video.synth.splice import Splice, SplicePart
from videoautoarena.video.synth.timeline import FilmPlan, FrameRun, Probe
from videoautoarena.video.workers.decoders import Decoders

SOME = ("turned, wide pixels",)
"""Of the kinds of clips, those that are spliced in the fast suite."""
SPLICED = (*QUICK, "hevc, ten bits, hdr", "av1", "full range", "fifteen thousandths", "two frames")
"""What a film is made of comes through one decoder, which `test_decoders.py` puts through all."""
Clip = Callable[[str], Path]
Picture = NDArray[np.float64]


def stamps(path: Path) -> list[int]:
    """Return the number that each frame of a file carries."""
    numbers = []
    for image in frames_of(path):
        out = BytesIO()
        image.save(out, "BMP")
        numbers.append(read_stamp(out.getvalue()))
    return numbers


def said(runs: tuple[FrameRun, ...], recipes: dict[str, Recipe]) -> list[int]:
    """Return the numbers that the film's frames carry if the runs are right."""
    return [
        recipes[run.video].numbers[run.number + place * run.step]
        for run in runs
        for place in range(run.frames)
    ]


def check_stamps(plan: FilmPlan, recipes: dict[Path, Recipe], to: Path) -> EncodedFilm:
    written = encode(plan, files(*recipes), to)
    by_video = {sha256_of(path): recipe for path, recipe in recipes.items()}
    assert stamps(to) == said(written.runs, by_video)
    assert len(read_index(to).shown) == written.film.frames
    return written


def test_a_needle_is_at_its_frame_and_the_ground_goes_on_behind_it(
    clip: Clip, tmp_path: Path
) -> None:
    ground = clip("two seconds")
    other = clip("mpeg4 in avi")
    needle = clip("vp9")
    plan = FilmPlan(
        ground=(whole(ground), whole(other)),
        probes=(probe(needle, 70, start_s=1.6), probe(needle, 20, start_s=2.2), probe(other, 20)),
    )
    recipes = {ground: "two seconds", other: "mpeg4 in avi", needle: "vp9"}
    named = {path: RECIPES[name] for path, name in recipes.items()}
    film, runs = check_stamps(plan, named, tmp_path / "film.mp4")
    assert [(place.first, place.frames) for place in film.probes] == [(90, 10), (20, 10), (30, 10)]
    assert (film.frames, film.rate, film.width_px, film.height_px) == (155, "25", 320, 180)
    by_video = {sha256_of(path): recipe for path, recipe in named.items()}
    numbers = said(runs, by_video)
    assert numbers[:20] + numbers[40:90] + numbers[100:] == [*range(50), *range(75)]
    assert numbers[20:30] == list(range(55, 65))
    assert numbers[90:100] == list(range(40, 50))


@pytest.mark.parametrize("kind", each(SPLICED, SOME))
def test_every_kind_of_video_can_be_ground_and_needle(
    clip: Clip, coded: Clip, tmp_path: Path, kind: str
) -> None:
    path = coded(kind)
    recipe = KINDS[kind]
    width, height = recipe.size
    like = h264(size=(width // 2 * 2, height // 2 * 2))
    other = encode_clip(tmp_path / "other.mp4", like)
    times = read_index(path)
    third_s = times.seconds(times.shown[len(times.shown) // 3])
    seconds = min(0.6, times.duration_s - third_s)
    needle = probe(path, 20, start_s=third_s, seconds=seconds)
    recipes = {path: recipe, other: like}
    film, _ = check_stamps(
        FilmPlan(ground=(whole(other),), probes=(needle,)), recipes, tmp_path / "1.mp4"
    )
    assert [place.first for place in film.probes] == [20]
    grounds = FilmPlan(ground=(whole(path), whole(path)), probes=(probe(other, 1),))
    film, _ = check_stamps(grounds, recipes, tmp_path / "2.mp4")
    assert [place.first for place in film.probes] == [1]


def test_sound_and_everything_but_the_picture_is_left_out(clip: Clip, tmp_path: Path) -> None:
    ground = _with_sound(clip("two seconds"), tmp_path / "sound.mkv")
    encode(FilmPlan(ground=(whole(ground),)), files(ground), tmp_path / "film.mp4")
    with av.open(str(tmp_path / "film.mp4")) as container:
        assert [stream.type for stream in container.streams] == ["video"]
    assert stamps(tmp_path / "film.mp4") == list(range(50))


def _with_sound(source: Path, to: Path) -> Path:
    """Copy a video and put two seconds of silence beside it."""
    with av.open(str(source)) as old, av.open(str(to), "w") as new:
        stream = new.add_stream_from_template(old.streams.video[0])
        sound = new.add_stream("aac", rate=16_000)
        silence = av.AudioFrame.from_ndarray(
            np.zeros((1, 32_000), np.float32), format="fltp", layout="mono"
        )
        silence.sample_rate = 16_000
        new.mux(sound.encode(silence))
        new.mux(sound.encode())
        for packet in old.demux(video=0):
            if packet.size:
                packet.stream = stream
                new.mux(packet)
    return to


def test_equal_plans_give_equal_bytes(clip: Clip, tmp_path: Path) -> None:
    ground = clip("two seconds")
    needle = clip("odd size")
    plan = FilmPlan(ground=(whole(ground),), probes=(probe(needle, 20),))
    made = []
    for name in ("one.mp4", "two.mp4"):
        encode(plan, files(ground, needle), tmp_path / name)
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]
    encode(plan, files(ground, needle), tmp_path / "one.mp4", crf=22)
    assert len((tmp_path / "one.mp4").read_bytes()) < len(made[0])


@pytest.mark.slow
def test_large_films_have_equal_bytes_each_time(tmp_path: Path) -> None:
    recipe = h264(size=(1280, 720), count=12)
    ground = draw_smooth(tmp_path / "ground.mp4", recipe, tint=(0.9, 1.0, 0.7))
    plan = FilmPlan(ground=(whole(ground),), probes=(probe(ground, 9, seconds=0.2),))
    made = set()
    for _ in range(4):
        encode(plan, files(ground), tmp_path / "film.mp4")
        made.add(sha256_of(tmp_path / "film.mp4"))
    assert len(made) == 1


def test_key_frames_stand_where_they_would_without_the_needle(tmp_path: Path) -> None:
    ground, needle = (draw_textured(tmp_path / f"{seed}.mp4", seed) for seed in (1, 2))
    for name, probes in (("bare.mp4", ()), ("film.mp4", (probe(needle, 9, seconds=1),))):
        plan = FilmPlan(ground=(whole(ground),), probes=probes)
        encode(plan, files(ground, needle), tmp_path / name)
    bare, film = (read_index(tmp_path / name) for name in ("bare.mp4", "film.mp4"))
    assert film.keys[: len(bare.keys)] == bare.keys
    assert [film.shown.index(key) for key in film.keys] == [0, 12, 24, 36, 48]


UNIFORM = Sampling(frames=17)
POLICIES = (
    UNIFORM,
    Sampling(frames=33, policy="fps", fps=3.3),
    Sampling(frames=16, policy="keyframes"),
    Sampling(frames=9, fit="pad", size_px=200),
    Sampling(frames=9, fit="stretch", size_px=128),
)


@pytest.mark.parametrize(
    "sampling",
    [how if how is UNIFORM else pytest.param(how, marks=pytest.mark.slow) for how in POLICIES],
    ids=lambda how: f"{how.policy} {how.fit}",
)
def test_frames_alone_are_those_of_the_file(clip: Clip, tmp_path: Path, sampling: Sampling) -> None:
    ground = clip("h264 in matroska")
    other = clip("h264 in ts")
    needle = clip("upright")
    grounds = (whole(ground), whole(other)) * (6 if sampling.policy == "keyframes" else 1)
    plan = FilmPlan(ground=grounds, probes=(probe(needle, 40), probe(other, 90, start_s=1.9)))
    sources = files(ground, other, needle)
    encode(plan, sources, tmp_path / "film.mp4")
    frames, jpegs = sample_film(plan, sources, sampling=sampling)
    expected, theirs = sample(tmp_path / "film.mp4", sampling=sampling)
    assert [frame.time_s for frame in frames.frames] == [f.time_s for f in expected.frames]
    assert (frames.width_px, frames.height_px) == (expected.width_px, expected.height_px)
    assert [read_stamp(jpeg) for jpeg in jpegs] == [read_stamp(jpeg) for jpeg in theirs]
    for mine, other_one in zip(jpegs, theirs, strict=True):
        assert np.abs(pixels(mine) - pixels(other_one)).mean() < 3


def pixels(jpeg: bytes) -> Picture:
    return np.asarray(Image.open(BytesIO(jpeg)).convert("RGB"), np.float64)


def test_frames_alone_cannot_be_chosen_by_scenes(clip: Clip) -> None:
    plan = FilmPlan(ground=(whole(clip("two seconds")),))
    with pytest.raises(BadInput, match="by scenes"):
        sample_film(plan, files(clip("two seconds")), sampling=Sampling(policy="scenes"))


def test_a_broken_source_is_named_and_leaves_nothing_behind(clip: Clip, tmp_path: Path) -> None:
    ground = clip("two seconds")
    out = tmp_path / "out"
    out.mkdir()
    torn = tmp_path / "torn needle.ts"
    data = bytearray(clip("h264 in ts").read_bytes())
    middle = len(data) // 2
    data[middle : middle + 4000] = bytes(4000)
    torn.write_bytes(data)
    for source, reason in ((torn, "is damaged at"), (tmp_path / "no.mp4", "is a text")):
        if not source.exists():
            source.write_bytes(b"no video at all" * 99)
        sha256 = sha256_of(source)
        needle = Probe(video=sha256, start_s=0.8, seconds=1.9, before=20)
        plan = FilmPlan(ground=(whole(ground),), probes=(needle,))
        for make in (_file_in(out), _frames_alone):
            with pytest.raises(UnusableVideo, match=f"^'{source.name}' {reason}"):
                make(plan, {**files(ground), sha256: source})
    assert list(out.iterdir()) == []


def _file_in(folder: Path) -> Callable[[FilmPlan, dict[str, Path]], object]:
    return lambda plan, sources: encode(plan, sources, folder / "film.mp4")


def _frames_alone(plan: FilmPlan, sources: dict[str, Path]) -> object:
    return sample_film(plan, sources, sampling=Sampling(frames=128))


def test_too_short_a_source_is_named_and_a_wrong_place_is_refused(
    clip: Clip, tmp_path: Path
) -> None:
    ground = clip("two seconds")
    plan = FilmPlan(ground=(whole(ground),), probes=(probe(ground, 3, start_s=1.8),))
    with pytest.raises(UnusableVideo, match=r"^'two-seconds\.mp4' lasts 2\.000 s"):
        encode(plan, files(ground), tmp_path / "film.mp4")
    plan = FilmPlan(ground=(whole(ground),))
    with pytest.raises(BadInput, match="cannot be written to"):
        encode(plan, files(ground), tmp_path / "nowhere" / "film.mp4")


ENDLESS = """
import sys
from pathlib import Path
from videoautoarena.video.synth.film import encode
from videoautoarena.video.synth.timeline import FilmPlan
sources = {sys.argv[2]: Path(sys.argv[3])}
encode(FilmPlan.model_validate_json(sys.argv[1]), sources, Path(sys.argv[4]))
"""


@pytest.mark.slow
def test_a_kill_leaves_no_half_film_at_the_name(clip: Clip, tmp_path: Path) -> None:
    ground = clip("larger than asked")
    to = tmp_path / "film.mp4"
    to.write_bytes(b"what was there")
    plan = FilmPlan(ground=(whole(ground),) * 400)
    command = [plan.model_dump_json(), sha256_of(ground), str(ground), str(to)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    at_work = subprocess.Popen([sys.executable, "-c", ENDLESS, *command], env=environment)
    try:
        until = time.monotonic() + 60
        while not any(p.stat().st_size for p in tmp_path.glob(".*.part")):
            assert at_work.poll() is None
            assert time.monotonic() < until
            time.sleep(0.02)
    finally:
        at_work.kill()
    assert at_work.wait() == -signal.SIGKILL
    assert to.read_bytes() == b"what was there"
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".mp4"] == ["film.mp4"]


def test_a_worker_writes_and_samples_films_as_this_process_does(clip: Clip, tmp_path: Path) -> None:
    ground = clip("two seconds")
    needle = clip("vp9")
    plan = FilmPlan(ground=(whole(ground),), probes=(probe(needle, 20),))
    sources = files(ground, needle)
    here = encode(plan, sources, tmp_path / "here.mp4").film
    alone = sample_film(plan, sources, sampling=Sampling(frames=9))

    async def look() -> None:
        async with Decoders(FrameCache(tmp_path / "cache"), workers=1) as decoders:
            assert await decoders.film(plan, sources) == here
            assert await decoders.film(plan, sources, tmp_path / "there.mp4") == here
            assert await decoders.splice(plan, sources, Sampling(frames=9)) == alone.frames
            digests = [frame.digest for frame in alone.frames.frames]
            kept = await decoders.spliced_jpegs(
                plan, sources, sampling=Sampling(frames=9), digests=digests
            )
            assert kept == list(alone.jpegs)
            changed = {**sources, sha256_of(needle): ground}
            with pytest.raises(UnusableVideo, match=r"^'two-seconds\.mp4' has changed"):
                await decoders.film(plan, changed, tmp_path / "changed.mp4")

    asyncio.run(look())
    assert (tmp_path / "there.mp4").read_bytes() == (tmp_path / "here.mp4").read_bytes()
    assert not (tmp_path / "changed.mp4").exists()


def test_clips_with_bars_are_known_by_what_they_always_were() -> None:
    parts = (SplicePart(seconds=2, video="0" * 64), SplicePart(seconds=1.5, card="red"))
    known = "cb8d522a2012c406c8cb77e5049e06b734437962afd21cd78effbebe1414c437"
    assert Splice(parts=parts).sha256 == known
