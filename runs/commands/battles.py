"""`arena battles`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    "battles", epilog="Example: arena battles arena-out --jsonl | jq -r .verdict | sort | uniq -c"
)
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--jsonl", is_flag=True, help="One JSON object a line, whole.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
def command(out: Path, jsonl: bool, as_json: bool) -> None:
    """List every battle of the run in OUT, one a line."""
    from runs.battles import listing

    for line in listing(out, "jsonl" if jsonl else "json" if as_json else "text"):
        click.echo(line)
