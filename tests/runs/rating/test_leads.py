"""Who may be best, as a leaderboard says it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tournament import fought
from videoautoarena.runs.rating.fit import Bouts, rate_bouts
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.rating.method import RANKABLE_VIDEOS, RatingMethod
from videoautoarena.runs.rating.table import count_verdicts, tabulate

NAMES = ("hawk", "owl", "wren", "blind")


def board(text: str, method: RatingMethod | None = None) -> RatedLeaderboard:
    """Return the leaderboard of battles written as for `fought`, A being the hawk."""
    cells = fought(text)
    assert cells.parts is not None
    a = []
    b = []
    points = []
    video = []
    for cell, cluster, counts in zip(
        cells.parts.cell, cells.parts.cluster, cells.parts.counts, strict=True
    ):
        for value, times in zip((0.0, 0.5, 1.0), counts, strict=True):
            a += [int(cells.i[cell])] * int(times)
            b += [int(cells.j[cell])] * int(times)
            points += [value] * int(times)
            video += [int(cluster)] * int(times)
    bouts = Bouts(
        NAMES[: cells.models], np.array(a), np.array(b), np.array(points), np.array(video)
    )
    rated = rate_bouts(bouts, method or RatingMethod())
    return tabulate(rated, forfeits={}, totals=count_verdicts({"a": len(a)}))


def on(videos: int, text: str) -> str:
    """Return the same battles about each of so many videos."""
    return " ".join(f"{word}@{video}" for video in range(videos) for word in text.split())


EVEN = "A>B*3 B>A*3 A>C*3 C>A*2 B>C*2 C>B*3"


def test_a_model_that_wins_three_in_four_on_every_video_leads_alone() -> None:
    found = board(on(20, "A>B*3 B>A A>C*3 C>A B>C*2 C>B*2"))
    (lead,) = found.leads
    assert lead.first == ("hawk",)
    assert lead.rivals == ()
    assert set(lead.above) == {"owl", "wren"}
    assert lead.is_ranked
    assert [(row.model, row.rank_best, row.rank_worst) for row in found.models[:1]] == [
        ("hawk", 1, 1)
    ]


def test_equal_models_are_rivals_and_more_videos_are_named_or_out_of_reach() -> None:
    (lead,) = board(on(12, EVEN) + " A>B@12 A>C@13").leads
    assert lead.first == ("hawk",)
    assert {*lead.rivals} == {"owl", "wren"}
    assert lead.nearest == lead.rivals[0]
    assert lead.more is None or lead.more > 12


def test_below_ten_videos_nobody_is_ranked_and_parrots_are_below_all_the_same() -> None:
    losses = " A>D*2 B>D*2 C>D*2"
    found = board(on(RANKABLE_VIDEOS - 1, EVEN + losses))
    (lead,) = found.leads
    assert not lead.is_ranked
    assert lead.above == ("blind",)
    assert all(row.rank is row.rank_best is row.rank_worst is None for row in found.models)
    assert board(on(RANKABLE_VIDEOS, EVEN + losses)).models[0].rank == 1


def test_at_once_the_rivals_are_those_whose_range_holds_the_first_place() -> None:
    found = board(on(15, "A>B*5 B>A*3 A>C*5 C>A*3 B>C*4 C>B*4"), RatingMethod(simultaneous=True))
    (lead,) = found.leads
    assert lead.is_simultaneous
    ranges = {row.model for row in found.models if row.rank_best == 1}
    assert ranges == {*lead.first, *lead.rivals}


@pytest.mark.parametrize("intervals", ["clustered", "bootstrap", "battle"])
def test_every_way_of_making_intervals_has_differences_of_its_own(intervals: str) -> None:
    found = board(
        on(25, "A>B*3 B>A A>C*3 C>A B>C*2 C>B*2"),
        RatingMethod(intervals=intervals),  # type: ignore[arg-type]
    )
    assert found.leads[0].rivals == ()
    assert found.leads[0].basis.endswith(found.settings.interval)


rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 3), st.sampled_from([0.0, 0.5, 1.0]),
              st.integers(0, 14)),
    min_size=1, max_size=60,
)  # fmt: skip


@settings(max_examples=25)
@given(rows, st.booleans())
def test_a_lead_agrees_with_the_rows_of_its_board(
    battles: list[tuple[int, int, float, int]], simultaneous: bool
) -> None:
    a, step, points, video = (np.array(column) for column in zip(*battles, strict=True))
    bouts = Bouts(NAMES, a, (a + step) % 4, points, video)
    rated = rate_bouts(bouts, RatingMethod(simultaneous=simultaneous, pairs=True))
    found = tabulate(rated, forfeits={}, totals=count_verdicts({"a": len(a)}))
    ranks = {row.model: row for row in found.models}
    assert len(found.leads) == len(found.components)
    for lead, group in zip(found.leads, found.components, strict=True):
        assert group[: len(lead.first)] == lead.first
        assert list(lead.rivals) == [name for name in group if name in lead.rivals]
        assert not {*lead.rivals, *lead.above} & {*lead.first}
        for name in group:
            row = ranks[name]
            assert (row.rank is None) == (not lead.is_ranked)
            if row.rank is not None and name in lead.rivals:
                assert row.rank_best == 1
    assert found.pairs is not None
    assert all(
        not any(row[k] for k in range(len(row)) if k == i)
        for i, row in enumerate(found.pairs.apart)
    )


def test_a_board_with_a_parrot_says_how_far_its_zero_has_moved() -> None:
    found = board(on(3, "A>B B>A A>C C>A B>C C>B") + " A>D@1 B>D@2 C>D@0")
    (shift,) = found.settings.shift
    body = [row.rating for row in found.models if row.rating is not None][:3]
    # Ratings of the three less the shift have the mean that earlier versions gave them.
    assert np.mean(body) - shift == pytest.approx(1000, abs=0.1)
    assert sum("than in earlier versions" in note for note in found.settings.warnings) == 1
    assert board(on(12, EVEN)).settings.shift == pytest.approx([0], abs=0.5)
