"""A choice is read as it was meant or not at all: never guessed, never of two."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from videoautoarena.agents.prompting.fences import LETTERS
from videoautoarena.agents.roles.choose import OptionChoice, read_choice, read_published

ANIMALS = ("a cat sleeps", "a dog runs", "a bird sings", "two cats and a dog")
NUMBERS = ("3", "4", "12", "2")
COLOURS = ("red", "blue", "no", "Yes")
DEGREES = ("-1", "1", "0")
SIGNS = ("!", "?", "...")
MIXED = ("A dog runs", "The man does not jump", "The man jumps", "Plan B, because it rains")

READ = {
    # the letter alone, in whatever it is wrapped
    "B": 1,
    "b": 1,
    "a": 0,
    "A": 0,
    "(B)": 1,
    "( B )": 1,
    "[B]": 1,
    "[[B]]": 1,
    "B.": 1,
    "B)": 1,
    "b)": 1,
    "B:": 1,
    "'B'": 1,
    '"B"': 1,
    "“B”": 1,
    "**C**": 2,
    "**(C)**": 2,
    "__D__": 3,
    "`D`": 3,
    "# B": 1,
    "- B": 1,
    "$B$": 1,
    "\n\n  B \n": 1,
    "（Ｂ）": 1,
    "$\\boxed{B}$": 1,
    "\\boxed{\\text{(B)}}": 1,
    "<answer>B</answer>": 1,
    "<answer>(B) a dog runs</answer>": 1,
    '{"answer": "B"}': 1,
    '```json\n{"answer": "C"}\n```': 2,
    # the letter, said to be the answer
    "Option D": 3,
    "option d": 3,
    "Answer: C": 2,
    "Answer: c": 2,
    "answer - C": 2,
    "Answer (C)": 2,
    "ANSWER: C.": 2,
    "The answer is (B).": 1,
    "The answer is B": 1,
    "The correct answer is: B": 1,
    "The correct answer to this question is **B**.": 1,
    "The correct option is option B.": 1,
    "The best option is (A).": 0,
    "Best option: (A)": 0,
    "Best Option: (A": 0,
    "Best option (A)": 0,
    "My answer would be B.": 1,
    "The answer should be (C), a bird sings.": 2,
    "The answer must be C": 2,
    "The answer is therefore C.": 2,
    "I choose B.": 1,
    "I would go with (B).": 1,
    "I'd pick option B": 1,
    "I'll say C.": 2,
    "It is (B).": 1,
    "It's B.": 1,
    "So it must be B.": 1,
    "Thus, (D).": 3,
    "(B) is the correct answer.": 1,
    "B is correct.": 1,
    "Option C seems to be the best.": 2,
    "Option B (a dog runs) is right.": 1,
    # the text of an option, alone or with its letter
    "a dog runs": 1,
    "A dog runs": 1,
    "A dog runs.": 1,
    "A DOG RUNS!": 1,
    "two cats and a dog": 3,
    "It is two cats and a dog.": 3,
    "The video shows that a bird sings.": 2,
    "Answer: a bird sings": 2,
    "(B) a dog runs": 1,
    "b) a dog runs": 1,
    "B. A dog runs.": 1,
    "B: a dog runs": 1,
    "B - a dog runs": 1,
    "**B. a dog runs**": 1,
    "A. A cat sleeps": 0,
    "(D) two cats and a dog": 3,
    "Option B, a dog runs, is the right answer.": 1,
    # reasons before and behind
    "B, because a dog crosses the meadow.": 1,
    "B because the animal barks.": 1,
    "(C)\n\nA small animal opens its beak at t=12.00s.": 2,
    "The answer is B because (A) shows no dog.": 1,
    "The answer is (B), not (A).": 1,
    "The answer is B rather than A.": 1,
    "The answer is B. (A) is wrong.": 1,
    "(A) shows a cat, so no.\nThe answer is B.": 1,
    "At first it might be (A), and (C) fits as well. Final answer: (D)": 3,
    "The answer is A at first sight.\nThen a dog comes in.\n\nFinal answer: B": 1,
    "Final answer:\n\n**B**": 1,
    "The answer is:\n(B) a dog runs": 1,
    "(A) a cat sleeps\n(B) a dog runs\n(C) a bird sings\n(D) two cats and a dog\n\nAnswer: C": 2,
    "Let me see. (A) no, (B) no, (D) no. So the answer is (C).": 2,
    "(A) is wrong. (C) does not fit. (D) is not shown. (B) is right.": 1,
    "Neither A nor B, so C.": 2,
    "Not A. B.": 1,
    "Unlike (A), (B) is correct.": 1,
    "A and C are wrong, so it is B.": 1,
    "Having ruled out (A), (C) and (D), I choose (B).": 1,
    "The answer is not A. The answer is B.": 1,
    "<think>A? No, perhaps C.</think>\nB": 1,
    "A vehicle stops, then the bird opens its beak. Option C.": 2,
}
"""Reply to the place of the option that it names."""

UNREAD = {
    # nothing is named
    "": "empty",
    "   \n": "empty",
    "<think>It is B.": "empty",
    "I cannot answer that from these frames.": "no option",
    "I'm sorry, but I can't help with this.": "no option",
    "None of the options.": "no option",
    "Unclear.": "no option",
    "A vehicle stops.": "no option",
    "A horse jumps over a fence.": "no option",
    "I think so, too.": "no option",
    "an apple a day": "no option",
    "He takes vitamin C.": "no option",
    "U.S.A.": "no option",
    "e.g. this one": "no option",
    "BC": "no option",
    "Best": "no option",
    "3": "no option",
    "?": "no option",
    # what is named is ruled out
    "not B": "no option",
    "Not (B).": "no option",
    "The answer is not B.": "no option",
    "The answer isn't (B).": "no option",
    "B is wrong.": "no option",
    "Neither (A) nor (B).": "no option",
    "It cannot be B": "no option",
    "Anything except (B)": "no option",
    "I would rule out (A).": "no option",
    "B: no": "no option",
    "The wrong answer is A.": "no option",
    "The least likely option is A": "no option",
    # what is said is that there is no answer
    "N/A": "no option",
    "Answer: N/A": "no option",
    "I'd say n / a": "no option",
    '{"answer": "N/A"}': "no option",
    "\\boxed{\\text{N/A}}": "no option",
    # no option has that letter
    "E": "no option has",
    "(F)": "no option has",
    "The answer is (E).": "no option has",
    "Option H": "no option has",
    # two are named
    "A or B": "several",
    "A/B": "several",
    "A, B": "several",
    "A B": "several",
    "B and C": "several",
    "b, c": "several",
    "(A)(B)": "several",
    "Both A and B": "several",
    "B or E": "several",
    "Either (A) or (C).": "several",
    "The answer is A or B.": "several",
    "The answer is B. The answer is C.": "several",
    "The answer is (A), alternatively (B).": "several",
    "The answer is B, but it could also be A.": "several",
    "The answer is B. Or maybe (C).": "several",
    "Final answer: A. Final answer: B.": "several",
    "The answer is A. Correction: B": "several",
    "Answer: A. Sorry, B.": "several",
    "I pick A. On second thought, (B).": "several",
    "The answer is A.\n\nFinal answer: B": "several",
    "The answer is A. \\boxed{B}": "several",
    "The answer is B.\n\n(C)": "several",
    "B\nC": "several",
    "B\n\nThe answer is C.": "several",
    "(A) or (B) is correct.": "several",
    "(A) is correct. (B) is correct.": "several",
    "(A) a cat sleeps\n(B) a dog runs\n(C) a bird sings\n(D) two cats and a dog": "several",
    "a cat sleeps and a dog runs": "several",
    "I cannot tell whether it is (A) or (B).": "several",
    "(A) shows a cat. (B) shows a dog.": "several",
    # a letter with another option's text
    "(B) a cat sleeps": "another option's text",
    "B. A cat sleeps.": "another option's text",
    "A: a dog runs": "another option's text",
    "The answer is B, a bird sings.": "another option's text",
    "The answer is (B).\na bird sings": "another option's text",
    "The answer is D: a dog runs": "another option's text",
}
"""Reply to what is said of it."""


@pytest.mark.parametrize(("reply", "place"), READ.items())
def test_a_choice_is_read_in_free_words(reply: str, place: int) -> None:
    assert read_choice(reply, ANIMALS) == OptionChoice(place)


@pytest.mark.parametrize(("reply", "why"), UNREAD.items())
def test_a_reply_that_names_no_option_or_two_is_unreadable(reply: str, why: str) -> None:
    chosen = read_choice(reply, ANIMALS)
    assert chosen.place is None
    assert chosen.reason is not None
    assert why in chosen.reason


@pytest.mark.parametrize(
    ("reply", "options", "place"),
    [
        ("4", NUMBERS, 1),
        ("The answer is 4.", NUMBERS, 1),
        ("It appears 4 times.", NUMBERS, 1),
        ("12", NUMBERS, 2),
        ("(A) 3", NUMBERS, 0),
        ("(A) 4", NUMBERS, None),
        ("It comes at 2 s and at 4 s.", NUMBERS, None),
        ("4.5", NUMBERS, None),
        ("The answer is B, first seen at 3 s.", NUMBERS, 1),
        ("red", COLOURS, 0),
        ("The light is blue.", COLOURS, 1),
        ("No", COLOURS, 2),
        ("Yes.", COLOURS, 3),
        ("Yes, I saw it.", COLOURS, 3),
        ("I have no idea.", COLOURS, None),
        ("The answer is B, no doubt.", COLOURS, 1),
        ("red or blue", COLOURS, None),
        ("A dog runs", MIXED, 0),
        ("The man does not jump.", MIXED, 1),
        ("The man jumps.", MIXED, 2),
        ("Plan B, because it rains", MIXED, 3),
        ("The answer is: Plan B, because it rains", MIXED, 3),
        ("(D) Plan B, because it rains", MIXED, 3),
        ("(B) The man jumps", MIXED, None),
        ("-1", DEGREES, 0),
        ("1", DEGREES, 1),
        ("It is -1 degrees.", DEGREES, 0),
        ("(B) 1", DEGREES, 1),
        ("(B) -1", DEGREES, None),
        ("C", SIGNS, 2),
        ("(B) ?", SIGNS, 1),
    ],
)
def test_options_of_any_kind_are_known_by_their_text(
    reply: str, options: tuple[str, ...], place: int | None
) -> None:
    assert read_choice(reply, options).place == place


@pytest.mark.parametrize(
    ("reply", "place"), [("A", 0), ("C", 0), ("the same", 0), ("(C) the same", 0), ("B", 1)]
)
def test_options_that_repeat_are_one(reply: str, place: int) -> None:
    assert read_choice(reply, ("the same", "another", "The same.")).place == place


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ("B", 1),
        ("(B) a dog runs", 1),
        ("The answer is (B), since the an", 1),
        ("Looking at (A), the cat", None),
        ("(A) a cat sleeps\nThe next one", None),
        ("A dog runs, and th", None),
    ],
)
def test_of_a_reply_that_was_cut_off_only_what_it_says_it_chose_counts(
    reply: str, place: int | None
) -> None:
    assert read_choice(reply, ANIMALS).place is not None
    chosen = read_choice(reply, ANIMALS, ending="max_tokens")
    assert chosen.place == place
    assert place is not None or "cut off" in str(chosen.reason)


def test_both_names_of_what_repeats_are_no_contradiction() -> None:
    assert read_choice("A or C", ("the same", "another", "the same")) == OptionChoice(0)


WRAPS = (
    "{}", "({})", "[{}]", "{}.", "{})", "**{}**", "**({})**", "Option {}", "option ({})",
    "Answer: {}", "Answer: ({})", "The answer is {}.", "The answer is ({}).", "Best option: ({})",
    "The correct answer is **{}**.", "I choose {}.", "I would go with ({}).", "\\boxed{{{}}}",
    "<answer>{}</answer>", "Final answer: {}", "({}) is correct.", "It is ({}).",
)  # fmt: skip
TAGGED = "<answer>{}</answer>"
BETWEEN = (" or ", " and ", ", ", "/", "\n", "\n\n", " ", " & ", ". ", "; ")
BEFORE = ("", "Let me look at the frames. ", "I watched closely.\n\n", "1. A man walks in.\n")
BEHIND = ("", "\n\nThe frames at the end show it.", "\n")
places = st.integers(0, 5)


@given(
    place=places,
    wrap=st.sampled_from(WRAPS),
    lead=st.sampled_from(BEFORE),
    end=st.sampled_from(BEHIND),
)
@example(place=0, wrap="<answer>{}</answer>", lead="Let me look at the frames. ", end="")
def test_a_letter_reads_back_from_whatever_it_is_wrapped_in(
    place: int, wrap: str, lead: str, end: str
) -> None:
    options = [f"option number {word}" for word in ("one", "two", "three", "four", "five", "six")]
    assert read_choice(lead + wrap.format(LETTERS[place]) + end, options) == OptionChoice(place)


@given(
    pair=st.lists(places, min_size=2, max_size=2, unique=True),
    wraps=st.tuples(st.sampled_from(WRAPS), st.sampled_from(WRAPS)),
    between=st.sampled_from(BETWEEN),
    lead=st.sampled_from(BEFORE),
)
@example(pair=[0, 1], wraps=(TAGGED, TAGGED), between=" or ", lead="I watched closely.\n\n")
def test_two_letters_at_the_end_never_read_as_one(
    pair: list[int], wraps: tuple[str, str], between: str, lead: str
) -> None:
    first, second = (w.format(LETTERS[p]) for w, p in zip(wraps, pair, strict=True))
    options = ["one thing", "other thing", "third thing", "fourth thing", "fifth thing", "a sixth"]
    assert read_choice(lead + first + between + second, options).place is None


@given(st.text(max_size=200), st.lists(st.text(max_size=12), min_size=2, max_size=6))
def test_any_text_is_read_or_has_a_reason(reply: str, options: list[str]) -> None:
    chosen = read_choice(reply, options)
    assert (chosen.place is None) != (chosen.reason is None)
    assert chosen.place is None or 0 <= chosen.place < len(options)


@given(
    words=st.permutations(["lamp", "stone", "horse", "water", "bread", "cloud", "north", "yarn"]),
    place=st.integers(0, 3),
)
def test_the_full_text_of_an_option_names_it(words: list[str], place: int) -> None:
    texts = [" ".join(words[2 * n :][:2]) for n in range(4)]
    for said in (texts[place], f"{texts[place].capitalize()}.", f"I see {texts[place]} there."):
        assert read_choice(said, texts) == OptionChoice(place)


@pytest.mark.parametrize("piece", ["(A) ", "<answer>", "the answer is ", "\\boxed{", "not ", "B. "])
def test_a_reply_made_to_waste_time_is_read_all_the_same(piece: str) -> None:
    assert read_choice(piece * 5_000 + "\n\nFinal answer: C", ANIMALS).place in (2, None)


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ("B", 1), ("B)", 1), ("(B)", 1), ("(B) a cat", 1), ("Best Option: (C) it", 2), (" D\n", 3),
        ("(A) or (B)", 0), ("the dog (B)", 1), ("b)", None), ("B.", None), ("Option B", None),
        ("", None), (")", None), ("(see above) B", None), ("(E) it", None), ("AB", None),
    ],
)  # fmt: skip
def test_as_published_the_character_before_the_first_bracket_decides(
    reply: str, place: int | None
) -> None:
    chosen = read_published(reply, ANIMALS)
    assert chosen.place == place
    assert (chosen.reason is None) == (place is not None)
