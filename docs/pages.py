"""Pictures of the pages for the documents: `PYTHONPATH=. python docs/pages.py OUT`.

OUT holds a played run. Report, battle and labelling page are opened in a real browser, as the tests
open them, and written beside this file as PNG.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import closing
from pathlib import Path

from PIL import Image

import videoautoarena as va
from tests.support.browser import Browser, Page, lacking
from tests.support.page_servers import serving
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.views.page.report import ReportOptions, report_file, write_report

DOCS = Path(__file__).parent
WINDOW = (1280, 1000)
SHORT = 900
"""Characters of both answers of a battle that a window has room for."""
COLOURS = 192
"""Of a picture: a third of the bytes, and nobody sees it."""


def main(out: Path) -> None:
    """Draw the three pictures."""
    if reason := lacking():
        sys.exit(f"no pictures of pages: {reason}")
    report = run_async(write_report(ReportOptions(out, report_file(out, None, force=True)))).to
    with va.open_run(out) as run:
        seen = [
            one for one in run.battles() if one.verdict in "ab" and one.frames_a and one.frames_b
        ]
    short = [one for one in seen if len(f"{one.answer_a}{one.answer_b}") < SHORT]
    hardest = max(short, key=lambda battle: battle.difficulty or 0.0)
    copy = out.with_name(f"{out.name}-labelled")
    shutil.copytree(out, copy)
    with closing(Browser()) as browser:
        with browser.looking(WINDOW) as page:
            page.goto(report.resolve(), "#report")
            shoot(page, "report")
            page.goto(report.resolve(), f"#battle={hardest.id}")
            page.see(".answer")
            shoot(page, "battle")
        with serving("annotate", copy, "--n", "20") as (link,), browser.looking(WINDOW) as page:
            page.goto(link)
            page.see(".vote-bar")
            page.wait("() => new Promise((done) => setTimeout(done, 1500, true))")
            shoot(page, "labelling")
    shutil.rmtree(copy)


def shoot(page: Page, name: str) -> None:
    """Write what the window shows."""
    file = page.shoot(DOCS / f"{name}.png", whole=False)
    with Image.open(file) as picture:
        small = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(file, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
