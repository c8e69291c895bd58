"""`arena demo`: samples, three rounds with the offline cast, the leaderboard, what to type next."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from shlex import quote
from typing import Any

import click

from runs.commands.endings import ending, if_whole, run_async, shown

NEXT = (
    ("arena leaderboard {out}", "the table again"),
    ("arena battles {out}", "every battle, one a line"),
    ("arena show {out} {battle}", "one battle whole"),
    ("arena replay {out}", "all of it again, offline"),
    ("arena freeze {out} --to bench", "a test set that outlives it"),
    ("simulate --videos YOUR_FOLDER --out my-run", "your own clips"),
)
LAST = """Stand-ins played here. Real models: --models openai:gpt-4o,google_genai:gemini-2.5-flash
--examiner openai:gpt-4.1, with their keys in the environment; or an arena.toml, see the README."""


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
        made = make_samples(
            clips,
            on_done=lambda clip: None if typed["quiet"] else told.say(f"made {safe(clip.name)}"),
        )
        told.say(f"{len(made)} sample clips are in {safe(str(clips))}")
        finished = run_async(
            simulate(clips, out, flags=Flags(rounds=3), say=told.say, hear=told.hear)
        )
    code = ending(finished, out, as_json=False)
    if code == 0:
        show_leaderboard(out)
        with open_run(out) as run:
            battle = next((b.id for b in run.battles if b.verdict in ("a", "b")), "BATTLE")
        places = f"The run lies in {safe(str(out))}; the clips in {safe(str(clips))}."
        tell(f"\n{places} What to type next:")
        tell("\n".join(["", *next_lines(out, battle), "", LAST]))
    return if_whole(code, told)


def next_lines(out: Path, battle: str) -> list[str]:
    """Return what may be typed next, each with what it is for."""
    from runs.console import safe

    shown_as = {"out": quote(str(out)), "battle": battle}
    typed = [safe(bin_folder() + words.format(**shown_as)) for words, _ in NEXT]
    room = max(map(len, typed))
    return [f"  {words:{room}}  {what}" for words, (_, what) in zip(typed, NEXT, strict=True)]


def bin_folder() -> str:
    """Return what has to stand before the commands' names: nothing where the shell finds them."""
    if shutil.which("arena"):
        return ""
    return f"{os.path.relpath(Path(sys.executable).parent)}/"
