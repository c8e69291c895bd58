"""The project as it is published: built from a copy of the sources, installed elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[2]
PACKAGES = ("agents", "graph", "memory", "runs", "scoring", "video")
_BUILD = "import sys; from setuptools import build_meta as b; getattr(b, sys.argv[1])(sys.argv[2])"


def copy_sources(to: Path) -> Path:
    """Copy what a clone has and a distribution is made of, links as links."""
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "node_modules")
    for name in (*PACKAGES, "src"):
        shutil.copytree(ROOT / name, to / name, symlinks=True, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, to)
    return to


def build(kind: Literal["wheel", "sdist"], sources: Path, to: Path) -> Path:
    """Return the distribution that is built of some sources, into a folder of its own."""
    to.mkdir()
    command = [sys.executable, "-W", "ignore", "-c", _BUILD, f"build_{kind}", str(to)]
    done = subprocess.run(command, cwd=sources, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    (built,) = to.iterdir()
    return built


class Environment:
    """A virtual environment without pip and without our sources."""

    def __init__(self, folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        self.folder = folder
        (self.packages,) = (folder / "lib").glob("python*/site-packages")

    def install(self, *words: str | Path) -> None:
        """Install with pip, which asks no index."""
        pip = [sys.executable, "-m", "pip", "--python", str(self.folder / "bin" / "python")]
        command = [*pip, "install", "--no-index", "--quiet", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]

    def lend_dependencies(self) -> None:
        """Let it find what the project depends on where the tests find it, the project itself not.

        A path file among those packages, such as that of an editable install, is not followed.
        """
        (self.packages / "lent.pth").write_text(f"{_site_packages()}\n")

    def run(self, name: str, *words: str | Path, cwd: Path) -> str:
        """Return what a command of it prints; it must end well."""
        env = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
        command = [str(self.folder / "bin" / name), *map(str, words)]
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stderr[-3000:]}"
        return done.stdout


def _site_packages() -> Path:
    import pydantic

    return Path(pydantic.__file__).parents[1]
