"""The machine of somebody who is handed a file: commands typed there, and all that they touch.

One process imports the program, and each command is a fork of it, so that hundreds are typed in a
minute. Run as `python -m tests.support.victim` it is that process.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from tests.support.forks import ROOT, import_all

LIMIT_S = 120
"""No command takes as long; one that does is killed, and fails its test."""
SOURCE = ROOT / "src"


@dataclass(frozen=True)
class Done:
    """What a command came to, and what it touched; processes that it started are part of it."""

    code: int
    out: str
    err: str
    opened: tuple[Path, ...]
    """Files and folders."""
    read: frozenset[str]
    """Variables of the environment."""
    called: tuple[str, ...]
    """Addresses."""


class Victim:
    """A home, a folder to work in and an environment; use it with `with`."""

    def __init__(self, place: Path, *, packages: Sequence[Path] = (), **env: str) -> None:
        self.place = place
        self.home = place / "home"
        self.work = place / "work"
        for folder in (self.home, self.work, place / "tmp"):
            folder.mkdir(parents=True)
        paths = [*map(str, packages), os.environ["PYTHONPATH"]]
        # A home of its own for all that is kept, cached or configured.
        homes = {"HOME": self.home, "XDG_STATE_HOME": self.home / "state"}
        homes |= {"XDG_CACHE_HOME": self.home / "cache", "XDG_CONFIG_HOME": self.home / "config"}
        self.env = {
            **os.environ,
            **{name: str(path) for name, path in homes.items()},
            "PYTHONPATH": os.pathsep.join(paths),
            "TMPDIR": str(place / "tmp"),
            **env,
        }
        self._count = 0
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.victim"],
            cwd=ROOT,
            env=self.env,
            stdin=pipe,
            stdout=pipe,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def type(self, *words: str | Path, cwd: Path | None = None, **env: str) -> Done:
        """Run a command to its end: `arena` or `simulate` and its words, or `python` and code."""
        with self._started(words, cwd, env) as command:
            pass
        return command.done()

    def visit(self, *words: str | Path, pages: Sequence[str]) -> tuple[Done, dict[str, int]]:
        """Run a command that serves pages, open these and end it; with the status of each."""
        with self._started(words, None, {}) as command:
            link = command.link()
            found = _visited(link, pages) if link else {}
            if link:
                os.kill(command.pid, signal.SIGINT)
        return command.done(), found

    @contextmanager
    def _started(
        self, words: Sequence[str | Path], cwd: Path | None, env: Mapping[str, str]
    ) -> Iterator[_Command]:
        self._count += 1
        base = self.place / f"command-{self._count}"
        files = {name: str(base.with_suffix(f".{name}")) for name in ("out", "err", "log")}
        typed = {"words": list(map(str, words)), "cwd": str(cwd or self.work), **files}
        command = _Command(self._ask(**typed, env={**self.env, **env})["pid"], files)
        killer = threading.Timer(LIMIT_S, os.kill, (command.pid, signal.SIGKILL))
        killer.start()
        yield command
        command.code = self._ask(wait=command.pid)["code"]
        killer.cancel()

    def _ask(self, **order: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


class _Command:
    def __init__(self, pid: int, files: Mapping[str, str]) -> None:
        self.pid = pid
        self.code = 0
        self._files = files

    def text(self, name: str) -> str:
        path = Path(self._files[name])
        return path.read_text(errors="replace") if path.exists() else ""

    def link(self) -> str | None:
        """Return where its pages are; None where it ended without any."""
        while "\n" not in self.text("out"):
            if _has_ended(self.pid):
                return None
            time.sleep(0.01)
        return self.text("out").split("\n")[0].rpartition(" ")[2]

    def done(self) -> Done:
        notes = [json.loads(line) for line in self.text("log").splitlines()]
        said: dict[str, list[str]] = {"opened": [], "read": [], "called": []}
        for what, value in notes:
            said[what].append(value)
        return Done(
            self.code,
            self.text("out"),
            self.text("err"),
            tuple(map(Path, dict.fromkeys(said["opened"]))),
            frozenset(said["read"]),
            tuple(said["called"]),
        )


def _has_ended(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat").read_text()
    return stat.rpartition(")")[2].split()[0] == "Z"


def _visited(link: str, pages: Sequence[str]) -> dict[str, int]:
    port, _, path = link.partition("//")[2].partition(":")[2].partition("/")
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=LIMIT_S)
    connection.request("GET", f"/{path}")
    first = connection.getresponse()
    first.read()
    headers = {"Cookie": (first.getheader("Set-Cookie") or "").partition(";")[0]}
    found = {}
    for page in pages:
        connection.request("GET", page, headers=headers)
        answer = connection.getresponse()
        answer.read()
        found[page] = answer.status
    connection.close()
    return found


def _main() -> None:
    import_all()
    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            _, status = os.waitpid(order["wait"], 0)
            answer = {"code": os.waitstatus_to_exitcode(status)}
        else:
            answer = {"pid": os.fork()}
            if not answer["pid"]:
                _run(order)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _run(order: Mapping[str, Any]) -> NoReturn:
    import watching

    for number, name in ((1, "out"), (2, "err")):
        file = os.open(order[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update({**order["env"], watching.LOG: order["log"]})
    watching.watch(order["log"])
    os._exit(_code(order["words"]))


def _code(words: Sequence[str]) -> int:
    from videoautoarena.runs.cli.program.main import arena_main, simulate_main

    is_code = words[0] == "python"
    sys.argv = list(words[1:] if is_code else words)
    try:
        if is_code:
            exec(words[1], {"__name__": "__main__"})
        else:
            {"arena": arena_main, "simulate": simulate_main}[words[0]]()
    except SystemExit as end:
        return int(end.code or 0)
    except Exception:  # noqa: BLE001  whatever it is, it is what the test looks for
        import traceback

        traceback.print_exc()
        return 70
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    _main()
