"""The house stands as it was designed, and no test gets out of it."""

from __future__ import annotations

import ast
import contextlib
import importlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sealed_sockets import OutboundBlocked

ROOT = Path(__file__).parents[1]
PACKAGES = ("agents", "graph", "memory", "runs", "scoring", "video")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAMESPACE = "videoautoarena"
OFFENCES = {
    "memory/records": "import videoautoarena.agents.prompting.contracts",
    "memory/store": "import click",
    "video/decode": "import langgraph.graph, scenedetect",
    "video/sampling": "import videoautoarena.video.folder.find",
    "graph": "import langchain_core.messages, av",
    "agents/calls": "import sqlite3, videoautoarena.scoring",
    "agents/limits": "import videoautoarena.memory.store.journal",
    "scoring/fitting": "import videoautoarena.memory.records.records",
    "runs/rating": "import rich.table, videoautoarena.runs.analysis.leaderboard.board, matplotlib",
    "runs/views/results": "import numpy, videoautoarena.runs.views.figures.canvas",
    "runs/cli/results": "import videoautoarena.runs.cli.playing.resume",
    "runs/serve/server": "import videoautoarena.runs.serve.view.app",
    "runs/views/page": "import starlette.requests",
    "runs/bench/format": "import click, videoautoarena.runs.bench.play.runner",
    "runs/making/tasks": "import videoautoarena.runs.making.dialogues.video_dialogues",
    "runs/exchange/training": "import videoautoarena.runs.exchange.interop.mlvu",
    "runs/analysis/trials": "import videoautoarena.runs.analysis.realism.report",
    "runs/console/progress": "import videoautoarena.runs.console.media.videos",
    "runs/run/config": "import videoautoarena.runs.run.rundir.opener",
}
"""A room, and what no module in it may import."""


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    """Return import-linter's verdict on the packages that stand in `root`."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"]
    place = os.pathsep.join([str(root / "src"), os.environ["PYTHONPATH"]])
    env = os.environ | {"PYTHONPATH": place, "COLUMNS": "200"}
    return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True)


@pytest.fixture
def another_house(tmp_path: Path) -> Path:
    """Return folders of their own, in which links lead to the modules."""
    unread = shutil.ignore_patterns("__pycache__", "front", "*.txt", "*.json")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=unread, copy_function=os.symlink)
    shutil.copytree(ROOT / "src", tmp_path / "src", symlinks=True)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_rooms_import_only_what_stands_below_them() -> None:
    verdict = lint_imports(ROOT)
    assert verdict.returncode == 0, verdict.stdout
    assert "0 broken" in verdict.stdout


@pytest.mark.slow
def test_the_import_contracts_would_notice(another_house: Path) -> None:
    for room, offence in OFFENCES.items():
        (another_house / room / "offence.py").write_text(offence + "\n")
    broken = re.findall(r"^(.+) BROKEN", lint_imports(another_house).stdout, re.MULTILINE)
    kept = {
        "rooms of runs.bench",
        "rooms of agents",
        "rooms of agents.offline",
        "rooms of memory",
        "rooms of scoring",
        "records open no file",
    }
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    names = {contract["name"] for contract in contracts["contracts"]}
    assert set(broken) >= names - kept


@pytest.mark.slow
def test_the_import_contracts_would_notice_a_room_that_nobody_gave_a_place(
    another_house: Path,
) -> None:
    (another_house / "runs" / "attic").mkdir()
    (another_house / "runs" / "attic" / "__init__.py").write_text("")
    assert "rooms of runs BROKEN" in lint_imports(another_house).stdout


def rooms() -> dict[Path, list[Path]]:
    """Return the modules that lie in each folder of the packages."""
    found: dict[Path, list[Path]] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if path.name != "__init__.py":
                found.setdefault(path.parent.relative_to(ROOT), []).append(path)
    return found


def test_no_module_lies_flat_beside_rooms() -> None:
    with_rooms = {parent for room in rooms() for parent in room.parents}
    assert sorted(map(str, with_rooms & set(rooms()))) == []


def test_each_room_says_what_it_is() -> None:
    silent = [
        str(room)
        for room in rooms()
        if len(ast.get_docstring(ast.parse((ROOT / room / "__init__.py").read_text())) or "") < 30
    ]
    assert silent == []


def test_tests_lie_in_the_rooms_of_what_they_test() -> None:
    places = {
        path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")
    }
    known = {place for room in rooms() for place in (room, *room.parents)}
    others = {Path("e2e"), Path("benchmarks"), Path()}
    assert sorted(map(str, places - known - others)) == []


@cache
def graph() -> grimp.ImportGraph:
    """Return what each of our modules imports of ours, lazily and for types alone, too."""
    return grimp.build_graph(NAMESPACE, cache_dir=None)


def test_no_two_modules_import_each_other_however_far_around() -> None:
    packages = {module.rpartition(".")[0] for module in graph().modules}
    modules = graph().modules - packages
    imports = {one: graph().find_modules_directly_imported_by(one) & modules for one in modules}
    assert sum(map(len, imports.values())) > 1000
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the circle


def found_in_modules(pattern: str) -> dict[str, list[str]]:
    """Return what the group of a pattern finds at the beginning of lines, and in which modules."""
    places: dict[str, list[str]] = {}
    for path in (path for modules in rooms().values() for path in modules):
        for found in re.findall(rf"^[ \t]*{pattern}", path.read_text(), re.MULTILINE):
            places.setdefault(found, []).append(str(path.relative_to(ROOT)))
    return places


def test_no_two_classes_have_one_name() -> None:
    places = found_in_modules(r"class (\w+)[(:\[]")
    assert len(places) > 500
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_nothing_of_ours_is_imported_by_a_name_of_its_own() -> None:
    ours = "|".join(PACKAGES)
    assert found_in_modules(r"from (\w+)[\w.]* import\b")[NAMESPACE]
    plain = rf"(from (?:{ours})(?:\.[\w.]+)? import|import (?:{ours})\b)"
    assert found_in_modules(plain) == {}


@pytest.mark.slow
def test_nothing_of_ours_is_loaded_under_a_name_of_its_own(tmp_path: Path) -> None:
    # What runs as a process of Ray's needs Ray; it has an environment of its own.
    rays = {"runs.cluster.actors", "runs.cluster.crew", "runs.cluster.engine"}
    modules = sorted(graph().modules - {f"{NAMESPACE}.{name}" for name in rays})
    code = (
        "import importlib, sys\n"
        f"for name in {modules}: importlib.import_module(name)\n"
        f"print([name for name in {PACKAGES} if name in sys.modules])"
    )
    command = [sys.executable, "-W", "error", "-c", code]
    assert subprocess.check_output(command, cwd=tmp_path, text=True).strip() == "[]"


def test_the_package_that_is_imported_is_ours(tmp_path: Path) -> None:
    command = [sys.executable, "-c", f"import {NAMESPACE}; print({NAMESPACE}.__file__)"]
    found = subprocess.check_output(command, cwd=tmp_path, text=True)
    assert Path(found.strip()) == ROOT / "src" / NAMESPACE / "__init__.py"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a clone")
def test_git_keeps_the_package_runs_and_leaves_out_what_a_run_writes() -> None:
    paths = [
        "runs/cli/program/main.py",
        "runs/new/file.json",
        "runs/views/page/front/dist/report.js",
        "runs/views/page/front/node_modules/preact/package.json",
        "arena-out/run.sqlite",
        ".venv/bin/python",
    ]
    command = ["git", "check-ignore", "--no-index", *paths]
    ignored = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    assert ignored.split() == paths[3:]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_carries_its_types(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_every_file_of_a_package_is_shipped_with_it() -> None:
    shipped = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    patterns = ["*.py", "*.pyc", *shipped["package-data"]["*"]]
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()]
    data = [path for path in files if path.suffix != ".py" and "__pycache__" not in path.parts]
    assert len(data) > len(PACKAGES)
    front = ROOT / "runs" / "views" / "page" / "front"
    made = shipped["package-data"][f"{NAMESPACE}.runs.views.page"]
    assert made == ["front/page.html", "front/dist/*.js", "front/dist/*.css", "front/licences/*"]
    others = [path for path in data if not path.is_relative_to(front)]
    assert [path for path in others if not any(path.match(p) for p in patterns)] == []


@pytest.mark.parametrize("name", ["README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"])
def test_a_visitor_finds(name: str) -> None:
    assert (ROOT / name).stat().st_size > 500


def test_the_licence_is_the_one_the_project_names() -> None:
    assert PROJECT["license"] == "Apache-2.0"
    assert (
        "Apache License\n                           Version 2.0" in (ROOT / "LICENSE").read_text()
    )


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1"])
def test_nothing_connects_beyond_this_machine(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as reaching, pytest.raises(OutboundBlocked):
        reaching.connect((address, 443))


def test_no_name_is_looked_up_and_no_datagram_leaves() -> None:
    with pytest.raises(OutboundBlocked):
        socket.getaddrinfo("provider.invalid", 443)
    with socket.socket(type=socket.SOCK_DGRAM) as sending, pytest.raises(OutboundBlocked):
        sending.sendto(b"", ("192.0.2.1", 53))


def test_this_machine_is_within_reach() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with contextlib.closing(socket.create_connection(("localhost", port))) as reached:
            assert reached.getpeername()[1] == port


def test_a_child_process_is_sealed_too(tmp_path: Path) -> None:
    reach = "import socket; socket.create_connection(('192.0.2.1', 443))"
    child = subprocess.run([sys.executable, "-c", reach], cwd=tmp_path, capture_output=True)
    assert b"OutboundBlocked" in child.stderr


def test_no_key_and_no_home_of_a_person_reaches_a_test(home: Path, tmp_path: Path) -> None:
    assert not [name for name in os.environ if name.endswith("_API_KEY")]
    assert Path.home() == home
    assert home.is_relative_to(tmp_path.parent.parent)
    assert os.environ["XDG_CACHE_HOME"].startswith(str(home))


def test_examples_of_a_property_do_not_hang_on_what_was_imported_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = examples()
    words = [f"word{number}" for number in range(500)]
    (tmp_path / "many_words.py").write_text(f"WORDS = {words}\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("many_words")
    assert examples() == before
    assert not set(words) & set(before)


def examples() -> list[str]:
    drawn: list[str] = []

    @settings(max_examples=200)
    @given(st.text())
    def draw(text: str) -> None:
        drawn.append(text)

    draw()
    return drawn


def test_the_slow_suite_passes_over_no_file_whose_marks_stand_elsewhere() -> None:
    # `conftest.py` imports a file for it only where the file itself names what is slow.
    lenders = {
        f"tests.support.{file.stem} import"
        for file in (ROOT / "tests" / "support").glob("*.py")
        if "mark.slow" in file.read_text()
    }
    assert lenders
    borrowers = [
        text
        for text in (file.read_text() for file in (ROOT / "tests").rglob("test_*.py"))
        if any(lender in text for lender in lenders)
    ]
    assert borrowers
    assert all("mark.slow" in text or "hypothesis" in text for text in borrowers)


def test_durations_are_of_files_that_are_here() -> None:
    noted = json.loads((ROOT / "tests" / "durations.json").read_text())
    assert len(noted) > 100
    assert [test for test in noted if not (ROOT / test.split("::")[0]).is_file()] == []
