"""Pairs, slices and profiles as reports: the same order and digits as everywhere."""

from __future__ import annotations

import re

from tests.runs.analysis.leaderboard.test_effects_by_slice import fought
from tests.runs.rating.test_table import CAST, battle, season
from tests.support.sliced import build_slices
from videoautoarena.runs.analysis.leaderboard.slices import build_pairs
from videoautoarena.runs.rating.method import RatingMethod
from videoautoarena.runs.rating.profile import ModelProfile, Opponent, OtherWeaknesses
from videoautoarena.runs.views.results.forms import as_text, csv_text, marked_up
from videoautoarena.runs.views.results.profiles import profile_report
from videoautoarena.runs.views.results.slices import pairs_report, slices_report


def test_a_pair_is_won_tied_and_lost_in_this_order() -> None:
    fights = [*season(2), *(battle(v, "tie") for v in range(3))]
    report = pairs_report(build_pairs(fights, CAST, method=RatingMethod()))
    hawk = next(line for line in as_text(report).splitlines() if line.startswith("hawk  owl"))
    assert "4-3-2" in hawk
    pasted = marked_up(report, "markdown")
    assert "| 4-3-2 |" in pasted
    assert "| few |" in pasted
    assert "few: fewer than 100 battles" in pasted
    assert "W-T-L: won, tied, lost" in " ".join(as_text(report).split())
    assert csv_text(report.data_table).splitlines()[0] == (
        "model,rival,share,low,high,expected,wins,losses,ties,battles,videos,both_bad_share,flags"
    )


def test_pairs_say_whether_style_was_taken_out_of_what_was_expected() -> None:
    few = fought("STEM", videos=12, each=2)
    said = as_text(pairs_report(build_pairs(few, CAST, method=RatingMethod(style=True))))
    assert "Style is not taken out of the ratings" in " ".join(said.split())
    plain = as_text(pairs_report(build_pairs(few, CAST, method=RatingMethod())))
    assert "tyle" not in plain


def test_slices_stand_on_what_their_feet_say() -> None:
    fights = [*season(150), battle(150, "tie_bad")]
    report = slices_report(build_slices(fights, CAST, by="round", method=RatingMethod()))
    lines = [line.split() for line in as_text(report).splitlines()]
    assert ["battles", "1,051"] in lines
    assert ["videos", "151"] in lines
    assert ["both", "bad", "%", "0.1"] in lines
    assert re.fullmatch(
        r"1\d\d\d \(601\)", " ".join(next(x for x in lines if x[:1] == ["hawk"])[1:])
    )
    data = csv_text(report.data_table).splitlines()
    assert data[0].startswith("slice,slice_both_bad_share,group,model,rating,low,high,rank,")
    assert len(data) == 1 + len(CAST)


def test_a_profile_says_what_became_of_each_opponent_in_the_same_order() -> None:
    profile = ModelProfile(
        model="hawk",
        grouped_by="words",
        looked_at=1,
        tested=0,
        themes=(),
        other=OtherWeaknesses(0, (), ()),
        wins=("v1-p1-r0",),
        losses=(),
        opponents=(Opponent("owl", wins=3, ties=2, losses=1),),
    )
    text = as_text(profile_report(profile))
    assert text.startswith("hawk: 1 answer looked at. Themes by their words.\n")
    assert re.search(r"^owl +3-2-1$", text, re.M)
    assert "Telling wins\n  - v1-p1-r0" in text
    assert "Telling losses" not in text
