"""A run from somebody else is read and played on, and leads nowhere by itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from watching import LOG

from tests.support import rayed
from tests.support.canary import IS_POSSIBLE, watched
from tests.support.clips import draw_folder
from tests.support.loopback import ROOT, serving
from tests.support.received import (
    BENCH_PLAY,
    CHANGES,
    DECLARED,
    LEADING,
    PLAYING,
    SECRET,
    SET_CHANGES,
    VARIABLE,
    Attack,
    Genuine,
    SharedSets,
    call_bad,
    changed,
    entry,
    make_sets,
    making,
    plant_package,
    play_part,
)
from tests.support.small_runs import altered, play
from tests.support.typed import Terminal, run
from tests.support.victim import Done, Victim
from tests.support.whole_runs import KEY, battles

pytestmark = pytest.mark.skipif(not IS_POSSIBLE, reason="inotify is Linux's")
LONGEST_LINE = 2000
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
ASKED = "".join(
    json.dumps({"question": "How many boats are there?", "video": f"clip0{k}.mp4"}) + "\n"
    for k in range(4)
)
IS_WHOLE = "WHOLE_TABLE" in os.environ
OF_A_FRIEND = tuple(CHANGES)[:: 1 if IS_WHOLE else 4]
"""What is tried on those who agreed to the rest: it takes ten minutes, so a part, unless asked."""
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
    system = (
        "/proc",
        "/dev/null",
        "/dev/fd",
        "/sys",
        "/etc/mime.types",
        "/etc/os-release",
        "/usr/share",
    )
    found = {Path(one) for one in (*folders, *system) if one}
    return tuple(found | {Path(os.path.realpath(one)) for one in found})


Words = Callable[[Path, Path], list[str | Path]]
READING: dict[str, Words] = {
    "status": lambda out, _to: ["status", out],
    "leaderboard": lambda out, _to: ["leaderboard", out],
    "battles": lambda out, _to: ["battles", out, "--jsonl"],
    "profile": lambda out, _to: ["leaderboard", out, "--profile"],
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
    "realism --difficulty": lambda out, to: [
        *("realism", out, "--against", to / "asked.jsonl", "--difficulty", "--quiet"),
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
OF_A_VIDEO = ("/api/video/{}", "/api/frame/{}/0", "/api/sprite/{}")


def dealt(commands: Iterable[str], changes: Iterable[str], change: str, share: int) -> list[str]:
    """Return every so manieth command, others for the next change; unless the whole is asked for.

    What nobody changed is read and played on by all of them.
    """
    names = list(commands)
    place = list(changes).index(change)
    if IS_WHOLE or change == "nothing":
        return names
    return [name for number, name in enumerate(names) if (number + place) % share == 0]


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
        self.scene = scene
        self.theirs = theirs
        self.row = row
        self.opens = opens
        self.calls = calls
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

    def visit(self) -> dict[str, int]:
        """Open the pages of a run; return what those of its video were answered."""
        shown = tuple(page.format(self.theirs.seen_id) for page in OF_A_VIDEO)
        done, _ = self.scene.victim.visit("arena", "annotate", self.out, pages=("/",))
        self.note("annotate", done)
        pages = (*VIEW, *shown)
        done, found = self.scene.victim.visit("arena", "view", self.out, pages=pages)
        self.note("view", done)
        return {page: found.get(page, 0) for page in shown}


@contextmanager
def unseen(scene: Scene) -> Iterator[None]:
    """Fail where anybody lists the private folder or opens the clip in it meanwhile."""
    with watched(scene.attack.private) as folder, watched(scene.attack.clip) as clip:
        yield
        assert not clip.has_sung()
        assert not folder.has_sung()


def test_a_run_that_leads_away_is_read_and_played_on_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    videos = draw_folder(tmp_path / "videos", 1, seconds=2)
    play(videos, out, models=("offline:hawk", "offline:mole"), rounds=1)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "nothing is agreed to"))
    monkeypatch.setenv(VARIABLE, SECRET)
    monkeypatch.syspath_prepend(plant_package(tmp_path / "packages", tmp_path / "imported"))
    with closing(socket.create_server(("127.0.0.1", 0))) as server, watched(videos) as canary:
        attack = Attack(f"http://127.0.0.1:{server.getsockname()[1]}/v1", videos, videos)
        with altered(out) as file:
            away = entry("offline:hawk", model="openai:gpt-4o", base_url="SERVER", key_env=VARIABLE)
            away(file, attack)
            entry("offline:judge", model="strange:m", declared=DECLARED)(file, attack)
            file.execute("DELETE FROM battles WHERE id LIKE '%p0-r0'")
        terminal = Terminal(capsys)
        for name in ("status", "leaderboard", "audit", "battles"):
            assert terminal.arena(name, out).code == 0
        for words in (("resume",), ("add", "--model", "offline:parrot"), ("audit", "--trials")):
            said = terminal.arena(words[0], out, *words[1:])
            assert said.code == 1
            assert "go through the class planted.chat:Chat, which is imported" in said.err
            assert SECRET not in said.err
        copied = terminal.arena("freeze", out, "--with-videos", "--to", tmp_path / "bench")
        assert (copied.code, "not known here where the run's videos are" in copied.err) == (1, True)
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
        assert not canary.has_sung()
    assert not (tmp_path / "imported").exists()


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_where_nothing_was_agreed_to_nothing_is_called_read_or_opened(
    change: str, theirs: Genuine, scene: Scene, tables: Callable[[str], Table]
) -> None:
    row = tables("of a stranger").rows.setdefault(change, {})
    trial = Trial(scene, theirs, change, row)
    typed = dealt((*READING, "visit", *CALLING, "API"), CHANGES, change, 5)
    of_video: dict[str, int] = {}
    with unseen(scene):
        for name in filter(READING.get, typed):
            trial.type(name, READING[name])
        if "visit" in typed:
            of_video = trial.visit()
        call_bad(trial.out)
        for name in filter(CALLING.get, typed):
            trial.type(name, CALLING[name])
        if "API" in typed:
            trial.note("API", scene.victim.type("python", API, trial.out))
    assert not trial.complaints, "\n".join(trial.complaints)
    calling = {name for name in CALLING if name in typed and name != "add --plan"}
    assert calling
    assert {row[name] for name in calling} == {"refused"}
    if change == "nothing":
        needs_folder = {"freeze --with-videos", "frames"}
        assert {row[name] for name in READING if name not in needs_folder} == {"done"}
        assert not set(of_video.values()) & {200, 500}


@pytest.fixture(scope="module")
def sets(theirs: Genuine, tmp_path_factory: pytest.TempPathFactory) -> SharedSets:
    """A bench and a set that were made elsewhere."""
    with pytest.MonkeyPatch.context() as env:
        env.setenv("LOOPBACK_KEY", KEY)
        return make_sets(tmp_path_factory.mktemp("sets"), theirs)


SET_COMMANDS: dict[str, Callable[[Path, Path], tuple[str | Path, ...]]] = {
    "bench verify": lambda bench, _to: ("bench", "verify", bench),
    "bench run": lambda bench, _to: ("bench", "run", bench, *BENCH_PLAY, "--quiet"),
    "bench score": lambda bench, _to: ("bench", "score", bench),
    "bench check": lambda bench, _to: ("bench", "check", bench),
    "bench export": lambda bench, to: (
        *("bench", "export", bench, "--format", "videoautobench", "--to", to / "exported.json"),
    ),
    "export calls": lambda bench, to: (
        *("export", bench / "results" / "calls.sqlite", "--to", to / "calls.jsonl"),
    ),
}


def leave_unmade(made: Path) -> None:
    """Leave of a set its calls alone, where they lie if its making was stopped."""
    draft = made.with_name(f".{made.name}.writing")
    (made / "results").rename(draft)
    shutil.rmtree(made)


@pytest.mark.slow
@pytest.mark.parametrize("change", SET_CHANGES)
def test_a_bench_or_set_from_somebody_else_leads_nowhere(
    change: str,
    theirs: Genuine,
    sets: SharedSets,
    scene: Scene,
    tmp_path: Path,
    tables: Callable[[str], Table],
) -> None:
    row = tables("bench and set").rows.setdefault(change, {})
    place = scene.place / "received" / "sets"
    shutil.copytree(sets.bench, place / "bench")
    shutil.copytree(sets.made, place / "made")
    complaints = []

    def note(name: str, done: Done) -> None:
        row[name] = cell(done)
        wrong = [*scene.complaints(done, also=(theirs.videos, tmp_path))]
        complaints.extend(f"{name}: {one}" for one in (*wrong, *done.called))

    try:
        SET_CHANGES[change](place / "bench", scene.attack)
        SET_CHANGES[change](place / "made", scene.attack)
        cwd = place / "bench" if change == "arena.toml" else None
        names = dealt((*SET_COMMANDS, "tasks make"), SET_CHANGES, change, 2)
        with unseen(scene):
            for name in filter(SET_COMMANDS.get, names):
                words = SET_COMMANDS[name](place / "bench", tmp_path)
                note(name, scene.victim.type("arena", *words, cwd=cwd))
            if "tasks make" in names:
                cwd = place / "made" if change == "arena.toml" else None
                typed = making(theirs.videos, place / "made")
                note("tasks make", scene.victim.type("arena", *typed, cwd=cwd))
                leave_unmade(place / "made")
                note("tasks make again", scene.victim.type("arena", *typed))
    finally:
        shutil.rmtree(place)
    assert not complaints, "\n".join(complaints)


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
    return refusal.partition("--trust-run ")[2].partition(",")[0]


@pytest.mark.slow
@pytest.mark.parametrize("change", OF_A_FRIEND)
def test_where_the_rest_was_agreed_to_what_was_changed_leads_nowhere(
    change: str, theirs: Genuine, friend: Scene, tables: Callable[[str], Table]
) -> None:
    row = tables("of a friend").rows.setdefault(change, {})
    server = str(("127.0.0.1", theirs.server.port))
    trial = Trial(friend, theirs, change, row, opens=[theirs.videos], calls=[server])
    typed = {*dealt((*PICTURES, "visit", *CALLING), OF_A_FRIEND, change, 2), "resume"}
    of_video: dict[str, int] = {}
    with unseen(friend):
        for name in filter(typed.__contains__, PICTURES):
            trial.type(name, READING[name])
        if "visit" in typed:
            of_video = trial.visit()
        call_bad(trial.out)
        for name in filter(typed.__contains__, CALLING):
            trial.type(name, CALLING[name])
    assert not trial.complaints, "\n".join(trial.complaints)
    if change in LEADING:
        assert row["resume"] == "refused"
    if change == "nothing":
        unplayed = {"add typed", "rejudge typed", "freeze --hard"}
        assert {name for name, word in row.items() if word != "done"} == unplayed
        assert set(of_video.values()) == {200}


@pytest.fixture(scope="module")
def undisturbed(theirs: Genuine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The battles of the same run, played to its end at once."""
    out = tmp_path_factory.mktemp("undisturbed") / "run"
    with pytest.MonkeyPatch.context() as env:
        env.setenv("LOOPBACK_KEY", KEY)
        words = ("--videos", theirs.videos, "--config", theirs.config, *PLAYING)
        run("simulate", *words, "--out", out)
    return battles(out)


@dataclass
class Machine:
    """A victim's machine with a state of its own, where one run is gone on with."""

    scene: Scene
    theirs: Genuine
    out: Path
    state: Path
    work: Path

    def type(self, *words: str | Path) -> Done:
        """Type a command; its run must be left as it is where it is refused."""
        return self.scene.victim.type(*words, cwd=self.work, XDG_STATE_HOME=str(self.state))

    def resume(self, *words: str | Path) -> Done:
        return self.type("arena", "resume", self.out, "--quiet", *words)

    def asks_nothing(self) -> None:
        """Check that no later command asks: neither one that plays on, nor one that judges."""
        assert self.resume().code == 0
        trials = self.type("arena", "audit", self.out, "--trials", "repeat", "--cases", "1")
        assert trials.code == 0, trials.err


@pytest.fixture
def machine(theirs: Genuine, scene: Scene, tmp_path: Path) -> Machine:
    """A machine to which the run was moved under another name; nothing of it is known there."""
    out = tmp_path / "moved" / "under another name"
    shutil.copytree(theirs.out, out)
    work = tmp_path / "work"
    work.mkdir()
    return Machine(scene, theirs, out, tmp_path / "state", work)


def same_flags(machine: Machine) -> Done:
    config = ("--config", machine.theirs.config)
    words = ("--videos", machine.theirs.videos, "--out", machine.out, *config, *PLAYING)
    return machine.type("simulate", *words)


def own_file(machine: Machine) -> Done:
    shutil.copy(machine.theirs.config, machine.work / "arena.toml")
    return machine.resume("--videos", machine.theirs.videos)


def digest_typed(machine: Machine) -> Done:
    question = machine.resume()
    assert question.code == 1
    return machine.resume(f"--trust-run={digest_in(question.err)}")


WAYS = [same_flags, own_file, digest_typed]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_on_another_machine_one_word_suffices_and_then_nothing_is_asked(
    way: Callable[[Machine], Done], machine: Machine, undisturbed: dict[str, str]
) -> None:
    done = way(machine)
    assert done.code == 0, done.err
    assert battles(machine.out) == undisturbed
    (machine.work / "arena.toml").unlink(missing_ok=True)
    machine.asks_nothing()


@pytest.mark.slow
def test_where_nothing_can_be_kept_the_same_word_suffices_each_time(
    machine: Machine, undisturbed: dict[str, str]
) -> None:
    machine.state.write_text("no folder")
    machine.state = machine.state / "below"
    for way in (digest_typed, same_flags, own_file):
        done = way(machine)
        assert done.code == 0, done.err
        assert battles(machine.out) == undisturbed
    (machine.work / "arena.toml").unlink()
    assert machine.resume().code == 1


@pytest.mark.slow
def test_where_a_run_was_begun_neither_its_name_nor_its_place_matters(
    machine: Machine, undisturbed: dict[str, str]
) -> None:
    machine.state = Path(os.environ["XDG_STATE_HOME"])
    assert machine.resume().code == 0
    assert battles(machine.out) == undisturbed
    machine.asks_nothing()
    machine.out = machine.out.rename(machine.out.with_name("renamed again"))
    machine.asks_nothing()


@pytest.mark.slow
def test_two_machines_on_one_folder_agree_once_each(machine: Machine) -> None:
    other = replace(machine, state=machine.state.with_name("other-state"))
    for one in (machine, other):
        assert digest_typed(one).code == 0
    for one in (machine, other, machine):
        one.asks_nothing()


@pytest.mark.slow
def test_whatever_reads_a_run_asks_nothing_of_a_stranger(machine: Machine) -> None:
    before = battles(machine.out)
    reading = ("status", "leaderboard", "audit", "replay", "battles", "report")
    for words in (
        *((name, machine.out) for name in reading),
        ("leaderboard", machine.out, "--profile"),
    ):
        done = machine.type("arena", *words)
        assert done.code == 0, done.err
    shown = ("--run", machine.out, "--to", machine.work / "frames.png")
    clip = machine.theirs.videos / machine.theirs.seen
    assert machine.type("arena", "frames", clip, *shown).code == 0
    assert battles(machine.out) == before


@pytest.mark.slow
def test_a_cluster_plays_what_its_command_agreed_to_and_reads_no_other_variable(
    machine: Machine, undisturbed: dict[str, str], tmp_path: Path
) -> None:
    rayed.require()
    log = tmp_path / "log"
    env = {**machine.scene.victim.env, "XDG_STATE_HOME": str(machine.state), LOG: str(log)}
    # Ray's sockets have long names of their own.
    env["TMPDIR"] = "/tmp"

    def resume(*words: str) -> subprocess.CompletedProcess[str]:
        engine = ("--engine", "ray", "--lease", "15", "--quiet")
        line = rayed.command("arena", "resume", machine.out, *engine, *words)
        return subprocess.run(line, env=env, cwd=machine.work, capture_output=True, text=True)

    question = resume()
    assert question.returncode == 1
    done = resume(f"--trust-run={digest_in(question.stderr)}")
    assert done.returncode == 0, done.stderr
    assert battles(machine.out) == undisturbed
    notes = [json.loads(line) for line in log.read_text().splitlines()]
    read = {value for what, value in notes if what == "read"}
    assert "LOOPBACK_KEY" in read
    assert VARIABLE not in read
    assert resume().returncode == 0
