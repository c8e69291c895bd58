"""Figures of a set of dialogues: each ability has a panel, and nothing runs into anything else."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

from tests.support.drawn import boxes_of, size_of, texts_of
from tests.support.played import invoke
from tests.support.played_dialogues import OWN, Talked, play_dialogues
from videoautoarena.runs.bench.dialogues.score import score_dialogues
from videoautoarena.runs.views.figures.album import DIALOGUE_PICTURES
from videoautoarena.runs.views.figures.canvas import Picture, render

RUDE = ("<b>$x_1$</b>", f"openai:quick{OWN}", "\x1b[31m" + "x" * 60)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    scores = score_dialogues(
        play_dialogues(tmp_path_factory.mktemp("set"), Talked(models=RUDE, videos=2))
    )
    made = {name: make(scores) for name, make in DIALOGUE_PICTURES.items()}
    return {name: render(one, "svg") for name, one in made.items() if isinstance(one, Picture)}


@pytest.mark.parametrize("name", DIALOGUE_PICTURES)
def test_no_text_leaves_a_picture_or_lies_on_another(drawn: dict[str, bytes], name: str) -> None:
    width, height = size_of(drawn[name])
    found = boxes_of(drawn[name])
    assert [one for one in found if one.left < 0 or one.right > width + 0.5] == []
    assert [one for one in found if one.top < 0 or one.bottom > height + 0.5] == []
    assert [(a, b) for a, b in combinations(found, 2) if a.meets(b)] == []
    assert "<b>$x_1$</b>" in [one.text for one in found]


def test_each_ability_has_a_panel_and_so_has_what_is_refused(drawn: dict[str, bytes]) -> None:
    found = texts_of(drawn["abilities"])
    for title in ("overall", "object reference", "proactive", "refusal twin", "over refusal"):
        assert any(title in text for text in found), title
    assert {"5 turns", "6 turns", "single scene", "cross scene"} <= set(texts_of(drawn["parts"]))
    # Rows of constants are not drawn, so nothing is said of them.
    assert not any("(all yes)" in text for one in drawn.values() for text in texts_of(one))


def test_the_command_draws_a_set_of_dialogues_and_knows_no_other_pictures_of_it(
    tmp_path: Path,
) -> None:
    bench = play_dialogues(tmp_path / "set", Talked(videos=1))
    words = ("pictures", bench.folder, "--to", tmp_path / "p")
    said = json.loads(invoke(*words, "--json").output)
    assert [Path(one["file"]).name for one in said["pictures"]] == ["abilities.svg"]
    why = "all dialogues are alike in turns, length and scenes"
    assert said["left_out"] == [{"name": "parts", "why": why}]
    told = str(invoke(*words, "--only", "sweep", "--force").exception)
    assert "has no picture sweep; there are abilities, parts" in told
