"""A whole video played by scripted models: the graph is real, only the words are given."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.asking import MODEL, Line, Pages, Script, frames_of, prompter_of, run
from tests.support.canned import judged
from videoautoarena.agents.calls.clients import OutgoingCall
from videoautoarena.agents.prompting.fences import open_fences
from videoautoarena.graph.context import Arena, TournamentRules
from videoautoarena.graph.newcomer import play_newcomer
from videoautoarena.graph.tournament import play
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.records.records import Battle, Draw, StoredAnswer, Video, VideoFrames

VIDEO = "0123456789ab"
GRADE = dict.fromkeys(
    ("instruction_following", "accuracy", "relevance", "helpfulness", "overall"), 3.0
)
JUDGED = judged(
    "A",
    {
        "instruction_following": "Both comply.",
        "accuracy": "A sees more.",
        "relevance": "Both keep to it.",
        "helpfulness": "A helps more.",
    },
    instruction_following="tie",
    relevance="tie",
)
EVOLVED = {
    "faults_a": [],
    "faults_b": ["misses the end"],
    "weaknesses_a": [],
    "weaknesses_b": ["looks away"],
}
MORE = " And after that?"


def evolved(sending: OutgoingCall) -> str:
    """Ask the old question with one more part."""
    _, texts = open_fences(sending.text)
    return json.dumps({**EVOLVED, "question": texts["question"] + MORE})


def graded(sending: OutgoingCall, *, step: float) -> str:
    """Grade a question 3.0, and `step` more for each part."""
    _, texts = open_fences(sending.text)
    parts = {name: texts[name].count(MORE) for name in ("question_1", "question_2")}
    return json.dumps(
        {name: {**GRADE, "overall": round(3 + step * n, 1)} for name, n in parts.items()}
    )


def harder(sending: OutgoingCall) -> str:
    """Grade the longer question as harder."""
    return graded(sending, step=0.1)


def not_harder(sending: OutgoingCall) -> str:
    """Grade the longer question as easier."""
    return graded(sending, step=-0.1)


Say = Line | Callable[[OutgoingCall], Line] | Mapping[str, Any]
LINES: dict[str, Say] = {
    "examiner": {"account": "A man flips a pancake.", "category": "Cooking Recipes"},
    "persona": {"personas": ["A person who cooks.", "A person who eats.", "A person who reads."]},
    "questioner": {"question": "What is thrown?"},
    "contestant": "A pancake.",
    "judge": JUDGED,
    "evolver": evolved,
    "grader": harder,
}


@dataclass
class Stage:
    """One video, its models' lines by role, and what was settled."""

    lines: Mapping[str, Say] = field(default_factory=dict)
    rounds: int = 2
    rules: Mapping[str, bool] = field(default_factory=dict)
    ways: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the arena, such as users that are brought."""
    swap: bool = False
    settled: dict[str, Battle] = field(default_factory=dict)
    unusable: str | None = None
    unwanted: str | None = None
    borrowed: StoredAnswer | None = None
    """The stored answer that every battle is fought against."""
    languages: Mapping[int, str] = field(default_factory=dict)
    """What each user asks in, by index."""
    journal: Pages = field(default_factory=Pages)
    script: Script = field(init=False)

    def __post_init__(self) -> None:
        """Hand out the lines."""
        self.script = Script(self._speak)

    def play(self) -> dict[str, Battle]:
        """Play the video and return the battles by the end of their ids."""
        self.ids = run(play(self._arena(), VIDEO))
        return {battle.removeprefix(f"{VIDEO}-"): found for battle, found in self.settled.items()}

    def meet(self, slot: str, source: Battle) -> Battle:
        """Play a guest slot over a battle and return what it came to."""
        assert run(play_newcomer(self._arena(), slot, source)) == slot
        return self.settled[slot]

    def texts(self, role: str) -> list[dict[str, str]]:
        """Return the fenced texts that a role was sent, in order."""
        return [open_fences(s.text)[1] for s in self.script.seen if s.role == role]

    def _speak(self, sending: OutgoingCall) -> Line:
        line = {**LINES, **self.lines}[sending.role]
        said = line(sending) if callable(line) else line
        return json.dumps(said) if isinstance(said, Mapping) else said

    def _arena(self) -> Arena:
        prompter = prompter_of(self.script, journal=self.journal)
        return Arena(
            prompter=prompter,
            examiner=MODEL,
            judges=(MODEL,),
            cast={name: MODEL.with_settings(alias=name) for name in ("left", "right")},
            rules=TournamentRules(rounds=self.rounds, **self.rules),
            videos={VIDEO: _video()},
            prompts=prompter.prompts.digests,
            frames=self._frames,
            draw=self._draw,
            settle=self._settle,
            settled=self.settled.get,
            wanted=lambda slot: slot != self.unwanted,
            **self.ways,
            language=lambda _video, persona: self.languages.get(persona),
        )

    async def _frames(self, video: str) -> VideoFrames:
        if self.unusable:
            raise UnusableVideo(self.unusable)
        return frames_of(8, video=video)

    async def _draw(self, slot: str) -> Draw:
        return Draw(
            slot=slot,
            model_a="left",
            model_b="right",
            propensity=1.0,
            swap=self.swap,
            borrowed=self.borrowed,
        )

    async def _settle(self, battle: Battle) -> None:
        assert battle.id not in self.settled
        self.settled[battle.id] = battle


def _video() -> Video:
    return Video(
        id=VIDEO,
        sha256=VIDEO.ljust(64, "0"),
        path="pan.mp4",
        size_bytes=1,
        duration_s=10.4,
        width_px=64,
        height_px=36,
        fps=24.0,
        codec="h264",
    )
