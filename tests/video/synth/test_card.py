"""The test card shows the colours it names, in their order."""

from __future__ import annotations

import io
from itertools import permutations

import pytest
from PIL import Image

from tests.support.cards import colours_of
from videoautoarena.video.synth.splice import COLOURS, HEIGHT_PX, WIDTH_PX, draw_card


def test_a_card_is_a_small_jpeg() -> None:
    card = draw_card(["red", "white", "black"])
    assert Image.open(io.BytesIO(card)).size == (WIDTH_PX, HEIGHT_PX)
    assert len(card) < 4000


@pytest.mark.parametrize("names", list(permutations(COLOURS, 3))[::13])
def test_the_stripes_can_be_read_off_again(names: tuple[str, ...]) -> None:
    assert colours_of(draw_card(names), len(names)) == list(names)
