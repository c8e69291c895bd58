"""How many lines it takes to show results, by part, at one revision or several.

    python -m benchmarks.lines [REVISION ...]

Counted are lines of files that git tracks: commands (`runs/cli`), what makes tables and sentences
of results (`runs/views`, and modules of other rooms that are named for text, tables, cards or
sheets), figures, the Python of pages and servers, and their scripts and styles. What is vendored,
bundled or locked is not counted.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter

PARTS = {
    "cli": r"runs/cli/.*\.py",
    "views": r"runs/views/.*\.py",
    "figures": r"runs/views/figures/.*\.py",
    "pages and servers": r"runs/serve/.*\.py",
    "front end": r"runs/views/page/front/(?!vendor/|dist/).*\.(js|css|html)",
    "text in other rooms": r"runs/(?!text/(style|refusals|language|themes|traits|files|publishing|"
    r"battle_table)|rating/table|rundir/).*"
    r"(text|card|sheet|sentences|markup|tables?|listing|extras|screen|show|words|terminal|finding)"
    r"\.py",
}
"""Of a path, the first that fits."""


def tracked(revision: str) -> list[str]:
    """Return the paths of the files at a revision."""
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", revision],
        capture_output=True,
        check=True,
        text=True,
    )
    return listed.stdout.splitlines()


def count(revision: str) -> Counter[str]:
    """Return the lines of each part at a revision."""
    found = Counter[str]()
    for path in tracked(revision):
        part = next((name for name, like in PARTS.items() if re.fullmatch(like, path)), None)
        if part is not None:
            shown = subprocess.run(
                ["git", "show", f"{revision}:{path}"], capture_output=True, check=True
            )
            found[part] += shown.stdout.count(b"\n")
    return found


def main() -> int:
    """Print a column for every revision."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("revisions", nargs="*", default=["HEAD"], metavar="REVISION")
    revisions = parser.parse_args().revisions
    counted = [count(revision) for revision in revisions]
    print(f"{'':22}" + "".join(f"{revision[:12]:>14}" for revision in revisions))
    for part in PARTS:
        print(f"{part:22}" + "".join(f"{found[part]:14,}" for found in counted))
    print(f"{'all':22}" + "".join(f"{found.total():14,}" for found in counted))
    return 0


if __name__ == "__main__":
    sys.exit(main())
