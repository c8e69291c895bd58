"""Records to put into a run, and a run to put them into."""

from __future__ import annotations

from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import (
    Battle,
    CallRow,
    Draw,
    Frame,
    Intent,
    Nonce,
    Slot,
    Video,
    VideoFrames,
)


def video(name: str = "clip.mp4") -> Video:
    """Return a video whose content is its name."""
    sha = digest(name)
    return Video(
        id=sha[:12],
        sha256=sha,
        path=name,
        size_bytes=1000,
        duration_s=12.5,
        width_px=640,
        height_px=360,
        fps=25.0,
        codec="h264",
    )


def slot(ordinal: int = 0, *, of: str = "clip.mp4") -> Slot:
    """Return a slot of the video with that name; its round is its ordinal."""
    id = f"{video(of).id}-p1-r{ordinal}"
    return Slot(
        id=id,
        generation=0,
        ordinal=ordinal,
        video=video(of).id,
        persona=1,
        round=ordinal,
        block=0,
    )


def frames(of: str = "clip.mp4") -> VideoFrames:
    """Return two frames of the video with that name."""
    both = (Frame(time_s=0.0, digest=digest("0")), Frame(time_s=12.46, digest=digest("1")))
    return VideoFrames(video=video(of).id, width_px=512, height_px=288, frames=both)


def draw(slot_id: str, model_a: str = "hawk") -> Draw:
    """Return a draw of two models."""
    return Draw(slot=slot_id, model_a=model_a, model_b="owl", propensity=1 / 3)


def battle(slot_id: str, reason: str | None = "frames changed") -> Battle:
    """Return a void battle in that slot."""
    nothing = dict.fromkeys(name for name in Battle.model_fields if name != "schema_version")
    return Battle.model_validate(
        {
            **nothing,
            "id": slot_id,
            "video": slot_id[:12],
            "duration_s": 12.5,
            "persona": 1,
            "round": 0,
            "frames_a": (0.0, 12.46),
            "frames_b": (),
            "verdict": "void",
            "reason": reason,
            "verdicts": (),
            "evolution": (),
            "prompts": {"judge": digest("judge")},
        }
    )


def call(name: str = "one", *, reply: str | None = "an answer", scope: str = "v-p1-r0") -> CallRow:
    """Return a call whose key is made from its name."""
    return CallRow(
        key=digest(name),
        nonce=Nonce(scope=scope, role="judge", ordinal=2),
        model="offline:judge",
        alias="judge",
        endpoint="in-process",
        prompt=digest("prompt"),
        reply=reply,
    )


def intent(
    name: str = "one",
    *,
    model: str = "openai:a",
    attempt: int = 1,
    usd: float | None = 0.5,
    tokens: int = 100,
) -> Intent:
    """Return a try of the call of that name, about to be sent."""
    nonce = Nonce(scope="v-p1-r0", role="judge", ordinal=2)
    return Intent(digest(name), nonce, model, attempt, usd, tokens)
