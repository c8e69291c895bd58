"""The options that `arena leaderboard` and `arena rate` have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

    from runs.leaderboard_method import Method

PIPED = 80
"""Columns of a table where no terminal says how many there are."""
_FORMS = ("table", "markdown", "latex", "csv", "json")
_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--ties",
        type=click.Choice(["half", "davidson"]),
        default="half",
        show_default=True,
        help="Count a tie as half a win to both, or fit how likely ties are.",
    ),
    click.option(
        "--fit",
        type=click.Choice(["firth", "mle"]),
        default="firth",
        show_default=True,
        help="Bias-reduced, or plain maximum likelihood as other tools have it.",
    ),
    click.option("--style", is_flag=True, help="Rate as if all answers looked alike."),
    click.option("--seats", is_flag=True, help="Take what being read first is worth out."),
    click.option("--anchor", metavar="MODEL[=RATING]", help="Put one model at 1000, or at RATING."),
    click.option(
        "--intervals",
        type=click.Choice(["clustered", "bootstrap", "battle"]),
        default="clustered",
        show_default=True,
        help="By video; by drawing videos again; or as if battles were independent.",
    ),
    click.option("--simultaneous", is_flag=True, help="Ranges of ranks that hold all at once."),
    click.option("--elo", is_flag=True, help="Show online Elo beside the ratings."),
    click.option("--pairs", is_flag=True, help="Show who met whom, and who is better how surely."),
    click.option("--fragility", is_flag=True, help="Tell how few battles hold the first place."),
    click.option("--seed", type=int, default=0, show_default=True,
                 help="Of the bootstrap and of the order of online Elo."),
    click.option("--format", "form", type=click.Choice(_FORMS),
                 help="How it is printed.  [default: table]"),
    click.option("--json", "as_json", is_flag=True, help="The same as --format json."),
)  # fmt: skip


def rating_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `read_method`, and `form` and `as_json`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_method(given: dict[str, Any]) -> Method:
    """Return what the options of `rating_options` ask for."""
    from runs.leaderboard_method import Method

    if given["seed"] < 0:
        raise click.UsageError("--seed is a whole number from 0")
    return Method(**given)


def chosen_form(form: str | None, *, as_json: bool) -> str:
    """Return the form that --format and --json ask for together."""
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} ask for different things; give one")
    return "json" if as_json else form or "table"


def print_board(table: dict[str, Any], form: str, *, details: bool = False) -> None:
    """Print a leaderboard, or those of slices, in one of the forms."""
    import json

    if form == "json":
        click.echo(json.dumps(table, indent=2))
    elif form == "table":
        _print(table, details)
    else:
        click.echo(_pasted(table, form, details))


def _pasted(table: dict[str, Any], form: Any, details: bool) -> str:
    from runs.head_to_head_text import pasted_pairs
    from runs.leaderboard_forms import pasted
    from runs.slices_text import pasted_slices

    if table.get("by") == "pair":
        return pasted_pairs(table, form)
    return pasted_slices(table, form) if "slices" in table else pasted(table, form, details=details)


def results() -> Console:
    """Return the console of results; a pipe that says nothing of its width is PIPED wide."""
    import os

    from runs.console import out

    console = out()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPED
    return console


def _print(table: dict[str, Any], details: bool) -> None:
    from runs.head_to_head_text import render_pairs
    from runs.leaderboard_text import render
    from runs.slices_text import render_slices

    console = results()
    if table.get("by") == "pair":
        console.print(render_pairs(table))
    elif "slices" in table:
        console.print(render_slices(table, console.width, details=details))
    else:
        console.print(render(table, details=details))
