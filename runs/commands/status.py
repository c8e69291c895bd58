"""`arena status`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("status", epilog="Example: arena status arena-out")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(out: Path, as_json: bool) -> None:
    """Tell how far the run in OUT is, and what to type next."""
    import json

    from runs.status import status_of

    status = status_of(out)
    click.echo(json.dumps(status.as_json(), indent=2) if as_json else "\n".join(status.as_lines()))
