"""`arena replay`: run it all again from the journal and compare."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command(epilog="Example: arena replay arena-out")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(out: Path, as_json: bool) -> int:
    """Run OUT again from its journal, without a network, and compare every battle byte for byte.

    Writes nothing. Exit code 1 where a battle comes out differently.
    """
    from runs.commands.endings import run_async
    from runs.console import safe, tell
    from runs.replay import replay

    found = run_async(replay(out))
    if as_json:
        state = {"schema": 1, "equal": found.battles, "different": found.differences}
        tell(json.dumps(state))
    else:
        for line in found.differences:
            tell(safe(line))
        tell(f"{found.battles} battles came out the same, {found.others} did not")
    return 1 if found.differences else 0
