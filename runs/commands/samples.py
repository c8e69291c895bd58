"""`arena samples`: make the sample clips."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(epilog="Example: arena samples arena-samples")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the clips' paths as JSON.")
def command(folder: Path, as_json: bool) -> None:
    """Encode twelve clips of 8 to 60 seconds into FOLDER: cuts, movement, colour, light, captions.

    The same bytes come out wherever the same PyAV version makes them.
    """
    import json

    from runs.console import safe, say, tell
    from video.samples import make_samples

    clips = make_samples(folder, on_done=lambda clip: say(f"made {safe(clip.name)}"))
    if as_json:
        tell(json.dumps({"schema": 1, "clips": [str(clip) for clip in clips]}))
    else:
        tell(f"{len(clips)} clips in {safe(str(folder))}")
