"""`arena battles`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

if TYPE_CHECKING:
    from runs.battles import Form


@click.command(
    "battles", epilog="Example: arena battles arena-out --jsonl | jq -r .verdict | sort | uniq -c"
)
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json", "jsonl"]),
    help="How they are printed.  [default: table]",
)
@click.option("--jsonl", is_flag=True, help="One JSON object a line, whole.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
def command(out: Path, form: str | None, jsonl: bool, as_json: bool) -> None:
    """List every battle of the run in OUT, one a line."""
    import shutil

    from runs.battles import listing

    chosen = cast("Form", _one_form(form, jsonl=jsonl, as_json=as_json))
    for line in listing(out, chosen, shutil.get_terminal_size().columns):
        click.echo(line)


def _one_form(form: str | None, *, jsonl: bool, as_json: bool) -> str:
    """Return the form that the three options ask for; --jsonl beats --json, as it always did."""
    short = "jsonl" if jsonl else "json" if as_json else None
    if form and short and form != short:
        raise click.UsageError(f"--{short} and --format {form} ask for different things; give one")
    return form or short or "table"
