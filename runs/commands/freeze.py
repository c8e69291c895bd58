"""`arena freeze`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("freeze", epilog="Example: arena freeze arena-out --to my-bench")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--to", required=True, type=click.Path(path_type=Path), help="The folder to make.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(out: Path, to: Path, as_json: bool) -> None:
    """Turn the run in OUT into a bench folder: questions, selected and rejected answers."""
    import json

    from runs.freeze import freeze

    frozen = freeze(out, to)
    click.echo(json.dumps(frozen.as_json(), indent=2) if as_json else "\n".join(frozen.as_lines()))
