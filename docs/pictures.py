"""Remakes what the documents show: the leaderboard as SVG, and the graph as the code draws it.

`python docs/pictures.py OUT` takes the run in OUT; `make pictures` plays the demo first.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI

from graph.tournament import tournament
from runs.board import board_of
from runs.leaderboard import render

DOCS = Path(__file__).parent
WIDTH = 94
FIRST, LAST = "<!-- drawn by docs/pictures.py -->\n", "<!-- end of the drawing -->"


def leaderboard(out: Path) -> str:
    """Return the leaderboard of the run in `out` as SVG that loads nothing from elsewhere."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), highlight=False)
    console.print("$ arena leaderboard arena-out/demo\n")
    console.print(render(board_of(out)))
    svg = console.export_svg(title="videoautoarena", theme=MONOKAI, unique_id="leaderboard")
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def drawing() -> str:
    """Return the graph of one video, its lineages opened, as a Mermaid block."""
    mermaid = tournament.get_graph(xray=True).draw_mermaid()
    return f"```mermaid\n{mermaid.strip().expandtabs(4)}\n```\n"


def main() -> None:
    """Write both pictures into this folder."""
    (DOCS / "leaderboard.svg").write_text(leaderboard(Path(sys.argv[1])), encoding="utf-8")
    page = (DOCS / "graph.md").read_text(encoding="utf-8")
    before, rest = page.split(FIRST)
    after = rest.split(LAST)[1]
    (DOCS / "graph.md").write_text(f"{before}{FIRST}{drawing()}{LAST}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
