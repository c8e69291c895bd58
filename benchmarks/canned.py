"""Runs whose models answer at once, over videos that lie nowhere; everything else is the arena's.

The models answer in this process, in the place of a client; or, for calls that go over HTTP,
in one of their own: `python -m benchmarks.canned SECONDS` waits so long before each answer, prints
its address and ends with its standard input.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self, cast
from unittest.mock import patch
from zlib import crc32

from langchain_core.messages import AIMessage, BaseMessage

from tests.support.loopback import serving
from tests.support.manners import Manners
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import Client, Load, OutgoingCall, ReceivedReply
from videoautoarena.agents.models.registry import Model, parse_model
from videoautoarena.agents.prompting.contracts import FORMAT_LINE
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.graph.context import Arena, TournamentRules
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import (
    CATEGORIES,
    Battle,
    Frame,
    Intent,
    Role,
    Sampling,
    Usage,
    Video,
    VideoFrames,
)
from videoautoarena.memory.records.standards import STANDARDS
from videoautoarena.memory.store.journal import Journal
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.api.simulate import play_run
from videoautoarena.runs.console.progress.events import Listeners, nobody
from videoautoarena.runs.run.config.agreement import RunTrust, agreed
from videoautoarena.runs.run.config.arena_file import Pairing
from videoautoarena.runs.run.config.run_config import RunConfig, resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.opener import Opened, begin, go_on
from videoautoarena.runs.run.rundir.reader import RunReader, run_file
from videoautoarena.runs.run.rundir.slots import new_slots
from videoautoarena.runs.run.rundir.waves import Waves, ending_of
from videoautoarena.runs.tournament.draws import Draws, WrittenDraws
from videoautoarena.runs.tournament.runner import Finished, Limits, RunSession
from videoautoarena.video.folder.find import Findings

FRAMES = 128
ROUNDS = 3
NOWHERE = "http://127.0.0.1:9/v1"
DEGREE = re.compile(r"degree (\d+)")
WORDS = "The lamp goes from red to blue while the bird crosses the picture from the left. " * 20
ANSWER, ANALYSIS, ACCOUNT, PERSON = 1500, 400, 1000, 300
"""How many characters each has, which is as many as real models write."""
USAGE = Usage(input_tokens=9000, output_tokens=160, cached_tokens=8000, reasoning_tokens=0)
SCENE = {"start_s": 0.0, "end_s": 4.0, "what": "a bird crosses a room"}
BRIEF = {"account": WORDS[:ACCOUNT], "category": CATEGORIES[0], "scenes": [SCENE] * 6}


class Canned:
    """Stands where a chat model's client stands, and replies what its role asks for."""

    def __init__(self, model: Model, load: Load) -> None:
        """Take what a client takes."""

    async def send(self, sending: OutgoingCall) -> ReceivedReply:
        """Return a reply of the usual length, without looking at a frame."""
        return ReceivedReply(text=reply(sending.role, sending.text), usage=USAGE, ending="stop")

    async def aclose(self) -> None:
        """Close nothing."""


def reply(role: Role, text: str) -> str:
    """Return what a role that reads `text` replies; every evolved question is a degree harder."""
    if role == "contestant":
        return _said(ANSWER, text)
    degrees = [int(found) for found in DEGREE.findall(text)]
    replies: dict[str, Callable[[], object]] = {
        "examiner": lambda: BRIEF,
        "persona": lambda: {"personas": [_said(PERSON, text)] * 3},
        "questioner": lambda: {"question": f"A question of degree 0: {WORDS[:120]}?"},
        "judge": lambda: _judged("A" if len(text) % 2 else "B", text),
        "comparer": lambda: {
            **dict.fromkeys(("own_answer", *STANDARDS), _said(ANALYSIS, text)),
            "verdict": "A>>B" if len(text) % 2 else "B>A",
        },
        "evolver": lambda: _evolved(max(degrees) + 1),
        "grader": lambda: {"question_1": _grade(degrees[0]), "question_2": _grade(degrees[1])},
    }
    return json.dumps(replies[role]())


def _said(chars: int, asked: str) -> str:
    """Return words of about this length, a quarter more or less."""
    return WORDS[: int(chars * (0.75 + crc32(asked.encode()) / 2**33))]


def _judged(verdict: str, asked: str) -> dict[str, object]:
    each = {"analysis": _said(ANALYSIS, asked), "verdict": verdict}
    own = {"own_answer": _said(ANALYSIS, asked)}
    return {**own, **dict.fromkeys(STANDARDS, each), "verdict": verdict}


def _evolved(degree: int) -> dict[str, object]:
    names = ("faults_a", "faults_b", "weaknesses_a", "weaknesses_b")
    question = f"A question of degree {degree}: {WORDS[:160]}?"
    return dict.fromkeys(names, [WORDS[:90]] * 2) | {"question": question}


def _grade(degree: int) -> dict[str, float]:
    names = ("instruction_following", "accuracy", "relevance", "helpfulness", "overall")
    return dict.fromkeys(names, min(5.0, 1.0 + degree))


def film(number: int) -> Video:
    """Return a video that lies nowhere."""
    sha = digest(f"video {number}")
    return Video(
        id=sha[:12],
        sha256=sha,
        path=f"{number}.mp4",
        size_bytes=1,
        duration_s=64.0,
        width_px=512,
        height_px=288,
        fps=30.0,
        codec="h264",
    )


def pictures(video: Video) -> VideoFrames:
    """Return a video's frames, known by digests that belong to no picture."""
    found = tuple(Frame(time_s=i / 2, digest=digest(f"{video.id} {i}")) for i in range(FRAMES))
    return VideoFrames(video=video.id, width_px=512, height_px=288, frames=found)


def run_frames(number: int) -> tuple[Video, VideoFrames]:
    """Return a video and its frames."""
    return film(number), pictures(film(number))


class NoIntents:
    """A journal that lets tries go out without a word."""

    def __init__(self, journal: Journal) -> None:
        """Keep calls in another one."""
        self.find = journal.find
        self.record = journal.record
        self.has_answered = journal.has_answered

    async def intend(self, intent: Intent) -> None:
        """Keep nothing."""

    def withdraw(self, key: str, attempt: int) -> None:
        """Keep nothing."""

    def leave_over(self, key: str, attempt: int) -> None:
        """Keep nothing."""


async def no_bytes(_video: str, _digests: list[str]) -> list[bytes]:
    """Refuse to load a frame."""
    raise AssertionError("nobody looks at a frame here")


def _paid(name: str) -> Model:
    """Return a model of that name which is not offline, so that its calls may be paid for."""
    return parse_model(f"openai:{name.partition(':')[2]}", {"base_url": NOWHERE, "alias": name})


@contextmanager
def canned_arena(
    folder: Path, videos: int, *, is_paid: bool = False, intents: bool = True
) -> Iterator[Arena]:
    """Give an arena over `videos` videos, with a store and a journal in `folder`."""
    flags = RunRequest(rounds=ROUNDS, models=("offline:hawk", "offline:owl"))
    config = resolve(flags).config
    prompts = PromptSet.load(None)
    model = _paid if is_paid else parse_model
    films = dict(map(run_frames, range(videos)))
    slots = new_slots(list(films), rounds=ROUNDS, block=21, existing=[])
    frames = {video.id: shown for video, shown in films.items()}
    written: set[str] = set()

    async def look(video: str) -> VideoFrames:
        if video not in written:
            written.add(video)
            await store.put_frames(frames[video])
        return frames[video]

    with Store.create(folder / "run.sqlite", config.manifest("0", prompts.digests)) as store:
        store.add_videos(films)
        store.add_slots(slots)
        journal = store.journal if intents else NoIntents(store.journal)
        asker = Asker(journal, no_bytes, concurrency=16, make_client=Canned)
        # As a run holds a video in memory for as long as it is played.
        for video in films:
            store.hold(video.id, {slot.id: slot.id for slot in slots if slot.video == video.id})
        waves = Waves(slots, config.models)
        draws = Draws(config, slots, waves)

        async def settle(battle: Battle) -> None:
            await store.put_battle(battle)
            waves.note(ending_of(battle))

        yield Arena(
            prompter=Prompter(asker, prompts),
            examiner=model(config.examiner),
            judges=tuple(map(model, config.judges)),
            cast={name: model(name) for name in config.models},
            rules=TournamentRules(rounds=ROUNDS),
            videos={video.id: video for video in films},
            prompts=prompts.digests,
            frames=look,
            draw=WrittenDraws(draws, store),
            settle=settle,
            settled=store.battle,
            wanted=lambda _slot: True,
        )


MakeClient = Callable[[Model, Load], Client]
UNHEARD = Listeners(say=lambda _line: None, hear=nobody)
"""Nobody listens."""
CAST = ("hawk", "owl", "mole", "wren")
JPEG = b"\xff\xd8\xff" + bytes(1021)


class NoDecoders:
    """Stands where the decoders stand: every video has the frames that `pictures` makes up."""

    def __init__(self, *_: object) -> None:
        """Take what decoders take."""

    async def frames(self, _path: Path, video: Video, _sampling: Sampling) -> VideoFrames:
        """Return a video's frames."""
        return pictures(video)

    async def jpegs(
        self, _path: Path, _video: Video, *, sampling: Sampling, digests: Sequence[str]
    ) -> list[bytes]:
        """Return as many small files as there are digests."""
        del sampling
        return [JPEG] * len(digests)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close nothing."""


@dataclass(frozen=True)
class Shape:
    """How large a run is, and where its models are said to be."""

    videos: int
    rounds: int
    url: str = NOWHERE
    pairing: Pairing = "mix"

    @property
    def battles(self) -> int:
        """How many slots it has."""
        return self.videos * 3 * self.rounds


def configured(folder: Path, shape: Shape) -> RunConfig:
    """Return the configuration of a run between models that a server of one's own would serve."""
    names = (*CAST, "examiner")
    tables = [
        f'[models.{name}]\nmodel = "openai:{name}"\nbase_url = "{shape.url}"\nmax_frames = 64\n'
        for name in names
    ]
    file = folder / "arena.toml"
    file.write_text("\n".join(tables), encoding="utf-8")
    flags = RunRequest(
        models=CAST, examiner="examiner", rounds=shape.rounds, config=file, pairing=shape.pairing
    )
    return resolve(flags).config


def found(shape: Shape) -> Findings:
    """Return the videos as a look through a folder finds them."""
    return Findings(videos=[film(k) for k in range(shape.videos)], skipped=[], duplicates=[])


def begun(folder: Path, shape: Shape) -> Opened:
    """Begin a run in `folder`."""
    config = configured(folder, shape)
    prompts = PromptSet.load(None)
    return begin(folder / "out", config, prompts=prompts, found=found(shape), folder=folder)


def continued(folder: Path, shape: Shape) -> Opened:
    """Open the run in `folder` to go on with it."""
    out = folder / "out"
    run = RunReader(out, Store.open(run_file(out), write=True))
    kept = RunConfig.to_go_on(run.manifest)
    trust = RunTrust(folder / "arena.toml")
    kept = agreed(kept, kept.cast, out=out, trust=trust)
    return go_on(run, kept, None, prompts=None, found=found(shape), folder=folder)


async def played(
    run: Opened,
    folder: Path,
    *,
    client: MakeClient = Canned,
    concurrency: int = 32,
    listeners: Listeners | None = None,
) -> Finished:
    """Play a run to its end."""
    limits = Limits(concurrency)
    with answered_by(client), patch("videoautoarena.runs.tournament.runner.Decoders", NoDecoders):
        return await play_run(
            RunSession(run, folder / "out", limits=limits, listeners=listeners or UNHEARD)
        )


def answered_by(client: MakeClient) -> AbstractContextManager[object]:
    """Return a block in which `client` makes the clients of every run."""
    return patch("videoautoarena.runs.run.rundir.context.Asker", partial(Asker, make_client=client))


def check_whole(finished: Finished, battles: int) -> None:
    """Raise RuntimeError where a run did not settle so many battles, none of them void."""
    if finished.settled != battles or finished.voids:
        raise RuntimeError(f"{finished} is no whole run")


def parser_of(doc: str | None, **figures: float) -> argparse.ArgumentParser:
    """Return a parser with an option for each figure, by its default."""
    parser = argparse.ArgumentParser(description=doc)
    for name, default in figures.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    return parser


def keep(figure: str, is_kept: bool) -> bool:
    """Print a figure beside its bound, and return whether it is kept."""
    print(f"{figure}: {'kept' if is_kept else 'NOT kept'}", flush=True)
    return is_kept


def resident_mb() -> float:
    """Return how much memory the process has in use now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@dataclass
class Took:
    """How long something took, in seconds."""

    wall_s: float = 0.0
    cpu_s: float = 0.0


@contextmanager
def timed() -> Iterator[Took]:
    """Give what is filled in at the end of the block: wall time, and CPU time of all threads."""
    took = Took()
    wall = time.perf_counter()
    cpu = time.process_time()
    yield took
    took.wall_s = time.perf_counter() - wall
    took.cpu_s = time.process_time() - cpu


COUNTED = {
    "input_tokens": USAGE.input_tokens,
    "output_tokens": USAGE.output_tokens,
    "total_tokens": (USAGE.input_tokens or 0) + (USAGE.output_tokens or 0),
}


def answer(_model: str, messages: Sequence[BaseMessage]) -> AIMessage:
    """Reply as the role that the last text asks for."""
    content = messages[-1].content
    last = content if isinstance(content, str) else content[-1]
    text = last if isinstance(last, str) else str(last["text"])
    # The number of the contract may follow the role: "examiner (2)".
    role = text.rpartition(FORMAT_LINE)[2].split()[0] if FORMAT_LINE in text else "contestant"
    return AIMessage.model_validate(
        {"content": reply(cast(Role, role), text), "usage_metadata": COUNTED}
    )


def main() -> None:
    """Serve until the standard input ends."""
    wait_s = float(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        manners = Manners(latency_s=(wait_s, wait_s))
        with serving(Path(folder) / "log", manners, brain=answer) as server:
            print(server.openai_url, flush=True)
            sys.stdin.read()


if __name__ == "__main__":
    main()
