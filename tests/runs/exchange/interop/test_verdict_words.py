"""Reading a verdict out of a judge's words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.runs.exchange.interop.judgments import published_rule, read_verdict

EXAMPLE = """```[Accuracy]
[Model B names the song, so B>A here. Elsewhere [[A>B]].]
```

```[Overall Judge]
My final verdict is tie: [[A=B]]
```"""


def test_the_label_after_the_last_section_binds() -> None:
    assert read_verdict(EXAMPLE) == ("tie", None)
    assert read_verdict(EXAMPLE.replace("[[A=B]]", "[[B>A]]")).verdict == "win"
    assert read_verdict(EXAMPLE.replace("[[A=B]]", "[[A>B]]")).verdict == "loss"


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        ("[Overall Judge] [[A>B]] [Overall Judge] [[B>A]]", "win"),
        ("[Overall Judge] first [[B>A]], but then [[A=B]]", "tie"),
        ("[overall judge]\n[[ b > a ]]", "win"),
        ("[Overall Judge] [[B>>A]]", "win"),
        ("[Overall Judge] [[A<B]]", "win"),
        ("[Overall Judge] [[**A>B**]]", "loss"),
        ("[Overall Judge] [B>A]", "win"),
        ("[Overall Judge] B > A", "win"),
        ("[Overall Judge] A=B, so A = B", "tie"),
        ("**Overall Judge**: [[B>A]]", "win"),
        ("[Overall Judge] x = 3 [[A>B]]", "loss"),
    ],
)
def test_what_means_one_thing_is_read(words: str, verdict: str) -> None:
    assert read_verdict(words) == (verdict, None)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (None, "the judge said nothing"),
        (" \n", "the judge said nothing"),
        (7, "the judge said nothing"),
        ("I cannot help with that.", "no section [Overall Judge]"),
        ("B>A", "no section [Overall Judge]"),
        ("[[B>A]] and [[A>B]]", "its labels contradict each other"),
        ("[[B>A]] [Overall Judge] both are fine", "no verdict after the last [Overall Judge]"),
        ("[Overall Judge] B>A or A>B", "its labels contradict each other"),
        ("[Overall Judge] JAB=BAJ", "no verdict after the last [Overall Judge]"),
    ],
)
def test_what_would_have_to_be_guessed_is_void_with_its_reason(words: object, reason: str) -> None:
    assert read_verdict(words) == (None, reason)


@given(
    before=st.text("AB>=[] \nx", max_size=60),
    label=st.sampled_from(["[[A>B]]", "[[A=B]]", "[[B>A]]"]),
    sentence=st.sampled_from(["", "My final verdict is tie: ", "\n", "Model B is better: "]),
)
def test_a_well_formed_end_is_read_as_the_published_scorer_reads_it(
    before: str, label: str, sentence: str
) -> None:
    words = f"{before}\n```[Overall Judge]\n{sentence}{label}\n```"
    assert read_verdict(words).verdict == published_rule(words)


def test_the_published_scorer_looks_for_parts_of_words() -> None:
    assert published_rule("[Overall Judge] not [[B>A]] but [[A>B]]") == "win"
    assert published_rule("[Overall Judge] t=3") == "tie"
    assert published_rule(None) == "loss"


@pytest.mark.parametrize("piece", ["[", "[[", "a ", "[ ", "[overall", "a<<<", "[[ \t"])
def test_long_words_are_read_to_their_end(piece: str) -> None:
    # A reader that looks again from every place would take hours over these.
    for words in (piece * 50_000, "[Overall Judge]" + piece * 50_000):
        assert read_verdict(words).verdict is None
