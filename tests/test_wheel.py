"""What is published: one package with all its data, and nothing else at the top."""

from __future__ import annotations

import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.wheels import PACKAGES, ROOT, build, copy_sources

# `test_house.py` holds, without building, that every file is shipped.
pytestmark = pytest.mark.slow

CODE = {".py", ".txt", ".json", ".typed"}
FRONT = ROOT / "runs" / "views" / "page" / "front"


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_sources(tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="module")
def wheel(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", sources, tmp_path_factory.mktemp("dist") / "wheel")


def digests(wheel: Path) -> dict[str, int]:
    """Return the checksum of every file of a wheel but those that tell of the wheel itself."""
    with zipfile.ZipFile(wheel) as file:
        return {
            info.filename: info.CRC
            for info in file.infolist()
            if ".dist-info/" not in info.filename
        }


def ours() -> Iterator[Path]:
    """Every file of the packages, by its path in the repository; of pages, what was built."""
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and FRONT not in path.parents:
                yield path.relative_to(ROOT)
    for path in (FRONT / "page.html", *FRONT.glob("licences/*"), *FRONT.glob("dist/*.*")):
        yield path.relative_to(ROOT)


def test_only_one_name_stands_at_the_top(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert tops == {"videoautoarena", f"videoautoarena-{version}.dist-info"}


def test_every_file_of_a_package_is_in_it_and_no_other(wheel: Path) -> None:
    expected = {f"videoautoarena/{path}" for path in ours()}
    assert set(digests(wheel)) == expected | {
        "videoautoarena/__init__.py",
        "videoautoarena/py.typed",
    }
    front = {name for name in expected if name.startswith("videoautoarena/runs/views/page/front/")}
    assert {Path(name).suffix for name in front} == {".js", ".css", ".html", ".txt"}
    kinds = {Path(name).suffix or Path(name).name for name in expected - front}
    assert kinds <= CODE | {"py.typed"}


def test_the_commands_are_those_of_the_project(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith("/entry_points.txt"))
        lines = file.read(name).decode().split("\n")
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert {f"{name} = {place}" for name, place in scripts.items()} <= set(lines)


def test_the_sdist_has_files_for_links_and_builds_the_same_wheel(
    sources: Path, wheel: Path, tmp_path: Path
) -> None:
    sdist = build("sdist", sources, tmp_path / "sdist")
    with tarfile.open(sdist) as file:
        assert not [one.name for one in file.getmembers() if one.issym() or one.islnk()]
        file.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    assert digests(build("wheel", unpacked, tmp_path / "wheel")) == digests(wheel)
