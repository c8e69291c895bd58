"""What is forked for a test is a process as a person starts it, but for its imports."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.forks import Fork, ended, started
from tests.support.whole_runs import command

pytestmark = pytest.mark.slow
PIPE = subprocess.PIPE
TELLS = "import os, sys; print(os.getpid(), os.getcwd(), os.environ.get('ONE'), *sys.argv[1:])"
WAITS = "import time; print('up', flush=True); time.sleep(600)"


def program(text: str, *words: str) -> list[str]:
    return [sys.executable, "-c", text, *words]


def test_it_has_its_own_number_folder_environment_and_words(tmp_path: Path) -> None:
    env = {**os.environ, "ONE": "1"}
    with started(program(TELLS, "a", "b"), env=env, cwd=tmp_path, stdout=PIPE, text=True) as one:
        out, err = one.communicate()
    assert isinstance(one, Fork)
    assert (out, err) == (f"{one.pid} {tmp_path} 1 a b\n", None)
    assert "ONE" not in os.environ


def test_a_command_says_what_it_says_and_ends_as_it_ends_when_a_shell_starts_it() -> None:
    for words in (["status", "/nowhere"], ["--version"], ["statos"]):
        line = command("arena", *words)
        own = subprocess.run(line, capture_output=True, text=True)
        forked = ended(line)
        assert (forked.returncode, forked.stdout, forked.stderr) == (
            own.returncode,
            own.stdout,
            own.stderr,
        )


def test_a_signal_ends_it_alone_and_is_told_as_its_code() -> None:
    with (
        started(program(WAITS), stdout=PIPE) as one,
        started(program(WAITS), stdout=PIPE, stderr=subprocess.DEVNULL, text=True) as other,
    ):
        assert one.stdout is not None
        assert other.stdout is not None
        assert (one.stdout.readline(), other.stdout.readline()) == (b"up\n", "up\n")
        one.kill()
        assert one.wait(60) == -signal.SIGKILL
        with pytest.raises(subprocess.TimeoutExpired):
            other.communicate(timeout=0.1)
        assert other.poll() is None
        other.send_signal(signal.SIGINT)
        other.communicate(timeout=60)
        assert other.returncode == -signal.SIGINT


def test_what_an_interpreter_reads_as_it_starts_makes_it_start(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])}
    with started(program("import sys; sys.exit(3)"), env=env) as one:
        pass
    assert not isinstance(one, Fork)
    assert one.returncode == 3
