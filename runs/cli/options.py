"""Options that several commands share, so that each has one name, one default and one help text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

if TYPE_CHECKING:
    from rich.console import Console

    from videoautoarena.runs.figures.canvas import Form
    from videoautoarena.runs.leaderboard.head_to_head import Pairs
    from videoautoarena.runs.leaderboard.slices import Slices
    from videoautoarena.runs.rating.leaderboard import Leaderboard
    from videoautoarena.runs.rating.method import Method


class ListingGroup(click.Group):
    """A group that lists each command with its whole first sentence; click cuts them short."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands as the list of `arena --help` has them."""
        commands = [(name, self.commands[name]) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, _first(command)) for name, command in commands])


def _first(command: click.Command) -> str:
    return " ".join((command.help or "").split("\n\n")[0].split())


Command = TypeVar("Command", bound=Callable[..., Any])

POLICIES = ("uniform", "fps", "scenes", "keyframes")
_SAMPLING_OPTIONS = (
    click.option(
        "--policy",
        type=click.Choice(POLICIES),
        help="How frames are sampled from a video.  [default: uniform]",
    ),
    click.option("--fps", type=float, help="Frames per second, with --policy fps.  [default: 1]"),
    click.option("--frames", type=int, help="Maximum number of frames per video.  [default: 128]"),
    click.option(
        "--fit",
        type=click.Choice(["keep", "stretch", "pad"]),
        help="Keep the aspect ratio, stretch to a square, or pad to a square.  [default: keep]",
    ),
    click.option(
        "--size", "size_px", type=int, help="Longer side of a frame, in pixels.  [default: 512]"
    ),
    click.option("--quality", type=int, help="JPEG quality, 1 to 95.  [default: 85]"),
    click.option(
        "--decoder", type=click.Choice(["av", "decord"]), help="Video decoder.  [default: av]"
    ),
)


def sampled(command: Command) -> Command:
    """Give a command the options of how videos are looked at, by the names of `Flags`."""
    for option in reversed(_SAMPLING_OPTIONS):
        command = option(command)
    return command


_ENDINGS = (".svg", ".png", ".pdf")


def picture_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `picture` and `force`."""
    force = click.option("--force", is_flag=True, help="Overwrite an existing picture.")
    picture = click.option(
        "--picture",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Also draw the leaderboard into FILE (.svg, .png or .pdf).",
    )
    return picture(force(command))


def check_picture(file: Path | None, *, force: bool) -> None:
    """Refuse a file that no picture can be written to, before anything is rated.

    Raises:
        BadInput: another ending, or a file that is there.
    """
    if file is None:
        if force:
            raise click.UsageError("--force needs --picture FILE")
        return
    from videoautoarena.memory.records.errors import BadInput
    from videoautoarena.runs.text.files import refuse_existing

    if file.suffix.lower() not in _ENDINGS:
        raise BadInput(f"{file} must end in .svg, .png or .pdf")
    refuse_existing(file, force=force)


def draw_picture(board: Leaderboard | Slices, file: Path | None) -> None:
    """Draw a leaderboard, or those of slices, into a file and say so; nothing for None."""
    if file is None:
        return
    from videoautoarena.runs.figures.album import picture_of
    from videoautoarena.runs.figures.canvas import render
    from videoautoarena.runs.text.files import write_whole
    from videoautoarena.runs.text.terminal import safe, say

    picture = picture_of(board)
    write_whole(file, render(picture, cast("Form", file.suffix.lower()[1:])))
    say(f"{picture.shows} drawn into {safe(str(file))}")


PIPED = 80
"""Columns of a table where no terminal says how many there are."""
_FORMS = ("table", "markdown", "latex", "csv", "json")
_RATING_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--ties",
        type=click.Choice(["half", "davidson"]),
        default="half",
        show_default=True,
        help="Count a tie as half a win for both models, or fit Davidson's tie parameter.",
    ),
    click.option(
        "--fit",
        type=click.Choice(["firth", "mle"]),
        default="firth",
        show_default=True,
        help="Bias-reduced (Firth) or plain maximum likelihood.",
    ),
    click.option("--style", is_flag=True, help="Control for answer style (length, markup, "
                                               "named details)."),
    click.option("--seats", is_flag=True, help="Control for position bias."),
    click.option("--anchor", metavar="MODEL[=RATING]", help="Fix one model's rating at 1000, "
                                                            "or at RATING."),
    click.option(
        "--intervals",
        type=click.Choice(["clustered", "bootstrap", "battle"]),
        default="clustered",
        show_default=True,
        help="Confidence intervals: clustered by video, bootstrapped over videos, or for "
             "independent battles.",
    ),
    click.option("--simultaneous", is_flag=True, help="Simultaneous confidence ranges for ranks."),
    click.option("--elo", is_flag=True, help="Show online Elo beside the ratings."),
    click.option("--pairs", is_flag=True, help="Show head-to-head counts, and the probability "
                                               "that one model is better than another."),
    click.option("--fragility", is_flag=True, help="Report how few battles, if left out, would "
                                                   "change the leader."),
    click.option("--seed", type=int, default=0, show_default=True,
                 help="Seed of the bootstrap and of the battle order in online Elo."),
    click.option("--format", "form", type=click.Choice(_FORMS),
                 help="Output format.  [default: table]"),
    click.option("--notes", is_flag=True, help="Print all notes, not only three lines."),
    click.option("--json", "as_json", is_flag=True, help="Same as --format json."),
)  # fmt: skip


def rating_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `read_method`, and `form`, `notes` and `as_json`."""
    for option in reversed(_RATING_OPTIONS):
        command = option(command)
    return command


def read_method(given: dict[str, Any]) -> Method:
    """Return what the options of `rating_options` ask for."""
    from videoautoarena.runs.rating.method import Method

    if given["seed"] < 0:
        raise click.UsageError("--seed must be a whole number from 0")
    return Method(**given)


def chosen_form(form: str | None, *, as_json: bool) -> str:
    """Return the form that --format and --json ask for together."""
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} contradict each other; give one")
    return "json" if as_json else form or "table"


def print_board(
    board: Leaderboard | Slices | Pairs, form: str, *, details: bool = False, notes: bool = False
) -> None:
    """Print a leaderboard, those of slices, or pairs, in one of the forms."""
    import json

    if form == "json":
        click.echo(json.dumps(board.to_json(), indent=2))
    elif form == "table":
        _print(board, details=details, notes=notes)
    else:
        click.echo(_pasted(board, form, details=details, notes=notes))


def _pasted(board: Leaderboard | Slices | Pairs, form: Any, *, details: bool, notes: bool) -> str:
    from videoautoarena.runs.rating.leaderboard import Leaderboard

    if isinstance(board, Leaderboard):
        from videoautoarena.runs.leaderboard.markup import pasted

        return pasted(board, form, details=details, notes=notes)
    from videoautoarena.runs.leaderboard.head_to_head import Pairs, pasted_pairs
    from videoautoarena.runs.leaderboard.slices_text import pasted_slices

    if isinstance(board, Pairs):
        return pasted_pairs(board, form, notes=notes)
    return pasted_slices(board, form, notes=notes)


def results() -> Console:
    """Return the console of results; a pipe that says nothing of its width is PIPED wide."""
    import os

    from videoautoarena.runs.text.terminal import out

    console = out()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPED
    return console


def _print(board: Leaderboard | Slices | Pairs, *, details: bool, notes: bool) -> None:
    from videoautoarena.runs.rating.leaderboard import Leaderboard

    console = results()
    if isinstance(board, Leaderboard):
        from videoautoarena.runs.leaderboard.text import render

        console.print(render(board, details=details, notes=notes))
        return
    from videoautoarena.runs.leaderboard.head_to_head import Pairs, render_pairs
    from videoautoarena.runs.leaderboard.slices_text import render_slices

    if isinstance(board, Pairs):
        console.print(render_pairs(board, notes=notes))
    else:
        console.print(render_slices(board, console.width, details=details, notes=notes))
