"""`arena rate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from runs.commands.picture_option import check_picture, draw_picture, picture_options
from runs.commands.rating_options import chosen_form, print_board, rating_options, read_method


@click.command("rate", epilog="Example: arena rate battles.csv --json")
@click.argument("file", type=click.Path(path_type=Path))
@picture_options
@rating_options
def command(
    file: Path, form: str | None, as_json: bool, picture: Path | None, force: bool, **method: Any
) -> None:
    """Rate the battles in FILE: CSV, JSON lines or Parquet with model_a, model_b and winner."""
    from runs.rate import rate_file

    chosen = chosen_form(form, as_json=as_json)
    check_picture(picture, force=force)
    table = rate_file(file, read_method(method))
    print_board(table, chosen)
    draw_picture(table, picture)
