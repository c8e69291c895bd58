"""Frames on the shelf: loaded once, shared by all who need them, forgotten oldest first."""

from __future__ import annotations

import asyncio
import base64

import pytest

from tests.support.asking import run
from tests.support.film import Film
from videoautoarena.agents.transport.splice import EncodedFrame, FrameBytes, Load
from videoautoarena.memory.records.errors import FramesChanged


async def shown(
    shelf: FrameBytes, film: Film, digests: list[str] | None = None
) -> list[EncodedFrame]:
    return await shelf.images(film.video, film.digests if digests is None else digests)


def test_a_frame_is_the_base64_of_its_bytes() -> None:
    film = Film()
    images = run(shown(FrameBytes(film.load), film))
    assert [base64.b64decode(image.base64) for image in images] == film.jpegs


def test_a_frame_is_loaded_once_for_all_calls_and_subsets() -> None:
    film = Film(count=8)

    async def look() -> None:
        shelf = FrameBytes(film.load)
        some = await shown(shelf, film, film.digests[::2])
        whole = await shown(shelf, film)
        again = await shown(shelf, film)
        assert whole[::2] == some
        assert whole == again

    run(look())
    assert sorted(film.asked) == sorted(film.digests)


def test_whoever_comes_while_frames_are_read_waits_for_them() -> None:
    film = Film(count=4)
    read = asyncio.Event()

    async def slowly(video: str, digests: list[str]) -> list[bytes]:
        await read.wait()
        return await film.load(video, digests)

    async def look() -> None:
        shelf = FrameBytes(slowly)
        calls = [asyncio.create_task(shown(shelf, film)) for _ in range(3)]
        await asyncio.sleep(0)
        read.set()
        first, second, third = await asyncio.gather(*calls)
        assert first == second == third

    run(look())
    assert film.asked == film.digests


def test_equal_frames_of_one_video_stand_in_every_place() -> None:
    film = Film(count=2)
    first, second = film.digests
    images = run(shown(FrameBytes(film.load), film, [first, second, first]))
    assert images[0] is images[2]
    assert film.asked == [first, second]


def test_what_was_used_longest_ago_goes_first_and_is_loaded_again() -> None:
    one, two, three = (Film(count=1, size_bytes=300, video=f"{n:012}") for n in range(3))

    async def look() -> None:
        shelf = FrameBytes(load_of(one, two, three), most_bytes=800)
        for film in (one, two, one, three, one, two):
            await shown(shelf, film)

    run(look())
    assert [len(film.asked) for film in (one, two, three)] == [1, 2, 1]


def test_what_a_call_still_holds_is_shared_even_when_no_longer_kept() -> None:
    film = Film(count=4)

    async def look() -> None:
        shelf = FrameBytes(film.load, most_bytes=0)
        held = await shown(shelf, film)
        assert await shown(shelf, film) == held
        del held
        await shown(shelf, film)

    run(look())
    assert film.asked == film.digests * 2


def test_frames_that_changed_are_told_of_and_asked_for_again() -> None:
    film = Film()
    failures = iter([FramesChanged("other frames now")])

    async def load(video: str, digests: list[str]) -> list[bytes]:
        for failure in failures:
            raise failure
        return await film.load(video, digests)

    async def look() -> None:
        shelf = FrameBytes(load)
        with pytest.raises(FramesChanged):
            await shown(shelf, film)
        assert len(await shown(shelf, film)) == film.count

    run(look())


def test_a_missing_image_is_never_passed_over() -> None:
    async def too_few(_video: str, digests: list[str]) -> list[bytes]:
        return [b"jpeg"] * (len(digests) - 1)

    with pytest.raises(ValueError, match="shorter"):
        run(shown(FrameBytes(too_few), Film()))


def load_of(*films: Film) -> Load:
    async def load(video: str, digests: list[str]) -> list[bytes]:
        (film,) = [film for film in films if film.video == video]
        return await film.load(video, digests)

    return load
