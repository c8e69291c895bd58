"""What the questions of a run come to by category, counted by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.played import battle, play, put_tags, slot, video
from tests.support.small_runs import alter
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.analysis.categories.figures import (
    CategoryReport,
    Count,
    group_of,
    report_of,
)
from videoautoarena.runs.analysis.categories.tags import NONE
from videoautoarena.runs.rating.method import SOLID_BATTLES
from videoautoarena.runs.run.rundir.reader import open_run

FILM = video()


def fought(count: int, **changed: Any) -> list[Battle]:
    """Return battles that hawk won against owl, all about one video."""
    return [battle(slot(FILM, k), question=f"What is in pan {k}?", **changed) for k in range(count)]


@pytest.fixture
def report(tmp_path: Path) -> CategoryReport:
    """Three of five questions are of counting; of code it could be read of none."""
    out = play(tmp_path / "out", fought(5))
    asked = [f"What is in pan {k}?" for k in range(5)]
    kinds = {(FILM.id, text): ["counting"] for text in asked[:3]}
    put_tags(out, kinds | {(FILM.id, asked[3]): []})  # type: ignore[arg-type]
    alter(out, "UPDATE tags SET body = json_set(body, '$.categories.code', 'unknown')")
    with open_run(out) as run:
        return report_of(run)


def counts_of(report: CategoryReport) -> dict[str, Count]:
    return {one.category: one for one in report.counts}


def test_a_share_is_of_the_questions_of_which_its_category_could_be_read(
    report: CategoryReport,
) -> None:
    counting = counts_of(report)["counting"]
    assert (report.questions, report.tagged) == (5, 4)
    assert (counting.questions, counting.unknown) == (3, 1)
    assert (counting.share.value, counting.share.n) == (1.0, 3)


def test_of_none_are_those_that_were_read_whole_and_of_no_category(report: CategoryReport) -> None:
    none = counts_of(report)[NONE]
    # What is of counting is not of none, whatever else could not be read of it.
    assert (none.questions, none.unknown, none.share.n) == (0, 1, 3)


def test_a_group_is_thin_below_a_hundred_battles_and_no_longer(tmp_path: Path) -> None:
    with open_run(play(tmp_path / "out", fought(1))) as run:
        thin = [group_of(run, "g", fought(n)).is_thin for n in (SOLID_BATTLES - 1, SOLID_BATTLES)]
    assert thin == [True, False]


def test_battles_about_one_video_are_one_cluster_of_the_share_of_both_bad(tmp_path: Path) -> None:
    bad = [*fought(6, verdict="tie_bad"), *fought(6)]
    apart = [one.model_copy(update={"video": f"v{k}"}) for k, one in enumerate(bad)]
    with open_run(play(tmp_path / "out", fought(1))) as run:
        one, each = (group_of(run, "g", some).both_bad_share for some in (bad, apart))
    assert one.value == each.value == 0.5
    assert (one.low, one.high) == (0.0, 1.0)
    assert each.low is not None
    assert each.low > 0.2
