"""Dialogues that are made offline keep their bounds on the samples, and each bound can fail."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from benchmarks import dialogues
from benchmarks.dialogues import (
    BANK,
    FREELY,
    MEMORY,
    OTHERWISE,
    PLAYERS,
    ROWS,
    SILENT,
    Asked,
    Cells,
)
from tests.support.clips import draw_clip
from tests.support.pictures import LONG_STORY, film, seen
from videoautoarena.agents.offline.language.phrasing import BOOKS
from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.offline.players.dialogist import DialogueRequest, draft_of
from videoautoarena.agents.offline.players.rounds import search
from videoautoarena.agents.offline.vision.sequence import sight


@pytest.mark.slow
def test_dialogues_made_of_the_samples_show_what_they_are_to(
    sample_clips: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dialogues.main(["--seeds", "1", "--videos", str(sample_clips)]) == 0
    assert "NOT kept" not in capsys.readouterr().out


@pytest.fixture(scope="module")
def rounds() -> list[Asked]:
    """Scored rounds of three abilities about a drawn film."""
    drawn = sight(seen(film(LONG_STORY)))
    asked = list[Asked]()
    for ability in (*MEMORY, "content_summary"):
        draft = draft_of(search(drawn), DialogueRequest(ability, 5, objects=BANK), Dice(ability))
        (number,) = (n for n, one in enumerate(draft, 1) if one.plan.is_scored)
        asked.append(Asked("drawn", 0, ability, drawn, draft, number))
    return asked


def cells_of(scores: dict[tuple[str, str], float]) -> Cells:
    """Return a table in which all is kept, but for these cells; one round of each of two clips."""
    usual = dict(zip((*PLAYERS, SILENT), (1.0, 0.8, 0.6, 1.0, 1.0, 0.4), strict=True))
    cells: Cells = defaultdict(list)
    for ability in ROWS:
        for player, score in usual.items():
            if ability == "answer_refusal":
                score = {"eager": 0.2, SILENT: 0.4}.get(player, 1.0)
            if ability in MEMORY and player == "goldfish":
                score = 0.4
            one = scores.get((ability, player), score)
            cells[ability, player] = [("a", 0, one), ("b", 0, one)]
    return cells


@pytest.mark.parametrize(
    ("ability", "player", "score"),
    [
        *((ability, "owl", 0.6) for ability in ROWS if ability != "answer_refusal"),
        *((ability, "owl", 1.0) for ability in ROWS if ability != "answer_refusal"),
        *((ability, "eager", 0.99) for ability in ROWS if ability != "answer_refusal"),
        ("answer_refusal", "eager", 0.4),
        *((ability, "goldfish", 0.41) for ability in MEMORY),
        *((ability, "goldfish", 0.99) for ability in ROWS if ability not in MEMORY),
    ],
)
def test_one_score_that_is_not_as_promised_fails_a_bound(
    ability: str, player: str, score: float
) -> None:
    assert all(is_kept for _, is_kept in dialogues.claims(cells_of({}), 1, 2))
    broken = dialogues.claims(cells_of({(ability, player): score}), 1, 2)
    failed = [line for line, is_kept in broken if not is_kept]
    assert failed
    assert all(line.startswith((ability, "seed 0")) for line in failed)


def test_equal_means_of_unequal_rounds_fail_a_bound() -> None:
    cells = cells_of({})
    cells["topic_shifting", "eager"] = [("a", 0, 1.2), ("b", 0, 0.8)]
    failed = [line for line, is_kept in dialogues.claims(cells, 1, 2) if not is_kept]
    assert failed == ["topic_shifting: eager equals hawk in every round"]


def test_a_seed_whose_order_is_another_and_too_few_clips_fail_a_bound() -> None:
    cells = cells_of({})
    for ability in ROWS:
        cells[ability, "owl"].append(("b", 1, 0.5))
        for player in ("hawk", "mole", "goldfish", "eager", SILENT):
            cells[ability, player].append(("b", 1, cells[ability, player][0][2]))
    failed = [line for line, is_kept in dialogues.claims(cells, 2, 3) if not is_kept]
    assert [line.partition(":")[0] for line in failed] == ["seed 1", *MEMORY]


def test_an_ability_that_no_clip_serves_fails_its_bounds(
    rounds: list[Asked], capsys: pytest.CaptureFixture[str]
) -> None:
    cells = dialogues.play(rounds[:1])
    dialogues.show(cells)
    assert "topic_shifting               0     0" in capsys.readouterr().out
    claims = dict(dialogues.claims(cells, 1, 1))
    kept = [line for line, is_kept in claims.items() if is_kept]
    assert kept
    assert all(line.startswith(rounds[0].ability) for line in kept)
    assert list(dialogues.check_leaks([])) == [("no round in which a leak could be planted", False)]


@pytest.mark.parametrize(
    ("style", "place"),
    [*((style, "answer") for style in (*BOOKS, FREELY)), (FREELY, "question")],
)
def test_a_planted_leak_throws_a_round_out_and_a_clean_round_stays(
    rounds: list[Asked], style: str, place: str
) -> None:
    for one in rounds:
        assert dialogues.is_caught(one, dialogues.restated(one, style), place), one.ability
        assert not dialogues.is_caught(one), one.ability
        assert not dialogues.is_caught(one, "What a lovely day it was.", place), one.ability


def test_other_names_are_put_in_for_colours_and_choices_alone(rounds: list[Asked]) -> None:
    freely, otherwise = (
        [dialogues.restated(one, style) for one in rounds] for style in (FREELY, OTHERWISE)
    )
    assert freely[:2] == otherwise[:2]
    assert freely[2] != otherwise[2]


def test_leaks_that_pass_fail_the_bound_of_their_words_alone(
    rounds: list[Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialogues, "WAYS", ("{minutes} o'clock",))
    failed = [line for line, is_kept in dialogues.check_leaks(rounds) if not is_kept]
    assert [line.partition(",")[0] for line in failed] == ["leaks in free words"] * 2


def test_rounds_that_are_given_away_as_they_are_fail_the_bound_of_clean_ones(
    rounds: list[Asked],
) -> None:
    leaking = []
    for one in rounds:
        told = f"{one.draft[0].assistant} {dialogues.restated(one, FREELY)}"
        leaking.append(one._replace(draft=[one.draft[0]._replace(assistant=told), *one.draft[1:]]))
    *_, (line, is_kept) = dialogues.check_leaks(leaking)
    assert line == "1.000 of 3 clean rounds lost"
    assert not is_kept


@pytest.mark.slow
def test_videos_of_one_name_in_two_folders_are_two_clips(tmp_path: Path) -> None:
    for seed, folder in enumerate(("a", "b")):
        (tmp_path / folder).mkdir()
        draw_clip(tmp_path / folder / "x.mp4", seed, seconds=2)
    assert list(dialogues.look_at(tmp_path)) == ["a/x.mp4", "b/x.mp4"]


def test_no_folder_of_videos_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        dialogues.main(["--videos", str(tmp_path / "none")])
    assert "there is no folder" in capsys.readouterr().err.splitlines()[-1]


def test_the_same_question_in_other_words_is_no_different_one(rounds: list[Asked]) -> None:
    assert dialogues.different([*rounds, *rounds]) == dict.fromkeys(
        [one.ability for one in rounds], 1
    )
