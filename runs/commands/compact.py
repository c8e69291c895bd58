"""`arena compact`."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("compact", epilog="Example: arena compact arena-out")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(out: Path, as_json: bool) -> None:
    """Write the file of the run in OUT anew, without gaps; nothing it holds changes."""
    from memory.compaction import compact, size_of
    from memory.records import SCHEMA
    from runs.console import safe, say, tell
    from runs.reading import run_file

    path = run_file(out)
    say(f"compacting {safe(str(path))}, {size_of(path):,} bytes")
    before, after = compact(path)
    if as_json:
        tell(json.dumps({"schema": SCHEMA, "before_bytes": before, "after_bytes": after}))
        return
    tell(f"{before:,} bytes before, {after:,} after: {before - after:,} given back")
