"""A run of two clips and four rounds as the version wrote it that knew no number of contracts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.golden import unpack
from tests.support.small_runs import battles_of, play_again
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.leaderboard.board import slices_of
from videoautoarena.runs.run.rundir.reader import RUN_FILE, contracts_of


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return unpack(tmp_path / "out")


def test_every_word_and_every_pair_of_it_comes_out_the_same_again(out: Path) -> None:
    """Prompts, contracts, draws and judgings: what any of them asks anew would be paid again."""
    found = play_again(out)
    assert (found.battles, found.others, found.differences) == (24, 0, [])


def test_half_of_its_pairs_were_drawn_by_results(out: Path) -> None:
    with Store.open(out / RUN_FILE, write=False) as store:
        draws = [store.draw(battle.id) for battle in store.battles()]
        assert contracts_of(store.manifest()) == 1
    assert sorted(draw.basis or 0 for draw in draws if draw and draw.basis is not None) == [
        *[0] * 6,
        *[1] * 6,
    ]


def test_its_judge_was_not_asked_by_standard_and_that_is_said(out: Path) -> None:
    assert all(one.standards is None for b in battles_of(out) for one in b.verdicts)
    with pytest.raises(BadInput, match="gave no verdict by standard"):
        slices_of(out, "standard")
