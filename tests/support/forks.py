"""Processes of the project that import nothing: forks of one that has imported all of it.

Each has its own number, environment, folder and streams, and a signal reaches it alone; only the
two seconds of imports are not paid at every start. Where a start itself is tested, it is made with
`subprocess`.
"""

from __future__ import annotations

import atexit
import importlib
import io
import json
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parents[2]
GLANCE_S = 0.01
MOST_BYTES = 1 << 18
OF_PYTHON = ("PYTHON", "LD_", "LC_", "LANG")
"""Beginnings of variables that are read as an interpreter starts."""
MODULE = "-m"
PROGRAM = "-c"


def started(
    line: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
    text: bool = False,
    start_new_session: bool = False,
) -> Process:
    """Start a command line as `subprocess.Popen` does, by a fork where it is one of the project."""
    around = dict(os.environ if env is None else env)
    if can_fork(line) and of_python(around) == of_python(os.environ):
        return Fork(
            line, around, cwd, stdout=stdout, stderr=stderr, text=text, session=start_new_session
        )
    return subprocess.Popen(
        line,
        env=around,
        cwd=cwd,
        stdout=stdout,
        stderr=stderr,
        text=text,
        start_new_session=start_new_session,
    )


def ended(
    line: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command line to its end, and return what it said and how it ended."""
    pipe = subprocess.PIPE
    with started(line, env=env, cwd=cwd, stdout=pipe, stderr=pipe, text=True) as process:
        out, err = process.communicate()
    return subprocess.CompletedProcess(line, process.wait(), out, err)


def can_fork(line: Sequence[str]) -> bool:
    """Return whether a line is `simulate` or `arena` here, a program, or a module with a `main`."""
    own = Path(sys.executable)
    if Path(line[0]) == own:
        return line[1] == PROGRAM or has_main(line[2])
    return Path(line[0]).parent == own.parent and Path(line[0]).name in ("simulate", "arena")


@cache
def has_main(module: str) -> bool:
    """Return whether a module of what tests share does what it is for in a function `main`."""
    file = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    return module.startswith("tests.support.") and "\ndef main(" in file.read_text()


def of_python(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that an interpreter reads as it starts."""
    return {name: value for name, value in env.items() if name.startswith(OF_PYTHON)}


class Fork:
    """A running fork; it is waited for, read and ended as a `subprocess.Popen`."""

    def __init__(
        self,
        line: Sequence[str],
        env: Mapping[str, str],
        cwd: Path | None,
        *,
        stdout: int | None,
        stderr: int | None,
        text: bool,
        session: bool,
    ) -> None:
        self.args = line
        self.returncode: int | None = None
        self._text = text
        self.stdout, out = _stream(stdout, 1, text=text)
        self.stderr, err = _stream(stderr, 2, text=text, out=out)
        self._read = {stream: b"" for stream in (self.stdout, self.stderr) if stream is not None}
        told = {"line": list(line), "env": dict(env), "cwd": str(cwd or Path.cwd())}
        self.pid = int(_parent().asked({**told, "session": session}, (out, err))["pid"])
        for file in {out, err} - {1, 2}:
            os.close(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in self._read:
            stream.close()
        self.wait()

    def poll(self) -> int | None:
        """Return the exit code, a signal's number below 0; None while it runs."""
        if self.returncode is None:
            self.returncode = _parent().asked({"look": self.pid})["code"]
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code."""
        end = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            time.sleep(GLANCE_S)
        return code

    def communicate(self, timeout: float | None = None) -> tuple[Any, Any]:
        """Read both streams to their ends, wait for the process, and return what they held."""
        end = None if timeout is None else time.monotonic() + timeout
        with selectors.DefaultSelector() as selector:
            for stream in self._read:
                if not stream.closed:
                    selector.register(stream, selectors.EVENT_READ)
            while selector.get_map():
                left = None if end is None else max(0.0, end - time.monotonic())
                ready = selector.select(left)
                if not ready:
                    raise subprocess.TimeoutExpired(self.args, timeout or 0)
                for key, _ in ready:
                    self._take(key.fileobj, selector)
        self.wait(None if end is None else max(0.0, end - time.monotonic()))
        return self._told(self.stdout), self._told(self.stderr)

    def _take(self, stream: Any, selector: selectors.BaseSelector) -> None:
        found = os.read(stream.fileno(), 1 << 16)
        self._read[stream] += found
        if not found:
            selector.unregister(stream)
            stream.close()

    def _told(self, stream: io.FileIO | None) -> Any:
        if stream is None:
            return None
        return self._read[stream].decode() if self._text else self._read[stream]

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Send it SIGKILL."""
        self.send_signal(signal.SIGKILL)


class Lines(io.FileIO):
    """A pipe whose lines are text; none is read ahead of what is asked for."""

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        """Return the next line."""
        return super().readline(size).decode()


def _stream(
    asked: int | None, own: int, *, text: bool, out: int = -1
) -> tuple[io.FileIO | None, int]:
    """Return the end of a stream that is read here, if any, and the file that a fork writes."""
    if asked == subprocess.PIPE:
        ours, theirs = os.pipe()
        return (Lines if text else io.FileIO)(ours), theirs
    if asked == subprocess.STDOUT:
        return None, out
    if asked == subprocess.DEVNULL:
        return None, os.open(os.devnull, os.O_WRONLY)
    return None, own if asked is None else os.dup(asked)


class Parent:
    """The process that has imported everything, and waits for what it is to become."""

    def __init__(self) -> None:
        self._door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, MODULE, "tests.support.forks", str(theirs.fileno())],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._lock = threading.Lock()
        atexit.register(self.close)

    def asked(self, order: Mapping[str, Any], files: Sequence[int] = ()) -> dict[str, Any]:
        """Return what is answered to an order."""
        with self._lock:
            socket.send_fds(self._door, [json.dumps(order).encode()], list(files))
            answer: dict[str, Any] = json.loads(self._door.recv(MOST_BYTES))
        return answer

    def close(self) -> None:
        """End it."""
        self._door.close()
        self._process.wait()


Process = Fork | subprocess.Popen[Any]


@cache
def _parent() -> Parent:
    return Parent()


def _main() -> None:
    import_all()
    door = socket.socket(fileno=int(sys.argv[1]))
    ended: dict[int, int] = {}
    while True:
        said, files, _, _ = socket.recv_fds(door, MOST_BYTES, 2)
        if not said:
            return
        order = json.loads(said)
        if "look" in order:
            answer = {"code": _looked(order["look"], ended)}
        else:
            answer = {"pid": os.fork()}
            if not answer["pid"]:
                door.close()
                _become(order, files)
                return
        for file in files:
            os.close(file)
        door.send(json.dumps(answer).encode())


def _looked(pid: int, ended: dict[int, int]) -> int | None:
    if pid not in ended:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            ended[pid] = os.waitstatus_to_exitcode(status)
    return ended.get(pid)


def import_all() -> None:
    """Import what commands import, so that no fork has to."""
    import videoautoarena.runs

    for module in pkgutil.walk_packages(videoautoarena.runs.__path__, "videoautoarena.runs."):
        if not module.name.startswith("videoautoarena.runs.cluster"):
            importlib.import_module(module.name)
    for name in ("graph.tournament", "graph.newcomer", "agents.offline"):
        importlib.import_module(f"videoautoarena.{name}")
    for name in ("langchain_openai", "langchain_google_genai", "tests.support.loopback"):
        importlib.import_module(name)


def _become(order: Mapping[str, Any], files: Sequence[int]) -> None:
    """Be what a line asks for, until it ends as a process of its own would."""
    for number, file in enumerate(files, start=1):
        os.dup2(file, number)
    for file in {*files} - {1, 2}:
        os.close(file)
    if order["session"]:
        os.setsid()
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    first, *rest = order["line"]
    if rest[:1] == [PROGRAM]:
        sys.argv = [PROGRAM, *rest[2:]]
        exec(rest[1], {"__name__": "__main__"})
        return
    if rest[:1] == [MODULE]:
        sys.argv = rest[1:]
        importlib.import_module(rest[1]).main()
        return
    from videoautoarena.runs.cli.program import main

    # What multiprocessing imports first into processes that it spawns.
    begun = sys.modules["__main__"]
    begun.__spec__ = None
    begun.__file__ = first
    sys.argv = [first, *rest]
    sys.path[0] = str(Path(first).parent)
    sys.exit({"simulate": main.simulate_main, "arena": main.arena_main}[Path(first).name]())


if __name__ == "__main__":
    _main()
