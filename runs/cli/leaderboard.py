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
    options.flag("--bare", "Draw neither title nor notes into the picture."),
    options.flag("--force", "Overwrite an existing picture."),
)


def check_picture(file: Path | None, *, bare: bool, force: bool) -> None:
    """Raise BadInput for a file of another ending or that is there, before anything is rated."""
    if file is None:
        if force or bare:
            raise click.UsageError(f"--{'force' if force else 'bare'} needs --picture FILE")
        return
    from videoautoarena.memory.records.errors import BadInput
    from videoautoarena.runs.text.files import refuse_existing

    if file.suffix.lower() not in _ENDINGS:
        raise BadInput(f"{file} must end in .svg, .png or .pdf")
    refuse_existing(file, force=force)


def draw_picture(board: Leaderboard | Slices, file: Path | None, *, bare: bool) -> None:
    """Draw a leaderboard, or those of slices, into a file and say so; nothing for None."""
    if file is None:
        return
    from videoautoarena.runs.figures.album import picture_of
    from videoautoarena.runs.figures.canvas import render
    from videoautoarena.runs.text.files import write_whole

    picture = picture_of(board)
    write_whole(file, render(picture, cast("Form", file.suffix.lower()[1:]), bare=bare))
    say(f"{picture.shows} drawn into {safe(str(file))}")


_FORMS = ("table", "markdown", "latex", "csv", "json")
rating_options = options.together(
    options.choice(
        "--ties",
        ["half", "davidson"],
        "Count a tie as half a win for both models, or fit Davidson's tie parameter.",
    ),
    options.choice("--fit", ["firth", "mle"], "Bias-reduced (Firth) or plain maximum likelihood."),
    options.flag("--style", "Control for answer style (length, markup, named details)."),
    options.flag("--seats", "Control for position bias."),
    click.option(
        "--anchor", metavar="MODEL[=RATING]", help="Fix one model's rating at 1000, or at RATING."
    ),
    options.choice(
        "--intervals",
        ["clustered", "bootstrap", "battle"],
        "Confidence intervals: clustered by video, bootstrapped over videos, or for "
        "independent battles.",
    ),
    options.flag("--simultaneous", "Simultaneous confidence ranges for ranks."),
    options.flag("--elo", "Show online Elo beside the ratings."),
    options.flag(
        "--pairs",
        "Show head-to-head counts, and the probability that one model is better than another.",
    ),
    options.flag("--fragility", "Report how few battles, if left out, would change the leader."),
    options.figure("--seed", 0, "Seed of the bootstrap and of the battle order in online Elo."),
    click.option(
        "--format", "form", type=click.Choice(_FORMS), help="Output format.  [default: table]"
    ),
    options.flag("--notes", "Print all notes, not only three lines."),
    options.flag("--json", "Same as --format json.", "as_json"),
)


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
        return
    from videoautoarena.runs.leaderboard import head_to_head, markup, slices_text, text
    from videoautoarena.runs.rating.leaderboard import Leaderboard

    console, pasted_as = options.results(), cast("Any", form)
    if form == "table":
        if isinstance(board, Leaderboard):
            console.print(text.render(board, details=details, notes=notes))
        elif isinstance(board, head_to_head.Pairs):
            console.print(head_to_head.render_pairs(board, notes=notes))
        else:
            console.print(
                slices_text.render_slices(board, console.width, details=details, notes=notes)
            )
    elif isinstance(board, Leaderboard):
        print_result(markup.pasted(board, pasted_as, details=details, notes=notes))
    elif isinstance(board, head_to_head.Pairs):
        print_result(head_to_head.pasted_pairs(board, pasted_as, notes=notes))
    else:
        print_result(slices_text.pasted_slices(board, pasted_as, notes=notes))


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
@options.flag("--reweight", "Weight battles by inverse pairing probability.")
@options.flag(
    "--details",
    "Also show each model's refusals, forfeits, voids, both-bad ties and answer length.",
)
@options.flag(
    "--labels",
    "Rate on the scale of human labels: all verdicts, corrected by the labels of a random sample.",
)
@options.flag("--assume-random", "With --labels: treat all labels as a random sample.")
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
    bare: bool,
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
    check_picture(picture, bare=bare, force=force)
    method["without"] = tuple(dict.fromkeys(method["without"]))
    how = read_method(method)
    if labels:
        from videoautoarena.runs.leaderboard.board import labelled_board_of

        board: Any = labelled_board_of(out, how, assume_random=assume_random)
    else:
        board = rate_run(out, by=by, method=how)
    print_board(board, chosen, details=details, notes=notes)
    draw_picture(board, picture, bare=bare)


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
    bare: bool,
    force: bool,
    **method: Any,
) -> None:
    """Rate the battles in FILE: CSV, JSON lines or Parquet with model_a, model_b and winner."""
    from videoautoarena.runs.rating.rate import rate_file

    chosen = options.chosen_form(form, as_json=as_json)
    check_picture(picture, bare=bare, force=force)
    board = rate_file(file, read_method(method))
    print_board(board, chosen, notes=notes)
    draw_picture(board, picture, bare=bare)
