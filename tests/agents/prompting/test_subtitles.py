"""Subtitles in a call: where they stand, what they cannot do, and how they enter its key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from tests.support.asking import Pages, frames_of, load_bytes, request_of, run
from tests.support.loopback import serving
from tests.support.titles import cue, titled
from videoautoarena.agents.calls.ask import Asker, journal_key
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import SYSTEM
from videoautoarena.agents.prompting.fences import open_fences
from videoautoarena.agents.prompting.layout import cue_blocks, fragment, messages, thinned

CODE = "c0de" * 4
SAID = (cue(0.2, 0.4, "one"), cue(0.5, 0.9, "two"), cue(0.6, 2.0, "three"), cue(1.5, 1.6, "four"))


def blocks(frames: Any) -> list[str]:
    jpegs = [b"jpeg"] * len(frames.frames)
    _, human = messages("s", "Well?", frames=frames.frames, jpegs=jpegs, subtitles=frames.subtitles)
    return [block.get("text", "image") for block in human.content if isinstance(block, dict)]


def test_every_stretch_of_cues_stands_behind_the_frame_that_is_shown_when_it_begins() -> None:
    assert blocks(titled(frames_of(3), *SAID)) == [
        "t=0.00s",
        "image",
        f"<<<subtitles {CODE}>>>\n0.20s to 0.40s: one\n<<<end subtitles {CODE}>>>",
        "t=0.50s",
        "image",
        f"<<<subtitles {CODE}>>>\n0.50s to 0.90s: two\n0.60s to 2.00s: three\n"
        f"<<<end subtitles {CODE}>>>",
        "t=1.00s",
        "image",
        f"<<<subtitles {CODE}>>>\n1.50s to 1.60s: four\n<<<end subtitles {CODE}>>>",
        "Well?",
    ]


def test_who_sees_no_frame_reads_no_cue() -> None:
    assert blocks(thinned(titled(frames_of(3), *SAID), 0)) == ["Well?"]
    assert cue_blocks((), titled(frames_of(3), *SAID).subtitles) == {}


def test_the_same_frames_are_laid_out_in_the_same_bytes_for_every_role() -> None:
    frames = titled(frames_of(9), *SAID)
    assert blocks(thinned(frames, 3)) == blocks(thinned(frames, 3))
    assert blocks(thinned(frames, 9)) == blocks(frames)


@given(st.lists(st.text(st.characters(exclude_characters="\n")), min_size=1, max_size=4))
def test_a_cue_leaves_its_fence_in_no_case(texts: list[str]) -> None:
    cues = [cue(n, n + 1, text) for n, text in enumerate(texts)]
    (block,) = cue_blocks(frames_of(1).frames, titled(frames_of(1), *cues).subtitles).values()
    outside, inside = open_fences(block)
    assert outside == ""
    assert list(inside) == ["subtitles"]


def test_subtitles_enter_the_key_and_their_absence_does_not() -> None:
    model = Model(alias="m", model="offline:hawk", max_frames=64)
    plain = frames_of(3)
    spoken = titled(frames_of(3), *SAID)
    other = titled(frames_of(3), *SAID[:3], cue(1.5, 1.6, "five"))
    keys = {journal_key(model, request_of(frames=f)) for f in (plain, spoken, other)}
    assert len(keys) == 3
    assert fragment(titled(frames_of(3))) == fragment(plain)
    key = "4ef5a1936f12f745e09d4a16e777b14c5771e39a5416517c16d7e198f9ef1f7a"
    assert journal_key(model, request_of(frames=frames_of(2))) == key


@pytest.mark.parametrize("provider", ["openai", "google_genai"])
def test_subtitles_go_over_the_wire_unchanged(
    provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", "k")
    seen: list[Any] = []

    def brain(_model: str, sent: Any) -> AIMessage:
        seen.extend(sent)
        return AIMessage("So.")

    frames = titled(frames_of(3), *SAID, cue(1.7, 1.9, 'ünïcode "視" \\ <b> &'))
    with serving(tmp_path / "log", brain=brain) as server:
        url = server.openai_url if provider == "openai" else server.gemini_url
        model = Model(alias="m", model=f"{provider}:hawk", base_url=url, key_env="LOOPBACK_KEY")
        assert run(asked(model, frames)) == "So."
    assert [b.get("text", "image") for b in seen[-1].content] == [*blocks(frames)[:-1], "Look."]
    assert seen[0].content == SYSTEM


async def asked(model: Model, frames: Any) -> str:
    asker = Asker(Pages(), load_bytes)
    try:
        return await asker.ask(model, request_of(frames=frames))
    finally:
        await asker.aclose()
