"""Categories are known in any spelling, and what names none of them is none of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.agents.prompting.categories import OTHER, read_category
from videoautoarena.memory.records.records import CATEGORIES


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Cooking Recipes", "Cooking Recipes"),
        ("cooking_recipes", "Cooking Recipes"),
        ("Cooking & Recipes", "Cooking Recipes"),
        ("Category: **Travel guides**.", "Travel Guides"),
        ("life-vlogs", "Life Vlogs"),
        ("VLOG", "Life Vlogs"),
        ("News Programme", "News Programs"),
        ("Kochrezepte", "Cooking Recipes"),
        ("Reiseführer", "Travel Guides"),
        ("REISEFÜHRER", "Travel Guides"),
        ("Geschichte", "History"),
        ("Informatik", "Computer Science"),
        ("noticias", "News Programs"),
        ("艺术", "Art"),
        ("Sonstiges", OTHER),
        ("None of these", OTHER),
        ("stem", "STEM"),
        ("Weather", None),
        ("Movies, Art", None),
        ("", None),
        ("!!", None),
    ],
)
def test_a_category_is_read_in_the_spellings_that_people_use(said: str, meant: str | None) -> None:
    assert read_category(said) == meant


@given(st.sampled_from(CATEGORIES), st.sampled_from([str.upper, str.lower, str.title]))
def test_case_and_joints_never_matter(name: str, spell: object) -> None:
    said = spell(name.replace(" ", "-"))  # type: ignore[operator]
    assert read_category(f" '{said}' ") == name


def test_a_list_of_ones_own_is_all_there_is_to_choose_from() -> None:
    own = ("Sport", "Tiere & Natur", OTHER)
    assert read_category("sport", own) == "Sport"
    assert read_category("Tiere and Natur", own) == "Tiere & Natur"
    assert read_category("Movies", own) is None
    assert read_category("autre", own) == OTHER


def test_a_category_of_ones_own_in_signs_alone_is_known_by_these() -> None:
    assert read_category(" ★★ ", ("★", "★★", OTHER)) == "★★"
