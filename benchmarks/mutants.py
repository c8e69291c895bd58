"""Which faults the tests notice, at one revision or several: `python -m benchmarks.mutants`.

A mutant is the product with one fault: a comparison turned, a condition denied, a number off by
one. The same seeded mutants are tried at every revision, each by the tests that mirror its module:
first those of `make test`, then, where it lives, the slow ones. Only modules whose code is equal at
all revisions are mutated, so that a difference is one of the tests. A mutant that lives may be
equivalent: read it before a test is written for it.
"""

from __future__ import annotations

import argparse
import ast
import copy
import io
import os
import random
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from benchmarks.house import PACKAGES

TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
NO_TEST = 5
"""How pytest ends where no test has the marks that were asked for."""
PATIENCE_S = 300
"""A mutant whose tests take longer is noticed: it does not end."""


ENDINGS = {True: "noticed", False: "lives", None: "untried"}


class Mutant(NamedTuple):
    """One fault: a module, a line of it, what it says there, and the module with it."""

    module: Path
    line: int
    change: str
    text: str


class Checkout(NamedTuple):
    """A revision, unpacked."""

    revision: str
    place: Path

    def tests_of(self, module: Path) -> Path:
        """Return the tests that mirror a module; the path may be of none."""
        return self.place / "tests" / module.parent / f"test_{module.name}"

    def text_of(self, module: Path) -> str | None:
        """Return a module without comments, or None where this revision lacks it or its tests."""
        path = self.place / module
        if not path.exists() or not self.tests_of(module).exists():
            return None
        return ast.unparse(ast.parse(path.read_text()))


def faults_of(module: Path, text: str) -> Iterator[Mutant]:
    """Yield every mutant of a module."""
    tree = ast.parse(text)
    for number, node in enumerate(ast.walk(tree)):
        for fault in _faults(node):
            twin = copy.deepcopy(tree)
            _replace(twin, number, fault)
            change = f"{ast.unparse(node)} -> {ast.unparse(fault)}"
            yield Mutant(module, getattr(node, "lineno", 0), change, ast.unparse(twin))


def _faults(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in TURNED:
        turned = TURNED[type(node.ops[0])]()
        yield ast.Compare(node.left, [turned, *node.ops[1:]], node.comparators)
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield ast.BoolOp(other, node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        other_sign = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield ast.BinOp(node.left, other_sign, node.right)
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)
    # True is a number to Python, and 2 is as true as it is.
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield ast.Constant(node.value + 1)  # type: ignore[operator]


def _replace(tree: ast.AST, number: int, fault: ast.AST) -> None:
    """Put `fault` in the place of the node that a walk over the tree meets as `number`."""
    wanted = list(ast.walk(tree))[number]
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is wanted:
                setattr(parent, name, fault)
            elif isinstance(value, list):
                setattr(parent, name, [fault if each is wanted else each for each in value])


def drawn(checkouts: list[Checkout], count: int, seed: int) -> list[Mutant]:
    """Return as many mutants, a module each while there are modules, the same for a seed."""
    first = checkouts[0]
    found: list[tuple[Path, str]] = []
    for package in PACKAGES:
        for path in sorted((first.place / package).rglob("*.py")):
            module = path.relative_to(first.place)
            texts = {checkout.text_of(module) for checkout in checkouts}
            text = texts.pop()
            if text is not None and not texts:
                found.append((module, text))
    chance = random.Random(seed)
    chance.shuffle(found)
    mutants: list[Mutant] = []
    for module, text in found:
        choices = list(faults_of(module, text))
        if choices and len(mutants) < count:
            mutants.append(chance.choice(choices))
    return mutants


def is_noticed(checkout: Checkout, mutant: Mutant) -> bool | None:
    """Return whether the tests that mirror a module fail with this fault in it.

    None where they fail without it, which says nothing of the fault.
    """
    tests = checkout.tests_of(mutant.module).relative_to(checkout.place)
    with tempfile.TemporaryDirectory(dir=checkout.place.parent) as folder:
        place = Path(folder) / "checkout"
        subprocess.run(["cp", "-al", str(checkout.place), str(place)], check=True)
        faulty = place / mutant.module
        whole = faulty.read_text()
        for marks in ("not slow and not live", "slow and not live"):
            _write_apart(faulty, whole)
            if fails(place, tests, marks):
                return None
            _write_apart(faulty, mutant.text)
            if fails(place, tests, marks):
                return True
    return False


def _write_apart(path: Path, text: str) -> None:
    """Write a file that shares its bytes with other names, for this name alone."""
    path.unlink()
    path.write_text(text)


def fails(place: Path, tests: Path, marks: str) -> bool:
    """Return whether one of these tests fails or does not end; that there is none is no failure."""
    words = ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", marks, str(tests)]
    env = os.environ | {"PYTHONPATH": str(place / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        ended = subprocess.run(
            [sys.executable, *words], cwd=place, env=env, capture_output=True, timeout=PATIENCE_S
        )
    except subprocess.TimeoutExpired:
        return True
    return ended.returncode not in (0, NO_TEST)


def unpacked(revision: str, folder: Path) -> Checkout:
    """Unpack a revision, with whatever the tests need of it."""
    packed = subprocess.run(["git", "archive", revision], check=True, capture_output=True)
    place = folder / revision.replace("/", "_")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(place, filter="tar")
    return Checkout(revision, place)


def main() -> int:
    """Print each mutant that lives at some revision, and how many are noticed at each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("revisions", nargs="*", default=["HEAD"], metavar="REVISION")
    parser.add_argument("--count", type=int, default=100, help="how many mutants are tried")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        checkouts = [unpacked(revision, Path(folder)) for revision in asked.revisions]
        mutants = drawn(checkouts, asked.count, asked.seed)
        tries = {
            (checkout.revision, mutant): pool.submit(is_noticed, checkout, mutant)
            for mutant in mutants
            for checkout in checkouts
        }
        lost = 0
        for mutant in mutants:
            noticed = [tries[checkout.revision, mutant].result() for checkout in checkouts]
            lost += noticed[0] is True and False in noticed
            if noticed.count(True) < len(checkouts):
                said = " ".join(f"{ENDINGS[one]:8}" for one in noticed)
                print(f"{said}{mutant.module}:{mutant.line}  {mutant.change}", flush=True)
        for checkout in checkouts:
            ended = Counter(tries[checkout.revision, mutant].result() for mutant in mutants)
            counts = ", ".join(f"{ended[one]} {name}" for one, name in ENDINGS.items())
            print(f"{checkout.revision}: {counts}")
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main())
