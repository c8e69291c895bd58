"""How large the house is, at one revision or several: `python -m benchmarks.house [REVISION ...]`.

Counted are the Python files of the six packages; tests, benchmarks and the front end are not.
Tokens leave out comments, docstrings and imports, so that neither words for readers nor a module
that is split weighs anything. A revision is unpacked into a folder of its own, where a run of three
battles is played by stand-ins and what it enters is counted (in this process: not in decoders).
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from statistics import median, quantiles

from tests.support.clips import draw_clip

PACKAGES = ("agents", "graph", "memory", "runs", "scoring", "video")
UNCOUNTED = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
ALIKE_FIELDS = 5
"""Two classes with so many fields of the same names, over half of all, may mean one thing."""
ENTERED = """
import sys, threading
from pathlib import Path
import videoautoarena
from videoautoarena.runs.cli.program.main import simulate_main
house = str(Path(videoautoarena.__file__).resolve().parents[2])
seen = set()
def enter(frame, event, _):
    if event == "call" and frame.f_code.co_filename.startswith(house):
        seen.add((frame.f_code.co_filename, frame.f_code.co_qualname))
sys.argv = ["simulate", *sys.argv[1:]]
threading.setprofile(enter)
sys.setprofile(enter)
try:
    simulate_main()
except SystemExit as ended:
    assert not ended.code, ended.code
finally:
    sys.setprofile(None)
    names = {(file, name) for file, name in seen if "<" not in name.replace("<locals>", "")}
    print("ENTERED", len(names), len({file for file, _ in names}))
"""
"""Plays the run that its arguments name, and says how many functions and files it entered."""


@dataclass
class House:
    """What was counted at one revision."""

    tokens: Counter[str] = field(default_factory=Counter)
    """By room, as are lines and modules."""
    lines: Counter[str] = field(default_factory=Counter)
    modules: Counter[str] = field(default_factory=Counter)
    """Without those that only say what a room owns."""
    import_lines: int = 0
    comment_lines: int = 0
    docstring_lines: int = 0
    function_lines: list[int] = field(default_factory=list)
    called_once: int = 0
    """Functions without a decorator that the packages name once outside their definition."""
    paired: int = 0
    """Assignments of several values to several names in one statement."""
    class_names: Counter[str] = field(default_factory=Counter)
    alike: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of classes that share most of their fields."""
    functions_entered: int = 0
    files_entered: int = 0

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield each figure with its name."""
        lines = self.lines.total()
        yield "tokens", f"{self.tokens.total():,}"
        yield "lines", f"{lines:,}"
        yield "modules", f"{self.modules.total():,}"
        yield "classes", f"{self.class_names.total():,}"
        yield "class names used twice", str(sum(n > 1 for n in self.class_names.values()))
        yield "functions", f"{len(self.function_lines):,}"
        yield "  median of lines", f"{median(self.function_lines):.0f}"
        yield "  p90 of lines", f"{quantiles(self.function_lines, n=10)[-1]:.0f}"
        yield "  called once", f"{self.called_once:,}"
        yield "comments, % of lines", f"{100 * self.comment_lines / lines:.1f}"
        yield "docstrings, % of lines", f"{100 * self.docstring_lines / lines:.1f}"
        yield "imports, % of lines", f"{100 * self.import_lines / lines:.1f}"
        yield "paired assignments", f"{self.paired:,}"
        yield "classes with alike fields", f"{len(self.alike):,} pairs"
        yield "functions a run enters", f"{self.functions_entered:,}"
        yield "files a run enters", f"{self.files_entered:,}"


def is_docstring(node: ast.AST) -> bool:
    """Whether a statement is a bare text: a docstring, or one below a name."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def fields_of(node: ast.ClassDef) -> frozenset[str]:
    """Return the names that a class annotates in its body."""
    annotated = (one for one in node.body if isinstance(one, ast.AnnAssign))
    return frozenset(one.target.id for one in annotated if isinstance(one.target, ast.Name))


def count(place: Path) -> House:
    """Return what is counted in the files of a checkout, without playing a run."""
    house = House()
    named = Counter[str]()
    plain: list[str] = []
    shapes: list[tuple[str, frozenset[str]]] = []
    for package in PACKAGES:
        for path in sorted((place / package).rglob("*.py")):
            parts = path.relative_to(place).parent.parts
            room = "/".join(parts[:2])
            text = path.read_text(encoding="utf-8")
            tree = ast.parse(text)
            passed_over = set[int]()
            for node in ast.walk(tree):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    span = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                    house.import_lines += len(span)
                    passed_over.update(span)
                elif is_docstring(node):
                    assert isinstance(node, ast.Expr)
                    span = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                    house.docstring_lines += len(span)
                    passed_over.update(span)
                elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    house.function_lines.append((node.end_lineno or 0) - node.lineno + 1)
                    if not node.decorator_list and not node.name.startswith("__"):
                        plain.append(node.name)
                elif isinstance(node, ast.ClassDef):
                    house.class_names[node.name] += 1
                    shapes.append((f"{room}:{node.name}", fields_of(node)))
                elif isinstance(node, ast.Assign):
                    both = (node.targets[0], node.value)
                    house.paired += all(isinstance(side, ast.Tuple) for side in both)
                elif isinstance(node, ast.Name):
                    named[node.id] += 1
                elif isinstance(node, ast.Attribute):
                    named[node.attr] += 1
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                house.comment_lines += token.type == tokenize.COMMENT
                if token.type not in UNCOUNTED and token.start[0] not in passed_over:
                    house.tokens[room] += 1
            house.lines[room] += text.count("\n")
            house.modules[room] += path.name != "__init__.py"
    house.called_once = sum(named[name] == 1 for name in plain)
    for (one, of_one), (other, of_other) in combinations(shapes, 2):
        shared = len(of_one & of_other)
        if shared >= ALIKE_FIELDS and 2 * shared > len(of_one | of_other):
            house.alike.append((one, other))
    return house


def play(place: Path, scratch: Path) -> tuple[int, int]:
    """Return how many functions and files of a checkout a run of three battles enters."""
    videos = scratch / "videos"
    videos.mkdir(exist_ok=True)
    draw_clip(videos / "clip.mp4", seed=4)
    words = ["--videos", videos, "--rounds", "1", "--out", scratch / "out", "--quiet"]
    played = subprocess.run(
        [sys.executable, "-c", ENTERED, *map(str, words)],
        env=os.environ | {"PYTHONPATH": str(place / "src"), "XDG_CACHE_HOME": str(scratch)},
        cwd=scratch,
        check=True,
        capture_output=True,
        text=True,
    )
    said = next(line for line in played.stdout.splitlines() if line.startswith("ENTERED"))
    functions, files = said.split()[1:]
    return int(functions), int(files)


def measure(revision: str) -> House:
    """Return what is counted at a revision."""
    packed = subprocess.run(
        ["git", "archive", revision, *PACKAGES, "src"], check=True, capture_output=True
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "house"
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            archive.extractall(place, filter="tar")
        house = count(place)
        house.functions_entered, house.files_entered = play(place, Path(folder))
    return house


def main() -> int:
    """Print a column for every revision, first the whole, then tokens by room."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("revisions", nargs="*", default=["HEAD"], metavar="REVISION")
    parser.add_argument("--alike", action="store_true", help="list classes with alike fields")
    asked = parser.parse_args()
    houses = [measure(revision) for revision in asked.revisions]
    print(f"{'':28}" + "".join(f"{revision[:12]:>14}" for revision in asked.revisions))
    for rows in zip(*(house.rows() for house in houses), strict=True):
        print(f"{rows[0][0]:28}" + "".join(f"{figure:>14}" for _, figure in rows))
    for title, of in (("tokens", "tokens"), ("modules", "modules")):
        print(f"\n{title} by room")
        counted: list[Counter[str]] = [getattr(house, of) for house in houses]
        for room in sorted(set().union(*counted)):
            print(f"{room:28}" + "".join(f"{found[room]:14,}" for found in counted))
    if asked.alike:
        for one, other in houses[-1].alike:
            print(f"{one} ~ {other}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
