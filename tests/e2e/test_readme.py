"""A reader who has nothing but the README pastes its blocks, one after another, and none fails."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.clips import copy_but_one, draw_folder
from tests.support.loopback import serving
from tests.support.typed import Said, Terminal

README = Path(__file__).parents[2] / "README.md"
NAMES = {"YOUR-FIRST-MODEL": "hawk", "YOUR-SECOND-MODEL": "mole", "YOUR-REFEREE": "examiner"}
"""What the server of the test calls its models."""
SERVERS = ("arena view", "arena annotate")
"""They print a link and serve pages until somebody ends them."""


def blocks() -> list[tuple[str, str]]:
    """Return every block of the README with its language, in order."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", README.read_text(), re.M | re.S)


def first_run() -> tuple[str, list[str]]:
    """Return the file and the lines that the README's section on a first run tells to write."""
    found = re.search(
        r"^## A first run on a server of your own\n(.*?)\Z", README.read_text(), re.M | re.S
    )
    assert found
    toml, _ = re.findall(r"^```toml\n(.*?)^```$", found[1], re.M | re.S)
    (lines,) = re.findall(r"^```sh\n(.*?)^```$", found[1], re.M | re.S)
    return toml, lines.splitlines()


def surroundings() -> dict[str, str]:
    """Return those of a shell that finds the installed commands, and opens no browser."""
    place = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return os.environ | {"PATH": place, "BROWSER": "true"}


def typed(line: str, terminal: Terminal) -> Said:
    """Return what a line of the README comes to."""
    name, *words = shlex.split(line)
    return (terminal.simulate if name == "simulate" else terminal.arena)(*words)


def served(line: str, folder: Path) -> Said:
    """Return what a line gives that serves pages, once it has printed its link and Ctrl-C came."""
    with subprocess.Popen(
        shlex.split(line),
        cwd=folder,
        env=surroundings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        link = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    return Said(process.returncode, link + out, err)


def test_the_lines_for_a_server_of_ones_own_lead_to_a_leaderboard(
    terminal: Terminal, tmp_path: Path
) -> None:
    draw_folder(tmp_path / "clips", 3, seconds=2)
    toml, lines = first_run()
    said = {}
    with serving(tmp_path / "log") as server:
        toml = toml.replace("http://127.0.0.1:8000/v1", server.openai_url)
        for capitals, name in NAMES.items():
            toml = toml.replace(capitals, name)
        (tmp_path / "arena.toml").write_text(toml)
        for line in lines:
            done = typed(line, terminal)
            # What answers here knows no question but an arena's, and the doctor notices.
            expected = 1 if "--live" in line else 0
            assert done.code == expected, f"{line}\n{done.out}{done.err}"
            said[line if "--live" in line else " ".join(shlex.split(line)[:2])] = done.out
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
def test_every_block_before_it_runs_in_one_folder_without_a_key_or_a_network(
    terminal: Terminal, tmp_path: Path, sample_clips: Path
) -> None:
    copy_but_one(sample_clips, tmp_path / "clips")
    pasted = [body for language, body in blocks() if language == "sh"]
    made, *others = pasted[:-1]
    assert [line.split()[:2] for line in made.splitlines()] == [["make", "demo"], ["make", "test"]]
    said = {}
    for line in "".join(others).splitlines():
        done = served(line, tmp_path) if line.startswith(SERVERS) else typed(line, terminal)
        assert done.code == 0, f"{line}\n{done.out}{done.err}"
        assert "Traceback" not in done.err
        said[line] = done.out
    assert "offline:hawk" in said["arena leaderboard my-run"]
    assert (tmp_path / "my-run/report.html").is_file()
    assert said["arena show my-run"].startswith("why this battle: ")
    assert "hawk beat owl" in said["arena battles my-run --pair hawk,owl --sort surprise"]
    assert "offline:owl" in said["arena bench score my-bench"]
    links = [said[line] for line in said if line.startswith(SERVERS)]
    assert len(links) == 2
    assert all("http://127.0.0.1:" in link for link in links)


def test_nothing_of_the_file_is_to_be_replaced_but_what_the_readme_says() -> None:
    toml, lines = first_run()
    assert set(re.findall(r"[A-Z][A-Z-]{3,}", toml)) == set(NAMES)
    assert [shlex.split(line)[0] for line in lines] == [
        "arena", "arena", "simulate", "arena", "arena",
    ]  # fmt: skip
