"""What `--preset paper` changes to the VideoAutoArena paper's way, and what it leaves.

Help, documents, reports and cards take their words from the two lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

PAPER: Mapping[str, Any] = {
    "pairing": "keep-pair",
    "swap": 0.0,
    "subtitles": True,
    "diverse": False,
    "languages": (),
}
"""Settings of a run that the preset names, besides its rules and its sampling."""
PAPER_SAMPLING: Mapping[str, Any] = {
    "policy": "uniform",
    "frames": 128,
    "size_px": 512,
    "fit": "stretch",
    "quality": 85,
}
"""Settings of frames that it names. The paper sends pictures as they are, so ours lose little; it
says nothing of the decoder."""
PAPER_RULES: Mapping[str, Any] = {
    "overall_only": True,
    "share_analyses": False,
    "fixed_seats": True,
}
OPEN_PARAMETERS: Mapping[str, Any] = {"temperature": 0.7, "max_tokens": 2048}
"""Parameters of open models whose tables name none of their own."""


class TurnedChoice(NamedTuple):
    """A choice that the preset changes to the paper's way."""

    choice: str
    paper: str
    here: str
    """Without the preset."""
    settings: tuple[str, ...]
    """Names of the settings, in a run's manifest or of how it is rated."""
    is_later: bool = False
    """Whether runs that began with the preset in an earlier version were played as `here` says."""


class LeftChoice(NamedTuple):
    """A choice that the preset does not change."""

    choice: str
    paper: str
    here: str


TURNED = (
    TurnedChoice(
        "frames of examiner and judge",
        "at most 128, evenly over the video",
        "the same; `[sampling]` of the file gives way",
        ("sampling.policy", "sampling.frames"),
    ),
    TurnedChoice(
        "frames of a contestant",
        "at most 64",
        "64, or `max_frames` of its table",
        ("cast.max_frames",),
    ),
    TurnedChoice(
        "shape of a frame",
        "stretched to 512 x 512; JPEG quality, which is not stated, 85",
        "aspect ratio kept, 512 on the longer side; quality 85",
        ("sampling.fit", "sampling.size_px", "sampling.quality"),
    ),
    TurnedChoice(
        "subtitles",
        "sent with the frames",
        "the same; `subtitles` of the file gives way",
        ("subtitles",),
    ),
    TurnedChoice(
        "users",
        "three a video, however alike; no language is named",
        "the same; `diverse` and `languages` of the file give way",
        ("diverse", "languages"),
        is_later=True,
    ),
    TurnedChoice(
        "what users and first questions are made from",
        "the frames, and for a question the user",
        "the examiner's account of the video, too",
        ("prompts.persona", "prompts.questioner"),
        is_later=True,
    ),
    TurnedChoice(
        "what the judge writes",
        "four analyses and a verdict",
        "an answer of its own first, a verdict on each standard, too; it may abstain",
        ("contracts", "prompts.judge"),
        is_later=True,
    ),
    TurnedChoice(
        "grades of difficulty",
        "whole numbers from 1 to 5",
        "one decimal, with an anchor for each number",
        ("contracts", "prompts.grader"),
        is_later=True,
    ),
    TurnedChoice(
        "which new question passes",
        "one with a higher overall grade",
        "also one with an equal overall grade and a higher sum of the four others",
        ("rules.overall_only",),
    ),
    TurnedChoice(
        "what a harder question is made from",
        "frames, user, question and both answers",
        "the judge's analyses, too",
        ("rules.share_analyses", "prompts.evolver"),
    ),
    TurnedChoice(
        "who meets",
        "a pair drawn uniformly, which keeps its lineage and its seats",
        "a pair and its seats drawn for each question, more often one whose order is open",
        ("pairing", "rules.fixed_seats"),
    ),
    TurnedChoice(
        "order of the answers",
        "judged once, in one order",
        "a tenth of the battles is judged in both, as an audit",
        ("swap",),
    ),
    TurnedChoice(
        "how open models answer",
        "temperature 0.7, at most 2,048 tokens",
        "their server's temperature, at most 4,096 tokens, as all other models",
        ("cast.parameters",),
        is_later=True,
    ),
    TurnedChoice(
        "ratings",
        "plain maximum likelihood of Bradley and Terry's model",
        "the same with Firth's penalty, which is finite for all",
        ("fit",),
        is_later=True,
    ),
)
LEFT = (
    LeftChoice(
        "words of the prompts",
        "its own; that of a contestant is not printed",
        "written anew; `--prompts` takes others. One system text stands before all of them",
    ),
    LeftChoice(
        "form of replies",
        "headed sections of text; a tie's kind is not in the last line",
        "one JSON object, mended once; both kinds of tie, rated alike",
    ),
    LeftChoice(
        "account of the video",
        "none",
        "still written, one call a video, for the category that slices go by; no role reads it",
    ),
    LeftChoice(
        "instants of frames",
        "not stated; its code takes at most one a second, from the left",
        "from the first frame to the last, in short videos, too; a contestant's are some of these",
    ),
    LeftChoice(
        "how examiner and judge reply",
        "not stated; its code asks for temperature 0 and at most 4,096 tokens",
        "as their server does, or by `parameters` of their tables",
    ),
    LeftChoice(
        "number of rounds",
        "not stated",
        "3, or `--rounds`",
    ),
    LeftChoice(
        "order of the two questions graded",
        "not stated",
        "drawn",
    ),
    LeftChoice(
        "what follows a refused question",
        "not stated; its code refuses none",
        "the evolver is asked once more, then the questioner, who knows what was asked",
    ),
    LeftChoice(
        "calls that fail",
        "not stated; its code keeps an empty text",
        "a forfeit or a void, never rated",
    ),
    LeftChoice(
        "models without a finite rating",
        "not stated",
        "Firth's penalty for the whole board, which then says so",
    ),
    LeftChoice(
        "scale and intervals",
        "the mean of all models is 1000; no intervals",
        "1000 is the mean weighted by what is known; intervals by video. Differences are the same",
    ),
    LeftChoice(
        "benches",
        "judged by the same prompt, the reference first",
        "by the usual contracts, from both seats",
    ),
)


def left_by_preset(*, is_early: bool = False) -> tuple[str, ...]:
    """Return which choices the preset leaves; `is_early`: the run began when it changed fewer."""
    since = (one.choice for one in TURNED if one.is_later and is_early)
    return (*since, *(one.choice for one in LEFT))
