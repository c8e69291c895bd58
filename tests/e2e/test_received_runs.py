"""A run from somebody else is read and played on, and leads nowhere by itself."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.canary import IS_POSSIBLE, watched
from tests.support.clips import draw_folder
from tests.support.loopback import ROOT, serving
from tests.support.received import (
    CHANGES,
    LEADING,
    SECRET,
    VARIABLE,
    Attack,
    Genuine,
    call_bad,
    changed,
    plant_package,
    play_part,
)
from tests.support.victim import Done, Victim
from tests.support.whole_runs import KEY

pytestmark = pytest.mark.skipif(not IS_POSSIBLE, reason="inotify is Linux's")
LONGEST_LINE = 2000
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
ASKED = '{"question": "What does the heron do?"}\n{"question": "How many boats are there?"}\n'
PLAYERS = ("--model", "offline:hawk,offline:mole", "--judge", "offline:judge")


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Genuine]:
    """A run that was played elsewhere, and is to go on; its server stays up."""
    place = tmp_path_factory.mktemp("theirs")
    with pytest.MonkeyPatch.context() as env, serving(place / "log") as server:
        env.setenv("LOOPBACK_KEY", KEY)
        yield play_part(place, server)


@dataclass
class Scene:
    """A victim, and whatever somebody could be after there."""

    victim: Victim
    attack: Attack
    place: Path
    marker: Path
    allowed: tuple[Path, ...]

    def complaints(self, done: Done, also: Sequence[Path] = ()) -> Iterator[str]:
        """Yield what a command did that its user never asked for."""
        if done.code not in (0, 1, 2, 3, 4, 5):
            yield f"ended with {done.code}: {done.err[-1500:]}"
        if "Traceback" in done.out + done.err:
            yield f"a traceback: {done.err[-1500:]}"
        if VARIABLE in done.read:
            yield "the variable was read"
        if SECRET in done.out + done.err:
            yield "the secret was said"
        if self.marker.exists():
            self.marker.unlink()
            yield "a class was imported"
        for line in done.err.splitlines():
            if len(line) > LONGEST_LINE:
                yield f"a line of {len(line)} characters: {line[:80]!r}"
        for line in (done.out + done.err).splitlines():
            if CONTROL.search(line):
                yield f"control characters: {line[:200]!r}"
        for path in done.opened:
            if not any(path.is_relative_to(one) for one in (*self.allowed, *also)):
                yield f"opened {path}"


def installed() -> tuple[Path, ...]:
    """Return where Python, its packages and the project lie, and what every process opens."""
    folders = [sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *sys.path, str(ROOT)]
    system = ("/proc", "/dev/null", "/sys", "/etc/mime.types", "/etc/os-release", "/usr/share")
    found = {Path(one) for one in (*folders, *system) if one}
    return tuple(found | {Path(os.path.realpath(one)) for one in found})


Words = Callable[[Path, Path], list[str | Path]]
READING: dict[str, Words] = {
    "status": lambda out, _to: ["status", out],
    "leaderboard": lambda out, _to: ["leaderboard", out],
    "battles": lambda out, _to: ["battles", out, "--jsonl"],
    "profile": lambda out, _to: ["profile", out],
    "audit": lambda out, _to: ["audit", out],
    "replay": lambda out, _to: ["replay", out],
    "report": lambda out, to: ["report", out, "--to", to / "report.html"],
    "frames": lambda out, to: ["frames", "SEEN", "--run", out, "--to", to / "frames.png"],
    "export": lambda out, to: ["export", out, "--to", to / "calls.jsonl"],
    "export setup": lambda out, _to: ["export", out, "--what", "setup"],
    "export inspect": lambda out, to: [
        *("export", out, "--what", "battles", "--format", "inspect"),
        *("--to", to / "logs", "--frames", "2"),
    ],
    "merge": lambda out, to: ["merge", out, "OTHER", "--to", to / "merged"],
    "freeze": lambda out, to: ["freeze", out, "--to", to / "bench"],
    "freeze --with-videos": lambda out, to: [
        *("freeze", out, "--to", to / "copied", "--with-videos"),
    ],
    "compact": lambda out, _to: ["compact", out],
    "labels sample": lambda out, to: [
        *("labels", "sample", out, "--n", "2", "--to", to / "labels.csv"),
    ],
}
CALLING: dict[str, Words] = {
    "freeze --hard": lambda out, to: ["freeze", out, "--to", to / "hard", "--hard", "--quiet"],
    "freeze --name-topics": lambda out, to: [
        *("freeze", out, "--to", to / "named", "--by", "topic", "--size", "2"),
        *("--name-topics", "judge"),
    ],
    "add typed": lambda out, _to: ["add", out, "--model", "openai:gpt-4o", "--quiet"],
    "add --plan": lambda out, _to: ["add", out, "--model", "openai:gpt-4o", "--plan"],
    "add": lambda out, _to: ["add", out, "--model", "offline:parrot", "--quiet"],
    "rejudge": lambda out, _to: ["rejudge", out, "--judge", "judge", "--quiet"],
    "rejudge typed": lambda out, _to: ["rejudge", out, "--judge", "openai:gpt-4o", "--quiet"],
    "audit --trials": lambda out, _to: ["audit", out, "--trials", "--cases", "2", "--quiet"],
    "categories tag": lambda out, _to: ["categories", "tag", out, "--quiet"],
    "realism": lambda out, to: [
        *("realism", out, "--against", to / "asked.jsonl", "--classifier", "examiner", "--quiet"),
    ],
    "resume": lambda out, _to: ["resume", out, "--quiet", "--patience", "0"],
}
PICTURES = ("report", "frames", "export inspect", "freeze --with-videos")
"""Reading commands that open videos, where their folder is known."""
API = """
import sys, videoautoarena as va
with va.open_run(sys.argv[1]) as run:
    for ask in (
        lambda: run.models, run.leaderboard, run.battles, run.audit, run.status,
        lambda: run.frames(run.battles()[0].video),
    ):
        try:
            repr(ask())
        except va.ArenaError as wrong:
            print(str(wrong))
"""
VIEW = ("/", "/api/runs", "/api/summary", "/api/index", "/api/videos", "/api/part/0")


@contextmanager
def scene_in(place: Path) -> Iterator[Scene]:
    """A victim with a key in the environment, and with clips that nobody was shown."""
    private = draw_folder(place / "private", 1, seconds=3)
    (private / "canary.srt").write_text("1\n00:00:00,500 --> 00:00:02,000\nprivate\n")
    marker = place / "imported"
    package = plant_package(place / "packages", marker)
    attack = Attack("http://127.0.0.1:9/v1", private, private / "clip00.mp4")
    env = {VARIABLE: SECRET, "LOOPBACK_KEY": KEY}
    with Victim(place / "machine", packages=[package], **env) as victim:
        allowed = (*installed(), place / "machine", place / "received", place / "packages")
        yield Scene(victim, attack, place, marker, allowed)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A victim to whom nobody has shown anything yet."""
    with scene_in(tmp_path_factory.mktemp("victim")) as found:
        yield found


def cell(done: Done) -> str:
    """Return in a word what a command came to."""
    return {0: "done", 1: "refused", 2: "refused"}.get(done.code, f"code {done.code}")


@dataclass
class Table:
    """What commands came to, by the change of the run."""

    name: str
    rows: dict[str, dict[str, str]]

    def show(self) -> None:
        """Print it, where tests are run with -s."""
        columns = list(dict.fromkeys(name for row in self.rows.values() for name in row))
        lines = [f"{self.name} | " + " | ".join(columns), "---|" * (len(columns) + 1)]
        lines += [
            f"{change} | " + " | ".join(row.get(name, "") for name in columns)
            for change, row in self.rows.items()
        ]
        sys.stdout.write("\n" + "\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def tables() -> Iterator[Callable[[str], Table]]:
    """Tables by their names, which are printed in the end."""
    made: dict[str, Table] = {}
    yield lambda name: made.setdefault(name, Table(name, {}))
    for table in made.values():
        table.show()


class Trial:
    """Commands typed at one changed run, whose complaints are gathered."""

    def __init__(
        self,
        scene: Scene,
        theirs: Genuine,
        change: str,
        row: dict[str, str],
        *,
        opens: Sequence[Path] = (),
        calls: Sequence[str] = (),
    ) -> None:
        self.scene, self.theirs, self.row = scene, theirs, row
        self.opens, self.calls = opens, calls
        name = re.sub(r"\W", "-", change)
        self.to = scene.victim.work / name
        self.to.mkdir()
        (self.to / "asked.jsonl").write_text(ASKED)
        folder = scene.place / "received" / name
        self.out = changed(theirs, folder, change, scene.attack)
        self.complaints: list[str] = []

    def note(self, name: str, done: Done) -> Done:
        """Keep what a command came to, and what it did that nobody asked for."""
        self.row[name] = cell(done)
        wrong = [*self.scene.complaints(done, also=(self.theirs.other, *self.opens))]
        wrong += [f"called {one}" for one in done.called if one not in self.calls]
        self.complaints += [f"{name}: {one}" for one in wrong]
        return done

    def type(self, name: str, words: Words) -> Done:
        """Type a command."""
        known: dict[str | Path, str | Path] = {"SEEN": self.theirs.seen, "OTHER": self.theirs.other}
        typed = [known.get(word, word) for word in words(self.out, self.to)]
        return self.note(name, self.scene.victim.type("arena", *typed))

    def visit(self) -> None:
        """Open the pages of a run."""
        for name, pages in (("view", VIEW), ("annotate", ("/",))):
            done, _ = self.scene.victim.visit("arena", name, self.out, pages=pages)
            self.note(name, done)


@contextmanager
def unseen(scene: Scene) -> Iterator[None]:
    """Fail where anybody lists the private folder or opens the clip in it meanwhile."""
    with watched(scene.attack.private) as folder, watched(scene.attack.clip) as clip:
        yield
        assert not clip.has_sung()
        assert not folder.has_sung()


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_where_nothing_was_agreed_to_nothing_is_called_read_or_opened(
    change: str, theirs: Genuine, scene: Scene, tables: Callable[[str], Table]
) -> None:
    row = tables("of a stranger").rows.setdefault(change, {})
    trial = Trial(scene, theirs, change, row)
    with unseen(scene):
        for name, words in READING.items():
            trial.type(name, words)
        trial.visit()
        call_bad(trial.out)
        for name, words in CALLING.items():
            trial.type(name, words)
        trial.note("API", scene.victim.type("python", API, trial.out))
    assert not trial.complaints, "\n".join(trial.complaints)
    assert {row[name] for name in CALLING if name != "add --plan"} == {"refused"}
    if change == "nothing":
        needs_folder = {"freeze --with-videos", "frames"}
        assert {row[name] for name in READING if name not in needs_folder} == {"done"}


@pytest.fixture(scope="module")
def friend(theirs: Genuine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A victim who has agreed to where the genuine run leads, and has played it to its end."""
    with scene_in(tmp_path_factory.mktemp("friend")) as found:
        out = changed(theirs, found.place / "received" / "genuine", "nothing", found.attack)
        question = found.victim.type("arena", "resume", out, "--quiet")
        agreed = digest_in(question.err)
        done = found.victim.type("arena", "resume", out, "--quiet", f"--trust-run={agreed}")
        assert done.code == 0, done.err
        yield found


def digest_in(refusal: str) -> str:
    return refusal.partition("--trust-run=")[2].partition(",")[0]


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_where_the_rest_was_agreed_to_what_was_changed_leads_nowhere(
    change: str, theirs: Genuine, friend: Scene, tables: Callable[[str], Table]
) -> None:
    row = tables("of a friend").rows.setdefault(change, {})
    server = str(("127.0.0.1", theirs.server.port))
    trial = Trial(friend, theirs, change, row, opens=[theirs.videos], calls=[server])
    with unseen(friend):
        for name in PICTURES:
            trial.type(name, READING[name])
        trial.visit()
        call_bad(trial.out)
        for name, words in CALLING.items():
            trial.type(name, words)
    assert not trial.complaints, "\n".join(trial.complaints)
    if change in LEADING:
        assert row["resume"] == "refused"
    if change == "nothing":
        unkeyed = ("add typed", "rejudge typed")
        assert {name for name, word in row.items() if word != "done"} == set(unkeyed)
