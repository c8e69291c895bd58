"""A reader who has nothing but the README gets to a leaderboard on a server of their own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.clips import copy_but_one
from tests.support.loopback import serving

README = Path(__file__).parents[2] / "README.md"
NAMES = {"YOUR-FIRST-MODEL": "hawk", "YOUR-SECOND-MODEL": "mole", "YOUR-REFEREE": "examiner"}
"""What the server of the test calls its models."""


def first_run() -> tuple[str, list[str]]:
    """Return the file and the lines that the README's section on a first run tells to write."""
    found = re.search(
        r"^### A first run on a server of your own\n(.*?)^#", README.read_text(), re.M | re.S
    )
    assert found
    (toml,), (lines,) = (
        re.findall(rf"^```{language}\n(.*?)^```$", found[1], re.M | re.S)
        for language in ("toml", "sh")
    )
    return toml, lines.splitlines()


def typed(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Return what a line comes to in `folder`, in a shell that finds the installed commands."""
    place = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = os.environ | {"PATH": place}
    return subprocess.run(["sh", "-c", line], cwd=folder, env=env, capture_output=True, text=True)


def test_the_very_lines_of_the_readme_lead_to_a_leaderboard(
    tmp_path: Path, sample_clips: Path
) -> None:
    copy_but_one(sample_clips, tmp_path / "clips")
    toml, lines = first_run()
    said = {}
    with serving(tmp_path / "log") as server:
        toml = toml.replace("http://127.0.0.1:8000/v1", server.openai_url)
        for capitals, name in NAMES.items():
            toml = toml.replace(capitals, name)
        (tmp_path / "arena.toml").write_text(toml)
        for line in lines:
            done = typed(line, tmp_path)
            # What answers here knows no question but an arena's, and the doctor notices.
            expected = 1 if "--live" in line else 0
            assert done.returncode == expected, f"{line}\n{done.stdout}{done.stderr}"
            said[line if "--live" in line else " ".join(shlex.split(line)[:2])] = done.stdout
        sent = [event["model"] for event in server.events("arrived")]
    assert set(sent) == set(NAMES.values())
    assert said["arena doctor --live"].count("does NOT see the images it is sent") == len(NAMES)
    board = said["arena leaderboard"]
    assert re.search(r"^–.*\bone\b", board, re.M)
    assert re.search(r"\btwo\b", board)
    assert "battles decided on 2 videos" in board
    _, _, _, rule, *listed = said["arena battles"].splitlines()
    assert set(rule) == {"-"}
    assert sum(not line.startswith(" ") for line in listed) == 6


@pytest.mark.slow
def test_the_first_lines_of_the_readme_play_and_show_a_run_in_an_empty_folder(
    tmp_path: Path,
) -> None:
    found = re.search(r"^## Two commands\n(.*?)^## ", README.read_text(), re.M | re.S)
    assert found
    made, lines = re.findall(r"^```sh\n(.*?)^```$", found[1], re.M | re.S)
    assert [line.split()[:2] for line in made.splitlines()] == [["make", "demo"], ["make", "test"]]
    said = []
    for line in lines.splitlines():
        done = typed(line, tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        said.append(done.stdout)
    assert "offline:hawk" in said[2]
    assert (tmp_path / "my-run/report.html").is_file()
    assert said[-1].startswith("why this battle: ")


def test_nothing_of_the_file_is_to_be_replaced_but_what_the_readme_says() -> None:
    toml, lines = first_run()
    assert set(re.findall(r"[A-Z][A-Z-]{3,}", toml)) == set(NAMES)
    assert [shlex.split(line)[0] for line in lines] == [
        "arena", "arena", "arena", "simulate", "arena", "arena",
    ]  # fmt: skip
