"""`arena agree`."""

from __future__ import annotations

from pathlib import Path

import click

from runs.commands.rating_options import results


@click.command("agree", epilog="Example: arena agree arena-out published.csv --rename names.json")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.option(
    "--rename",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Which names are the same: a JSON object, or a CSV with the columns from and to.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(a: Path, b: Path, rename: Path | None, as_json: bool) -> None:
    """Tell how far the leaderboards A and B agree about the models they share.

    Each is the folder of a run, a leaderboard as --json prints it, or a CSV or JSON table with
    model, rating and, where known, low and high.
    """
    import json

    from runs.agree import agree

    report = agree(a, b, rename=rename)
    if as_json:
        click.echo(json.dumps(report, indent=2))
        return
    from runs.agree_text import render

    results().print(render(report))
