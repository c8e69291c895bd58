"""The house stands as it was designed, and no test gets out of it."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from sealed_sockets import OutboundBlocked

ROOT = Path(__file__).parents[1]
PACKAGES = ("agents", "graph", "memory", "runs", "scoring", "video")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OFFENCES = {
    "memory": "import videoautoarena.agents.prompting.contracts",
    "video": "import langgraph.graph",
    "graph": "import langchain_core.messages, av",
    "agents": "import sqlite3, click, scoring",
    "scoring": "import videoautoarena.memory.records.records",
}


def sources() -> list[Path]:
    folders = (*PACKAGES, "tests", "benchmarks")
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    """Return import-linter's verdict on the packages that stand in `root`."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"]
    place = os.pathsep.join([str(root), os.environ["PYTHONPATH"]])
    env = os.environ | {"PYTHONPATH": place, "COLUMNS": "200"}
    return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True)


@pytest.fixture
def another_house(tmp_path: Path) -> Path:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_packages_import_only_what_stands_to_their_right() -> None:
    verdict = lint_imports(ROOT)
    assert verdict.returncode == 0, verdict.stdout
    assert "0 broken" in verdict.stdout


def test_the_import_contracts_would_notice(another_house: Path) -> None:
    for package, offence in OFFENCES.items():
        (another_house / package / "offence.py").write_text(offence + "\n")
    broken = re.findall(r"^(.+) BROKEN", lint_imports(another_house).stdout, re.MULTILINE)
    assert set(broken) >= {
        "runs -> graph -> agents -> video -> memory",
        "scoring knows nothing of ours",
        "only runs uses scoring",
        "langgraph only in graph",
        "langchain and provider SDKs only in agents",
        "SQL only in memory",
        "decoders only in video",
        "rich and click only in runs",
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_the_package_that_is_imported_is_ours(package: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", f"import {package}; print({package}.__file__)"]
    found = subprocess.check_output(command, cwd=tmp_path, text=True)
    assert Path(found.strip()) == ROOT / package / "__init__.py"


def test_the_other_distribution_named_agents_is_never_required() -> None:
    extras = PROJECT["optional-dependencies"].values()
    wanted = [*PROJECT["dependencies"], *(line for extra in extras for line in extra)]
    assert not [line for line in wanted if line.replace("_", "-").startswith("openai-agents")]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a clone")
def test_git_keeps_the_package_runs_and_leaves_out_what_a_run_writes() -> None:
    paths = ["runs/cli/main.py", "runs/new/file.json", "arena-out/run.sqlite", ".venv/bin/python"]
    command = ["git", "check-ignore", "--no-index", *paths]
    ignored = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    assert ignored.split() == ["arena-out/run.sqlite", ".venv/bin/python"]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_carries_its_types(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_every_file_of_a_package_is_shipped_with_it() -> None:
    shipped = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    patterns = ["*.py", "*.pyc", *shipped["package-data"]["*"]]
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()]
    data = [path for path in files if path.suffix != ".py" and "__pycache__" not in path.parts]
    assert len(data) > len(PACKAGES)
    assert [path for path in data if not any(path.match(p) for p in patterns)] == []


@pytest.mark.parametrize("name", ["README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"])
def test_a_visitor_finds(name: str) -> None:
    assert (ROOT / name).stat().st_size > 500


def test_the_licence_is_the_one_the_project_names() -> None:
    assert PROJECT["license"] == "Apache-2.0"
    assert (
        "Apache License\n                           Version 2.0" in (ROOT / "LICENSE").read_text()
    )


def test_no_file_is_longer_than_400_lines() -> None:
    long = {path: text.count("\n") for path in sources() if (text := path.read_text())}
    assert {str(path): lines for path, lines in long.items() if lines > 400} == {}


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_no_function_is_longer_than_60_lines() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}"
        for path in sources()
        for function in functions(path)
        if (function.end_lineno or 0) - function.lineno >= 60
    ]
    assert long == []


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
