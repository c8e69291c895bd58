"""The options that say which frames of a video are looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

POLICIES = ("uniform", "fps", "scenes", "keyframes")
_OPTIONS = (
    click.option(
        "--policy",
        type=click.Choice(POLICIES),
        help="How the frames of a video are spread.  [default: uniform]",
    ),
    click.option("--fps", type=float, help="Frames a second with --policy fps.  [default: 1]"),
    click.option("--frames", type=int, help="At most so many of a video.  [default: 128]"),
    click.option(
        "--fit",
        type=click.Choice(["keep", "stretch", "pad"]),
        help="Keep the shape, or make a square of it.  [default: keep]",
    ),
    click.option("--size", "size_px", type=int, help="Pixels of the longer side.  [default: 512]"),
    click.option("--quality", type=int, help="Of the JPEGs, up to 95.  [default: 85]"),
    click.option(
        "--decoder", type=click.Choice(["av", "decord"]), help="What decodes.  [default: av]"
    ),
)


def sampled(command: Command) -> Command:
    """Give a command the options of how videos are looked at, by the names of `Flags`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
