"""Texts that say the same are one theme, and a theme bears the words of one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

from tests.support.phrases import CHOSEN_BY, HELD_OUT
from videoautoarena.scoring.texts import themes
from videoautoarena.scoring.texts.themes import find_themes


def once(texts: Sequence[str]) -> dict[str, int]:
    return dict.fromkeys(texts, 1)


@pytest.mark.parametrize(
    ("groups", "least_rand", "least_purity"),
    [(CHOSEN_BY, 0.75, 0.95), (HELD_OUT, 0.7, 0.95), (CHOSEN_BY + HELD_OUT, 0.68, 0.9)],
    ids=["chosen by", "held out", "both"],
)
def test_paraphrases_of_known_groups_come_together(
    groups: tuple[tuple[str, ...], ...], least_rand: float, least_purity: float
) -> None:
    texts = [text for group in groups for text in group]
    known = [k for k, group in enumerate(groups) for _ in group]
    theme = find_themes(once(texts))
    assert adjusted_rand_score(known, [theme[text] for text in texts]) >= least_rand
    shares = Counter((theme[text], k) for text, k in zip(texts, known, strict=True))
    best = {name: max(n for (of, _), n in shares.items() if of == name) for name, _ in shares}
    assert sum(best.values()) / len(texts) >= least_purity


@settings(max_examples=25)
@given(st.lists(st.text("abc deé ", max_size=40) | st.sampled_from(HELD_OUT[0]), min_size=1))
def test_weights_are_those_of_scikit_learn_to_the_last_bit(texts: list[str]) -> None:
    for reader in (themes._stems, themes._pieces):
        terms = [list(reader(text)) for text in texts]
        if any(terms):
            oracle = TfidfVectorizer(analyzer=lambda one: one, sublinear_tf=True)
            expected = oracle.fit_transform(terms).toarray()
            assert np.array_equal(themes._weights(terms).toarray(), expected)


def test_pieces_of_words_are_those_of_scikit_learn() -> None:
    texts = [*HELD_OUT[0], "a", "ab abc", "  straße   日本語 ", ""]
    read = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5)).build_analyzer()
    told = [" ".join(w for w in text.split() if w not in ENGLISH_STOP_WORDS) for text in texts]
    told = [" ".join(themes._WORD.findall(text.casefold())) for text in told]
    for text in told:
        words = [word for word in text.split() if word not in themes._NO_THEME]
        assert sorted(themes._pieces(text)) == sorted(read(" ".join(words)))


def test_a_theme_is_named_after_its_most_central_text() -> None:
    texts = ["misses on-screen text", "misses the on-screen text in the corner", "hums"]
    counts = once([*texts, "misses on-screen text of a sign"])
    theme = find_themes(counts)
    assert theme["misses the on-screen text in the corner"] == "misses on-screen text"
    assert theme["hums"] == "hums"


def test_case_blanks_and_stops_make_no_other_theme_and_the_usual_spelling_names_it() -> None:
    theme = find_themes({"Counts wrong.": 2, "counts  wrong": 5, "COUNTS WRONG": 1, "is late": 1})
    assert {theme[text] for text in theme if "wrong" in text.casefold()} == {"counts  wrong"}


@settings(max_examples=25)
@given(st.dictionaries(st.text(max_size=20), st.integers(1, 9), max_size=12))
def test_whatever_was_written_has_a_theme_that_was_written(counts: dict[str, int]) -> None:
    theme = find_themes(counts)
    assert set(theme) == set(counts)
    assert set(theme.values()) <= set(counts)
    assert all(theme[name] == name for name in theme.values())
    assert find_themes(dict(reversed(counts.items()))) == theme


def test_texts_without_a_word_in_common_stay_apart() -> None:
    texts = ["aaaa", "bbbb", "cccc", "\N{CROCODILE}", "!", "\u7f3a\u5c11\u5b57\u5e55"]
    assert find_themes(once(texts)) == {text: text for text in texts}


def test_beyond_the_most_frequent_texts_the_rest_joins_the_nearest_theme(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(themes, "MOST", 2)
    often = {"ignores the subtitles": 9, "confuses left and right": 8}
    theme = find_themes(often | once(["subtitles are ignored", "left is right", "sings"]))
    assert theme["subtitles are ignored"] == "ignores the subtitles"
    assert theme["left is right"] == "confuses left and right"
    assert theme["sings"] == "sings"


def test_vectors_make_themes_in_place_of_words() -> None:
    place = {"red": [1.0, 0.0], "rot": [1.0, 0.1], "loud": [0.0, 1.0], "laut": [0.1, 1.0]}
    asked: list[list[str]] = []

    def embed(texts: Sequence[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        asked.append(list(texts))
        return np.array([place[text] for text in texts])

    theme = find_themes(once(list(place)), embed)
    assert theme["red"] == theme["rot"] != theme["loud"] == theme["laut"]
    assert asked == [sorted(place)]
