"""A tournament over clips with words in them asks about the words, and replays to the same end."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.offline.facts import WORDS
from agents.offline.questions import understand
from memory.store import Store
from runs.reading import RUN_FILE
from tests.support.lettered import Words, draw_lettered
from tests.support.small_runs import battles_of, play, play_again
from video.reading import alike

SIGNS = ("NORTH GATE", "LOW TIDE", "WET PAINT", "OPEN LATE")


@pytest.mark.slow
def test_words_on_the_screen_are_asked_for_and_hawk_can_tell(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    for turn in range(2):
        names = SIGNS[turn:] + SIGNS[:turn]
        said = [Words(2.2 * n + 0.6, 2.2 * n + 2.0, name) for n, name in enumerate(names)]
        draw_lettered(tmp_path / "clips" / f"{turn}.mp4", said, seconds=10.0, grounds=1)
    out = tmp_path / "out"
    play(tmp_path / "clips", out, ocr=True)
    asked = [b for b in battles_of(out) if WORDS & set(understand(str(b.question)).keys)]
    assert asked
    with Store.open(out / RUN_FILE, write=False) as store:
        for video in store.videos():
            frames = store.frames(video.id)
            assert frames is not None
            assert all(any(alike(c.text, s) > 0.9 for s in SIGNS) for c in frames.captions)
            assert len(frames.captions) == len(SIGNS)
    for battle in asked:
        answers = {battle.model_a: battle.answer_a, battle.model_b: battle.answer_b}
        if said_by_hawk := answers.get("offline:hawk"):
            assert any(alike(sign, part) > 0.9 for sign in SIGNS for part in _quotes(said_by_hawk))
        assert not any(alike(s, p) > 0.9 for s in SIGNS for p in _quotes(battle.question))
    assert play_again(out).others == 0


def _quotes(text: str | None) -> list[str]:
    return (text or "").replace("\\", "").split('"')[1::2]
