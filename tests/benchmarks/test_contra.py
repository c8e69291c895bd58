"""One leader, the same rivals and ranks on every surface."""

from __future__ import annotations

import pytest

from benchmarks.contra import contradictions, random_board


# A leader, islands, no ranks, and a model that lost everything.
@pytest.mark.parametrize("seed", [23, 25, 34, 37])
def test_every_surface_of_a_board_names_the_same_leader_rivals_and_ranks(seed: int) -> None:
    assert contradictions(random_board(seed)) == []


@pytest.mark.slow
def test_so_it_is_for_thirty_boards() -> None:
    assert {
        seed: found for seed in range(30) if (found := contradictions(random_board(seed)))
    } == {}
