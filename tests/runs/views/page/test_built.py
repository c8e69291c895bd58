"""What pages are made of: checked in as built, from sources that make no HTML of text."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import get_args

import pytest

from videoautoarena.runs.views.page.document import FRONT, TITLES, Page

ROOT = Path(__file__).parents[4]
NODE = ROOT / ".venv-node"
DIGESTS = "SHA256SUMS"
PAGES: tuple[str, ...] = get_args(Page)
SINKS = (
    r"\.innerHTML|\.outerHTML|insertAdjacentHTML|srcdoc|document\.write|dangerouslySetInnerHTML"
    r"|\beval\(|new Function|setTimeout\(\s*[\"'`]|createContextualFragment|DOMParser"
)


def own_files() -> list[str]:
    return [
        f"{folder}/{one.name}" for folder in ("app", "style") for one in (FRONT / folder).iterdir()
    ]


def imported(path: Path) -> Iterator[Path]:
    """What a module consists of: itself, and all that it imports of ours."""
    yield path
    if path.suffix == ".js":
        for name in re.findall(r'^(?:import|\}) .*?"(\..+)";$', path.read_text(), re.MULTILINE):
            yield from imported((path.parent / name).resolve())


def test_every_source_is_on_a_page() -> None:
    assert set(PAGES) == set(TITLES)
    used = {one for page in PAGES for one in imported(FRONT.resolve() / "app" / f"{page}.js")}
    assert {f"{path.parent.name}/{path.name}" for path in used} == set(own_files())


@pytest.mark.parametrize("name", sorted(own_files()))
def test_a_source_has_no_way_to_make_html_of_text(name: str) -> None:
    text = (FRONT / name).read_text()
    assert [line for line in text.splitlines() if len(line) > 100] == []
    assert re.findall(SINKS, text) == []


def test_every_class_of_a_style_is_one_that_some_markup_has() -> None:
    styles = "".join(path.read_text() for path in (FRONT / "style").iterdir())
    bare = re.sub(r"/\*.*?\*/|\{[^{}]*\}", "{}", styles, flags=re.DOTALL)
    named = set(re.findall(r"\.([a-zA-Z][\w-]*)", bare))
    sources = [
        *(FRONT / "app").iterdir(),
        *(ROOT / "runs" / "serve").rglob("*.py"),
        *(ROOT / "runs" / "views" / "page").rglob("*.py"),
    ]
    markup = "".join(path.read_text() for path in sources)
    words = set(re.findall(r"[\w-]+", markup))
    # A class may be made of a beginning and a word: `side-${seat}`.
    begun = tuple(re.findall(r"([a-zA-Z][\w-]*)\$\{", markup))
    assert sorted(one for one in named - words if not one.startswith(begun)) == []


def test_what_was_built_is_of_the_sources_that_are_here() -> None:
    recorded = [line.split("  ") for line in (FRONT / "dist" / DIGESTS).read_text().splitlines()]
    folders = ("app", "dist", "licences", "style")
    paths = [path for folder in folders for path in (FRONT / folder).iterdir()]
    paths += [FRONT / "build.js", FRONT / "package-lock.json"]
    here = {
        path.relative_to(FRONT).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in paths
        if path.name != DIGESTS
    }
    assert {path: digest for digest, path in recorded} == here, "make front builds the pages anew"


@pytest.mark.parametrize("page", PAGES)
def test_a_built_script_ends_no_element_and_runs_no_text(page: str) -> None:
    script = (FRONT / "dist" / f"{page}.js").read_text()
    assert not re.search(
        r"</?script[\s/>]|\beval\(|new Function|sourceMappingURL|\bimport\(", script
    )
    assert "</style" not in (FRONT / "dist" / f"{page}.css").read_text()


def test_each_library_of_others_is_locked_and_named_with_its_licence_in_every_copy() -> None:
    lock = json.loads((FRONT / "package-lock.json").read_text())["packages"]
    assert not any("resolved" in one for one in lock.values())
    assert all(one["integrity"].startswith("sha512-") for name, one in lock.items() if name)
    names = lock[""]["dependencies"]
    assert set(names) == {"preact", "htm", "marked"}
    assert {path.stem for path in (FRONT / "licences").iterdir()} == set(names)
    for name in names:
        assert (FRONT / "licences" / f"{name}.txt").stat().st_size > 500
    for page in PAGES:
        (head,) = re.findall(r"\A/\*.*?\*/", (FRONT / "dist" / f"{page}.js").read_text(), re.DOTALL)
        for name in set(names) - (set() if page in ("report", "annotate") else {"marked"}):
            one = lock[f"node_modules/{name}"]
            assert f"{name} {one['version']}, {one['license']}: Copyright " in head


def node(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """How a program of node's ends, run in the front end's folder."""
    if not (NODE / ".installed").exists():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("make front makes .venv-node")
    path = f"{NODE / 'bin'}{os.pathsep}{os.environ['PATH']}"
    command = [str(NODE / "bin" / "node"), *map(str, words)]
    return subprocess.run(
        command,
        cwd=FRONT,
        env={**os.environ, "PATH": path, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_esbuild_makes_of_the_sources_what_is_checked_in(tmp_path: Path) -> None:
    built = node("build.js", tmp_path / "dist")
    assert built.returncode == 0, built.stderr
    made = {path.name: path.read_bytes() for path in (tmp_path / "dist").iterdir()}
    assert len(made) == 2 * len(PAGES) + 1
    kept = {path.name: path.read_bytes() for path in (FRONT / "dist").iterdir()}
    assert [name for name in made | kept if made.get(name) != kept.get(name)] == []


@pytest.mark.slow
def test_biome_finds_nothing_to_mend_in_the_sources() -> None:
    checked = node("node_modules/@biomejs/biome/bin/biome", "ci", "--error-on-warnings", ".")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert re.search(r"Checked \d\d+ files", checked.stdout + checked.stderr)
