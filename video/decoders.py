"""The libraries that can decode, behind one interface: they differ in nothing a caller sees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from memory.errors import BadInput
from video.index import Index
from video.pictures import Catch, Develop

DECODERS = ("av", "decord")


class Decoder(Protocol):
    """One library; sizes are (width, height) in pixels, ticks are those of the index."""

    name: str

    def index(self, path: Path) -> Index:
        """Return the times of every frame the file really holds.

        Raises:
            UnusableVideo: it cannot be opened or holds no frame with a time.
        """
        ...

    def shape(self, path: Path) -> tuple[int, int]:
        """Return the size at which a player shows the first frame: upright, square pixels.

        Raises:
            UnusableVideo: no frame can be decoded.
        """
        ...

    def pictures(
        self,
        path: Path,
        index: Index,
        *,
        wanted: Sequence[int],
        size: tuple[int, int],
        develop: Develop,
    ) -> Catch:
        """Return the pictures at the wanted ticks, each upright and scaled to `size`.

        What could not be had stays in `missing`; a damaged file is no error, none of it is.

        Raises:
            UnusableVideo: the file cannot be opened any more, or is not for this library at all.
        """
        ...


def decoder_named(name: str) -> Decoder:
    """Return a decoder of `DECODERS`; its library is imported only now.

    Raises:
        BadInput: its library is not installed.
    """
    if name == "av":
        from video.decode import AvDecoder

        return AvDecoder()
    if name == "decord":
        from video.with_decord import DecordDecoder

        return DecordDecoder()
    raise BadInput(f"there is no decoder {name}; there are {', '.join(DECODERS)}")
