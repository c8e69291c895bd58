"""The libraries that can decode, behind one interface: they differ in nothing a caller sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from PIL import Image

from memory.errors import BadInput
from video.index import Index

Develop = Callable[[Image.Image], bytes]
"""Makes what is kept of an upright picture, already scaled."""
DECODERS = ("av", "decord")


@dataclass
class Catch:
    """What decoding has brought so far: developed pictures by tick."""

    develop: Develop
    wanted: frozenset[int]
    exact: dict[int, bytes] = field(default_factory=dict)
    """The very pictures of their ticks, with no damage told; that does not prove them whole."""
    near: dict[int, bytes] = field(default_factory=dict)
    """Whole pictures that may not be the very ones of their ticks."""
    rough: dict[int, bytes] = field(default_factory=dict)
    """Pictures of frames that are damaged by what was told."""

    @property
    def missing(self) -> frozenset[int]:
        """The ticks still without an exact picture."""
        return self.wanted - self.exact.keys()

    @property
    def approximate(self) -> int:
        """How many ticks have only a picture that may be another's."""
        return len(self.missing & self.near.keys())

    @property
    def damaged(self) -> int:
        """How many ticks have no picture of their own, or one behind damage."""
        return len(self.missing - self.near.keys())

    @property
    def pictures(self) -> dict[int, bytes]:
        """The best picture there is of each tick that has any."""
        return {**self.rough, **self.near, **self.exact}


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
