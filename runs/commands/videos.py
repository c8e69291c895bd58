"""`arena videos`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    "videos",
    epilog="""\b
Examples:
  arena videos clips
  arena videos clips --quick
  arena videos clips --scenes
  arena videos clips --json | jq -r '.videos[] | [.path, .duration_s] | @tsv'""",
)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--scenes", is_flag=True, help="Count the scenes; the first time all is decoded.")
@click.option("--quick", is_flag=True, help="Decode nothing: damage is not looked for.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(folder: Path, scenes: bool, quick: bool, as_json: bool) -> None:
    """List the videos of FOLDER and all folders below it, and why other files are none.

    The frames that a run would look at are decoded, so that damage is told of.
    """
    import json

    from runs.commands.endings import run_async
    from runs.console import say, tell, whole_lines
    from runs.videos import read_library, with_damage, with_scenes
    from runs.videos_text import render_library

    library = read_library(folder, say)
    if not quick:
        library = run_async(with_damage(library, say))
    if scenes:
        library = run_async(with_scenes(library, say))
    if as_json:
        tell(json.dumps(library.as_json(), indent=2))
    else:
        whole_lines().print(render_library(library))
