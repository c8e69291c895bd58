"""The libraries that can decode, behind one interface: they differ in nothing a caller sees.

decord gives other frames than were asked for where groups of pictures are open, in transport
streams, in AVI and behind edit lists: `tests/video/decode/test_decoders.py` lists what is known.
It fills in what it cannot decode and reports nothing, so none of its pictures is called exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from videoautoarena.memory.records.errors import BadInput, MissingExtra, UnusableVideo
from videoautoarena.memory.records.remedies import option
from videoautoarena.video.decode.av import AvDecoder
from videoautoarena.video.decode.container import opened, regular
from videoautoarena.video.decode.index import Index
from videoautoarena.video.decode.jpeg import DecodedPictures, Develop

BATCH = 16
"""Frames held at once; decord goes on from where the last batch ended."""
WHOLE_ROWS = 32
"""decord refuses many widths that are no multiple of this: it forgets that libav pads rows."""


class DecordDecoder(AvDecoder):
    """Frames by decord; what is in the file and how it is shaped is left to libav."""

    name = "decord"

    def __init__(self) -> None:
        """Import decord; BadInput where it is not installed, or not for this machine."""
        try:
            self._decord: Any = import_module("decord")
        except (ImportError, OSError):
            raise MissingExtra(
                "the decoder decord is not installed (it has wheels for x86 alone and none for "
                f"macOS; {option('decoder', 'av')} does without)",
                "decord",
            ) from None
        self._decord.logging.set_level(self._decord.logging.QUIET)

    def pictures(
        self,
        path: Path,
        index: Index,
        *,
        wanted: Sequence[int],
        size: tuple[int, int],
        develop: Develop,
    ) -> DecodedPictures:
        """Return the pictures decord gives for the wanted ticks, none of them called exact."""
        catch = DecodedPictures(develop, frozenset(wanted))
        with _openable(path) as name:
            try:
                self._read(name, index, catch=catch, size=size)
            except (self._decord.DECORDError, RuntimeError, IndexError) as error:
                # decord cannot go on after an error; the pictures before it are kept.
                if not catch.near:
                    raise UnusableVideo(
                        "cannot be decoded by decord; the decoder av may read it"
                    ) from error
        return catch

    def _read(
        self, name: str, index: Index, *, catch: DecodedPictures, size: tuple[int, int]
    ) -> None:
        # Scaled as it decodes: afterwards, 1080p took 4.9 s and 1,601 MB instead of 1.7 s and 376
        # MB.
        width = -(-size[0] // WHOLE_ROWS) * WHOLE_ROWS
        # Each core has a worker already, and with more threads decord refuses VP9 of 720p.
        reader = self._decord.VideoReader(name, width=width, height=size[1], num_threads=1)
        ticks = sorted(catch.wanted)
        numbers = _numbers(reader, index, ticks)
        for start in range(0, len(ticks), BATCH):
            batch = reader.get_batch(numbers[start : start + BATCH]).asnumpy()
            for tick, pixels in zip(ticks[start : start + BATCH], batch, strict=True):
                catch.near[tick] = catch.develop(_scaled(pixels, size))


def _numbers(reader: Any, index: Index, ticks: Sequence[int]) -> list[int]:
    """Return the places of the ticks among decord's frames; by time where it counts others."""
    if len(reader) == len(index.shown):
        places = {tick: place for place, tick in enumerate(index.shown)}
        return [places[tick] for tick in ticks]
    starts = reader.get_frame_timestamp(np.arange(len(reader)))[:, 0]
    wanted = [index.seconds(tick) for tick in ticks]
    return [int(np.argmin(np.abs(starts - second))) for second in wanted]


def _scaled(pixels: np.ndarray[Any, Any], size: tuple[int, int]) -> Image.Image:
    image = Image.fromarray(pixels)
    return image if image.size == size else image.resize(size, Image.Resampling.BICUBIC)


@contextmanager
def _openable(path: Path) -> Iterator[str]:
    """Yield a name for decord, which has no whitelists, once libav's have passed the file."""
    with opened(path):
        pass
    with regular(path) as file:
        # The open file and not its name, which could be taken for a protocol or lead elsewhere by
        # now.
        yield f"/dev/fd/{file.fileno()}"


DECODERS = ("av", "decord")


def decoder_named(name: str) -> AvDecoder:
    """Return a decoder of `DECODERS`; BadInput where its library is not installed."""
    if name == "av":
        return AvDecoder()
    if name == "decord":
        return DecordDecoder()
    raise BadInput(f"there is no decoder {name}; there are {', '.join(DECODERS)}")
