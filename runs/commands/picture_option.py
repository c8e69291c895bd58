"""`--picture` of the commands that rate: the leaderboard as a file, beside what is printed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

if TYPE_CHECKING:
    from runs.pictures.paper import Form

_ENDINGS = (".svg", ".png", ".pdf")


def picture_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `picture` and `force`."""
    force = click.option("--force", is_flag=True, help="Replace the picture if it is there.")
    picture = click.option(
        "--picture",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Draw it, too, into FILE: .svg, .png or .pdf.",
    )
    return picture(force(command))


def check_picture(file: Path | None, *, force: bool) -> None:
    """Refuse a file that no picture can be written to, before anything is rated.

    Raises:
        BadInput: another ending, or a file that is there.
    """
    if file is None:
        if force:
            raise click.UsageError("--force replaces a picture; give --picture FILE")
        return
    from memory.errors import BadInput
    from runs.files import refuse_existing

    if file.suffix.lower() not in _ENDINGS:
        raise BadInput(f"{file} must end in .svg, .png or .pdf")
    refuse_existing(file, force=force)


def draw_picture(table: dict[str, Any], file: Path | None) -> None:
    """Draw a leaderboard, or those of slices, into a file and say so; nothing for None."""
    if file is None:
        return
    from runs.console import safe, say
    from runs.files import write_whole
    from runs.pictures.album import picture_of
    from runs.pictures.paper import render

    picture = picture_of(table)
    write_whole(file, render(picture, cast("Form", file.suffix.lower()[1:])))
    say(f"{picture.shows} drawn into {safe(str(file))}")
