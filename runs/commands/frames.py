"""`arena frames`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from runs.commands.sampling_options import sampled


@click.command(
    "frames",
    epilog="""\b
Examples:
  arena frames clip.mp4
  arena frames clip.mp4 --policy scenes --frames 32 --to scenes.png
  arena frames clip.mp4 --run arena-out --model hawk --force""",
)
@click.argument("video")
@click.option("--to", type=click.Path(path_type=Path), metavar="FILE",
              help="The PNG to write.  [default: VIDEO-frames.png, here]")  # fmt: skip
@sampled
@click.option("--config", type=click.Path(path_type=Path),
              help="File with a table [sampling].  [default: ./arena.toml if there]")  # fmt: skip
@click.option("--seen", type=click.IntRange(1), metavar="N",
              help="Only those that a model of at most N frames sees.")  # fmt: skip
@click.option("--run", "out", type=click.Path(path_type=Path), metavar="OUT",
              help="Those that a run has shown; VIDEO may be an id or path of it.")  # fmt: skip
@click.option("--model", metavar="M", help="With --run: only those that this contestant sees.")
@click.option("--columns", type=click.IntRange(1, 250), help="Pictures in a row.")
@click.option("--force", is_flag=True, help="Replace a picture that is there.")
@click.option("--json", "as_json", is_flag=True,
              help="One JSON object; a picture only with --to.")  # fmt: skip
def command(
    video: str, *, to: Path | None, columns: int | None, force: bool, as_json: bool, **typed: Any
) -> None:
    """Show what a model sees of VIDEO: its very frames with their times, as one picture."""
    import json

    from runs.commands.endings import run_async
    from runs.console import safe, say, tell
    from runs.frames import Asked, asked_sampling, view
    from runs.frames_sheet import about_frames, sheet_file, warnings, write_sheet

    seen, out, model = (typed.pop(name) for name in ("seen", "out", "model"))
    _refuse_contradictions(out, model, seen, typed)
    file = sheet_file(video, to, force=force) if to or not as_json else None
    found = run_async(view(Asked(video, asked_sampling(typed), seen, out, model)))
    if file is not None:
        write_sheet(found, file, columns)
    if as_json:
        tell(json.dumps(found.as_json(file), indent=2))
        return
    for warning in warnings(found):
        say(f"{safe(found.video.path)}: {warning}")
    tell(f"{safe(str(file))}: {about_frames(found)}")


def _refuse_contradictions(
    out: Path | None, model: str | None, seen: int | None, typed: dict[str, Any]
) -> None:
    given = [name.removesuffix("_px") for name, value in typed.items() if value is not None]
    if out is not None and given:
        raise click.UsageError(f"--{given[0]} was decided when the run in --run began")
    if out is None and model is not None:
        raise click.UsageError("--model is one of a run; give --run OUT, or --seen N without one")
    if model is not None and seen is not None:
        raise click.UsageError("--model and --seen ask for different things; give one")
