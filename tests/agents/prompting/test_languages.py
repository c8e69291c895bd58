"""The note that says which language a task is about, written and read again."""

from __future__ import annotations

from videoautoarena.agents.prompting.languages import (
    LANGUAGES,
    language_note,
    noted_language,
    noted_users,
)


def test_the_language_of_a_note_is_read_again() -> None:
    for code in LANGUAGES:
        note = language_note(code, "Ask the question in it.")
        assert noted_language(f"A prompt.\n\n{note}\n\nReply format: questioner") == code


def test_the_last_note_binds_and_one_within_a_line_is_none() -> None:
    two = "\n".join(language_note(code, "Answer in it.") for code in ("en", "de"))
    assert noted_language(two) == "de"
    assert noted_language("He said: Language: German (de). Answer.") is None
    assert noted_language("Language: Klingon (xx).") is None
    assert noted_language("") is None


def test_of_several_users_the_note_of_each_is_read() -> None:
    codes = ("en", "de", "zh")
    about = (f"User {number} asks in it." for number in (1, 2, 3))
    note = "\n".join(map(language_note, codes, about))
    assert noted_users(f"Describe them.\n\n{note}\n") == {1: "en", 2: "de", 3: "zh"}
    assert noted_users(language_note("de", "Ask in it.")) == {}
