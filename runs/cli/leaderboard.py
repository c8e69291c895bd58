"""Rating models: `leaderboard` and `rate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from videoautoarena.runs.cli import options
from videoautoarena.runs.text.terminal import print_result, safe, say

if TYPE_CHECKING:
    from videoautoarena.runs.figures.canvas import Form
    from videoautoarena.runs.leaderboard.head_to_head import Pairs
    from videoautoarena.runs.leaderboard.slices import By, Slices
    from videoautoarena.runs.rating.leaderboard import Leaderboard
    from videoautoarena.runs.rating.method import Method

_ENDINGS = (".svg", ".png", ".pdf")


picture_options = options.together(
    click.option(
        "--picture",
        type=options.PATH,
        metavar="FILE",
        help="Also draw the leaderboard into FILE (.svg, .png or .pdf).",
    ),
    click.option("--force", is_flag=True, help="Overwrite an existing picture."),
)


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

    picture = picture_of(board)
    write_whole(file, render(picture, cast("Form", file.suffix.lower()[1:])))
    say(f"{picture.shows} drawn into {safe(str(file))}")


_FORMS = ("table", "markdown", "latex", "csv", "json")
rating_options = options.together(
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


def read_method(given: dict[str, Any]) -> Method:
    """Return what the options of `rating_options` ask for."""
    from videoautoarena.runs.rating.method import Method

    if given["seed"] < 0:
        raise click.UsageError("--seed must be a whole number from 0")
    return Method(**given)


def print_board(
    board: Leaderboard | Slices | Pairs, form: str, *, details: bool = False, notes: bool = False
) -> None:
    """Print a leaderboard, those of slices, or pairs, in one of the forms."""
    if form == "json":
        print_result(json.dumps(board.to_json(), indent=2))
    elif form == "table":
        _print(board, details=details, notes=notes)
    else:
        print_result(_pasted(board, form, details=details, notes=notes))


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


def _print(board: Leaderboard | Slices | Pairs, *, details: bool, notes: bool) -> None:
    from videoautoarena.runs.rating.leaderboard import Leaderboard

    console = options.results()
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


_TRAITS = (
    *("duration", "category", "round", "origin", "persona", "format", "pair"),
    *("judge", "standard"),
)


@click.command("leaderboard", epilog="Example: arena leaderboard arena-out --by duration")
@options.OUT
@click.option(
    "--by",
    type=click.Choice(_TRAITS),
    help="Rate each slice separately: video duration, video category, round, origin of the "
    "question, how close the persona is to the video, question format, judge, or judging "
    "standard. With pair: head-to-head results.",
)
@click.option(
    "--without",
    type=click.Choice(["ties", "refusals"]),
    multiple=True,
    help="Leave ties or refusals out of the fit; may be given twice.",
)
@click.option("--reweight", is_flag=True, help="Weight battles by inverse pairing probability.")
@click.option(
    "--details",
    is_flag=True,
    help="Also show each model's refusals, forfeits, voids, both-bad ties and answer length.",
)
@click.option(
    "--labels",
    is_flag=True,
    help="Rate on the scale of human labels: all verdicts, corrected by the labels of a random "
    "sample.",
)
@click.option(
    "--assume-random",
    is_flag=True,
    help="With --labels: treat all labels as a random sample.",
)
@picture_options
@rating_options
def leaderboard_command(
    out: Path,
    by: str | None,
    form: str | None,
    as_json: bool,
    details: bool,
    notes: bool,
    labels: bool,
    assume_random: bool,
    picture: Path | None,
    force: bool,
    **method: Any,
) -> None:
    """Rate the models of the run in OUT, with confidence intervals clustered by video."""
    chosen = options.chosen_form(form, as_json=as_json)
    if picture is not None and by == "pair":
        raise click.UsageError("--picture cannot draw --by pair; arena pictures draws heat maps")
    if assume_random and not labels:
        raise click.UsageError("--assume-random goes with --labels; give both")
    if labels and by is not None:
        raise click.UsageError("--labels rates the whole run; leave out --by")
    check_picture(picture, force=force)
    method["without"] = tuple(dict.fromkeys(method["without"]))
    how = read_method(method)
    if labels:
        from videoautoarena.runs.leaderboard.board import labelled_board_of

        board: Any = labelled_board_of(out, how, assume_random=assume_random)
    else:
        board = rate_run(out, by=by, method=how)
    print_board(board, chosen, details=details, notes=notes)
    draw_picture(board, picture)


def show_leaderboard(folder: Path) -> None:
    """Print the leaderboard of the run in `folder`."""
    print_board(rate_run(folder), "table")


def rate_run(
    folder: Path, *, by: str | None = None, method: Method | None = None
) -> Leaderboard | Slices | Pairs:
    """Return the leaderboard of the run in `folder`, those of its slices, or its pairs."""
    from videoautoarena.runs.leaderboard.board import board_of, pairs_of, slices_of
    from videoautoarena.runs.rating.method import USUAL

    how = method or USUAL
    if by is None:
        return board_of(folder, how)
    return pairs_of(folder, how) if by == "pair" else slices_of(folder, cast("By", by), how)


@click.command("rate", epilog="Example: arena rate battles.csv --json")
@click.argument("file", type=options.PATH)
@picture_options
@rating_options
def rate_command(
    file: Path,
    form: str | None,
    notes: bool,
    as_json: bool,
    picture: Path | None,
    force: bool,
    **method: Any,
) -> None:
    """Rate the battles in FILE: CSV, JSON lines or Parquet with model_a, model_b and winner."""
    from videoautoarena.runs.rating.rate import rate_file

    chosen = options.chosen_form(form, as_json=as_json)
    check_picture(picture, force=force)
    board = rate_file(file, read_method(method))
    print_board(board, chosen, notes=notes)
    draw_picture(board, picture)
