"""Remakes what the documents show: console and leaderboard as SVG, and the graph as code draws it.

`python docs/pictures.py OUT` plays the demo into OUT, a new folder; `make pictures` does all of it.
"""

from __future__ import annotations

import io
import re
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console, Group
from rich.terminal_theme import MONOKAI
from rich.text import Text

from videoautoarena.graph.tournament import tournament
from videoautoarena.runs.cli.ending import run_async
from videoautoarena.runs.config.run_config import Flags
from videoautoarena.runs.console.events import Begun, Happening
from videoautoarena.runs.console.screen import Size, picture
from videoautoarena.runs.console.snapshot import Standing
from videoautoarena.runs.leaderboard.board import board_of
from videoautoarena.runs.leaderboard.text import render
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.text.tables import UNICODE
from videoautoarena.runs.tournament.simulate import simulate
from videoautoarena.video.synth.samples import make_samples

DOCS = Path(__file__).parent
WIDTH = 94
WIDE, HIGH = 116, 34
CLIPS, SHOWN_AS = Path("arena-samples"), Path("arena-out/demo")
FIRST, LAST = "<!-- drawn by docs/pictures.py -->\n", "<!-- end of the drawing -->"


class Camera:
    """Hears a run and keeps its console as it stood when half of the battles were settled."""

    def __init__(self) -> None:
        self.standing = Standing()
        self.taken: list[Text] = []

    def hear(self, event: Happening) -> None:
        """Take an event in; take the picture in a busy moment."""
        if isinstance(event, Begun):
            event = replace(event, out=SHOWN_AS)
        self.standing.hear(event)
        standing = self.standing
        if not self.taken and standing.done * 2 > standing.total and standing.speaking > 8:
            run = standing.run
            board = build(standing.battles(), run.models if run else ())
            self.taken = picture(standing, board, Size(WIDE - 1, HIGH, UNICODE))


def console(out: Path) -> str:
    """Play the demo into `out` and return its console half way as SVG."""
    camera = Camera()
    make_samples(CLIPS)
    flags = Flags(rounds=3)
    run_async(simulate(CLIPS, out, flags=flags, say=lambda _line: None, hear=camera.hear))
    return svg(Group(*camera.taken), "console", width=WIDE)


def leaderboard(out: Path) -> str:
    """Return the leaderboard of the run in `out` as SVG."""
    return svg(Group("$ arena leaderboard arena-out/demo\n", render(board_of(out))), "leaderboard")


def svg(what: Group, name: str, *, width: int = WIDTH) -> str:
    """Return what a console shows as SVG that loads nothing from elsewhere."""
    shown = Console(record=True, width=width, file=io.StringIO(), highlight=False)
    # Its last row is drawn with a cut through the letters that reach below the line.
    shown.print(what, "", sep="\n")
    drawn = shown.export_svg(title="videoautoarena", theme=MONOKAI, unique_id=name)
    return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)


def drawing() -> str:
    """Return the graph of one video, its lineages opened, as a Mermaid block."""
    mermaid = tournament.get_graph(xray=True).draw_mermaid()
    return f"```mermaid\n{mermaid.strip().expandtabs(4)}\n```\n"


def main() -> None:
    """Write all pictures into this folder."""
    out = Path(sys.argv[1])
    (DOCS / "console.svg").write_text(console(out), encoding="utf-8")
    (DOCS / "leaderboard.svg").write_text(leaderboard(out), encoding="utf-8")
    page = (DOCS / "graph.md").read_text(encoding="utf-8")
    before, rest = page.split(FIRST)
    after = rest.split(LAST)[1]
    (DOCS / "graph.md").write_text(f"{before}{FIRST}{drawing()}{LAST}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
