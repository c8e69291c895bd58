"""`arena demo`: samples, three rounds with the offline cast, the leaderboard, what to type next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from runs.commands.endings import ending, run_async, shown

NEXT = """
The run lies in {out}; the clips in {clips}. What to type next:

  arena leaderboard {out}              the table again
  arena battles {out}                  every battle, one a line
  arena show {out} {battle}   one battle whole
  arena replay {out}                   all of it again from its journal, nothing paid
  arena freeze {out} --to bench        a test set that outlives the run
  simulate --videos YOUR_FOLDER --rounds 3 --out my-run    your own clips

Stand-ins played here. Real models: --models openai:gpt-4o,google_genai:gemini-2.5-flash
--examiner openai:gpt-4.1, with their keys in the environment."""


@click.command(epilog="Example: arena demo --out arena-out/demo")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("arena-out/demo"),
    show_default=True,
    help="Folder of the run.",
)
@click.option(
    "--clips",
    type=click.Path(path_type=Path),
    default=Path("arena-samples"),
    show_default=True,
    help="Folder of the sample clips.",
)
@shown
def command(out: Path, clips: Path, **typed: Any) -> int:
    """Make the sample clips, run three rounds with the offline cast and show the leaderboard."""
    from runs.audience import Display, audience
    from runs.commands.leaderboard import show_leaderboard
    from runs.config import Flags
    from runs.console import safe, tell
    from runs.reading import open_run
    from runs.simulate import simulate
    from video.samples import make_samples

    with audience(Display(**typed)) as told:
        made = make_samples(clips, on_done=lambda clip: told.say(f"made {safe(clip.name)}"))
        told.say(f"{len(made)} sample clips are in {safe(str(clips))}")
        finished = run_async(
            simulate(clips, out, flags=Flags(rounds=3), say=told.say, hear=told.hear)
        )
    code = ending(finished, out, as_json=False, quiet=typed["quiet"])
    if code == 0:
        show_leaderboard(out, as_json=False)
        with open_run(out) as run:
            battle = next((b.id for b in run.battles if b.verdict in ("a", "b")), "BATTLE")
        tell(NEXT.format(out=safe(str(out)), clips=safe(str(clips)), battle=battle))
    return code
