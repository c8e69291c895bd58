"""Style and position are taken out of ratings where the battles tell them from the models alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runs.views.results.test_leaderboard import may_be_said, numbers
from tests.support.battles import Styled, draw_styled
from tests.support.drawn import texts_of
from tests.support.votes import written
from videoautoarena.runs.analysis.categories.figures import places_of
from videoautoarena.runs.rating import fit
from videoautoarena.runs.rating.fit import UNCONTROLLED
from videoautoarena.runs.rating.leaderboard import LeaderboardRow, RatedLeaderboard
from videoautoarena.runs.rating.method import RatingMethod
from videoautoarena.runs.rating.rate import rate_file
from videoautoarena.runs.views.figures.canvas import render
from videoautoarena.runs.views.figures.ranking import ladder, style
from videoautoarena.runs.views.results.forms import as_text, marked_up
from videoautoarena.runs.views.results.leaderboard import leaderboard_report
from videoautoarena.scoring.ratings.covariates import MOST_HALF_WIDTH, MOST_INFLATION

HEADER = ("model_a", "model_b", "winner", "video", "style_length_a", "style_length_b")
TRADEMARK = draw_styled(4, models=7, videos=30, own=0.97)
WITHIN = draw_styled(4, models=5, videos=80, own=0.2, worth=0.4)
SAID = "not taken out of the ratings: these battles do not tell"
PLAIN = RatingMethod()
STYLE = RatingMethod(style=True)


def rows_of(drawn: Styled, name: str = "m") -> list[tuple[Any, ...]]:
    return [
        (f"{name}{a}", f"{name}{b}", "model_a" if won else "model_b", f"{name}v{film}", *sizes)
        for a, b, won, film, sizes in zip(*drawn[:4], drawn.sizes.tolist(), strict=True)
    ]


@pytest.fixture(scope="module")
def trademark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("t") / "b.csv", rows_of(TRADEMARK), HEADER)


@pytest.fixture(scope="module")
def within(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("w") / "b.csv", rows_of(WITHIN), HEADER)


def bare(board: RatedLeaderboard) -> list[LeaderboardRow]:
    """Its rows as if nobody had asked for a control."""
    return [
        replace(row, flags=tuple(flag for flag in row.flags if flag != UNCONTROLLED))
        for row in board.models
    ]


@pytest.mark.parametrize(
    "beside",
    [
        {},
        {"intervals": "bootstrap"},
        {"intervals": "battle"},
        {"ties": "davidson"},
        {"anchor": "m2=1200"},
        {"simultaneous": True, "pairs": True},
        {"fit": "mle"},
    ],
)
def test_a_trademark_leaves_the_plain_board_as_it_is(
    trademark: Path, beside: dict[str, Any]
) -> None:
    plain = rate_file(trademark, RatingMethod(**beside))
    styled = rate_file(trademark, RatingMethod(style=True, **beside))
    assert bare(styled) == list(plain.models)
    assert styled.leads == plain.leads
    assert styled.pairs == plain.pairs
    assert all(UNCONTROLLED in row.flags for row in styled.models)


def test_what_is_not_taken_out_is_told_with_its_interval(trademark: Path) -> None:
    (terms,) = rate_file(trademark, STYLE).to_json()["settings"]["terms"]
    length = terms["style"]["length"]
    assert length["low"] < length["points"] < length["high"]
    control = terms["control"]
    assert control["identified"] is False
    assert control["half_width"] == pytest.approx((length["high"] - length["low"]) / 2, abs=1e-3)
    assert control["half_width"] > 75
    assert control["inflation"] > 5


@pytest.mark.parametrize("form", ["markdown", "latex", "html"])
def test_every_pasted_form_says_that_style_stays_in(trademark: Path, form: str) -> None:
    board = rate_file(trademark, STYLE)
    assert SAID in marked_up(leaderboard_report(board), form)


def test_terminal_csv_and_pictures_say_that_style_stays_in(trademark: Path) -> None:
    board = rate_file(trademark, STYLE)
    shown = as_text(leaderboard_report(board))
    assert SAID in " ".join(shown.split())
    assert UNCONTROLLED not in shown
    table = marked_up(leaderboard_report(board), "csv").splitlines()
    assert all(UNCONTROLLED in row for row in table[1:])
    for picture in (ladder(board), style(board)):
        told = " ".join(texts_of(render(picture, "svg")))
        assert f"Style is {SAID} it from how strong the models are" in told


def test_the_figures_of_the_sentence_are_those_of_its_table(trademark: Path) -> None:
    report = leaderboard_report(rate_file(trademark, STYLE))
    one = report.sentence("control")
    assert one is not None
    limits = {f"{MOST_HALF_WIDTH:.0f}", f"{MOST_INFLATION:.0f}"}
    assert len(set(numbers(one.text)) - limits) == 2
    assert set(numbers(one.text)) - limits <= may_be_said(report)


def test_each_bound_that_is_passed_is_named(trademark: Path) -> None:
    board = rate_file(trademark, STYLE)
    (terms,) = board.settings.terms or ()
    assert terms.control is not None

    def said(**control: Any) -> str:
        found = replace(terms, control=terms.control and terms.control._replace(**control))
        changed = replace(board, settings=replace(board.settings, terms=(found,)))
        one = leaderboard_report(changed).sentence("control")
        assert one is not None
        return one.text

    wide = said(half_width=90.4, inflation=2.0)
    assert "(an interval reaches 90 points to either side, where the limit is 75)" in wide
    alike = said(half_width=9.0, inflation=6.789)
    assert "of two models would grow 6.79 times, where the limit is 5)" in alike
    nothing = said(half_width=None, inflation=None)
    assert "(there are no intervals; the battles alone set no bounds)" in nothing


def test_style_that_varies_within_models_is_taken_out(within: Path) -> None:
    plain = rate_file(within, PLAIN)
    styled = rate_file(within, STYLE)
    (terms,) = styled.to_json()["settings"]["terms"]
    assert terms["control"]["identified"] is True
    assert terms["style"]["length"]["low"] > 0
    assert [row.rating for row in styled.models] != [row.rating for row in plain.models]
    assert not any(UNCONTROLLED in row.flags for row in styled.models)
    assert SAID not in " ".join(as_text(leaderboard_report(styled)).split())


def test_drawn_intervals_are_those_of_ratings_without_style(
    within: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "ROUNDS", 30)
    drawn, known = (
        rate_file(within, RatingMethod(style=True, intervals=way))
        for way in ("bootstrap", "clustered")
    )
    assert [row.rating for row in drawn.models] == [row.rating for row in known.models]
    assert all(a.low != b.low for a, b in zip(drawn.models, known.models, strict=True))


def test_each_group_is_decided_by_its_own_battles(tmp_path: Path, within: Path) -> None:
    island = draw_styled(9, models=3, videos=12, own=0.97)
    file = written(tmp_path / "b.csv", [*rows_of(WITHIN), *rows_of(island, "i")], HEADER)
    plain = rate_file(file, PLAIN)
    styled, alone = (rate_file(one, RatingMethod(style=True, pairs=True)) for one in (file, within))
    first, second = (terms["control"] for terms in styled.to_json()["settings"]["terms"])
    assert (first["identified"], second["identified"]) == (True, False)
    before = {row.model: row for row in plain.models}
    after = {row.model: row for row in bare(styled)}
    assert {name for name in after if after[name] == before[name]} == set(styled.components[1])
    assert styled.components == plain.components
    assert styled.leads[1] == plain.leads[1]
    better = [row[:5] for row in (styled.pairs.better if styled.pairs else ())[:5]]
    known = alone.pairs.better if alone.pairs else ()
    for row, other in zip(better, known, strict=True):
        assert list(row) == pytest.approx(list(other), abs=1e-5)
    flagged = {row.model for row in styled.models if UNCONTROLLED in row.flags}
    assert flagged == set(styled.components[1])


def test_a_seat_that_a_model_always_has_stays_in(tmp_path: Path) -> None:
    rows = [("p", "q", "a" if k % 3 else "b", f"v{k % 40}") for k in range(400)]
    file = written(tmp_path / "b.csv", rows, HEADER[:4])
    plain = rate_file(file, PLAIN)
    seated = rate_file(file, RatingMethod(seats=True))
    assert bare(seated) == list(plain.models)
    (terms,) = seated.to_json()["settings"]["terms"]
    assert terms["control"]["inflation"] is None
    shown = " ".join(as_text(leaderboard_report(seated)).split())
    assert f"Position bias is {SAID} it from how strong the models are" in shown
    both = " ".join(as_text(leaderboard_report(rate_file(_sized(tmp_path, rows), BOTH))).split())
    assert f"Style and position bias are {SAID} them from" in both


BOTH = RatingMethod(style=True, seats=True)


def _sized(place: Path, rows: list[tuple[Any, ...]]) -> Path:
    sized = [(*row, 3 + k % 5, 4) for k, row in enumerate(rows)]
    return written(place / "sized.csv", sized, HEADER)


def test_a_category_moves_nobody_by_style_that_stays_in(trademark: Path, within: Path) -> None:
    for file, is_known in ((trademark, False), (within, True)):
        places = places_of(rate_file(file, PLAIN), rate_file(file, STYLE))
        for place in places:
            assert (place.style_rating is not None) is is_known
            assert (place.style_place is not None) is is_known
            moved = place.style_place and place.place and place.place - place.style_place
            assert place.moved == moved
            assert place.rating is not None


def test_where_nobody_asked_nothing_is_said(within: Path) -> None:
    assert "terms" not in rate_file(within, PLAIN).to_json()["settings"]
    (terms,) = rate_file(within, RatingMethod(ties="davidson")).to_json()["settings"]["terms"]
    assert set(terms) <= {"tie_share"}
