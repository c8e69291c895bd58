"""Finding the one object in whatever a model wrote around it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.contracts import (
    SCHEMAS,
    EvolverReply,
    ExaminerReply,
    GradeReply,
    JudgeReply,
    PersonaReply,
    QuestionerReply,
    contract,
)
from agents.replies import MOST_FAULTS, BadReply, last_object, read_reply

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), VALUES)
NO_BRACES = st.text(st.characters(exclude_characters="{}"))


@pytest.mark.parametrize(
    "text",
    [
        '{"question": "Why?"}',
        '```json\n{"question": "Why?"}\n```',
        'At [00:12] he turns. {"question": "Why?"} I hope this helps.',
        'First {"question": "What?"}, or better:\n{"question": "Why?"}',
        'A {brace} and {"question": "Why?"}',
        'Cut off: {"question": "What {"question": "Why?"}',
    ],
)
def test_the_last_complete_object_binds(text: str) -> None:
    assert read_reply(text, QuestionerReply).question == "Why?"


def test_a_brace_inside_a_string_ends_nothing() -> None:
    text = 'so: {"question": "What does \\"}{\\" in {red} mean?"} }'
    assert read_reply(text, QuestionerReply).question == 'What does "}{" in {red} mean?'


def test_an_object_inside_another_is_not_the_last_one() -> None:
    assert last_object('{"a": {"b": {"c": 1}}}') == {"a": {"b": {"c": 1}}}


def test_an_object_in_a_list_counts() -> None:
    assert last_object('[{"a": 1}, {"b": 2}]') == {"b": 2}


@given(OBJECTS, NO_BRACES, NO_BRACES)
def test_any_object_is_found_whatever_stands_around_it(
    value: dict[str, Any], before: str, after: str
) -> None:
    assert last_object(f"{before}{json.dumps(value)}{after}") == value


@given(OBJECTS, OBJECTS, NO_BRACES)
def test_of_two_objects_the_second_one_counts(
    one: dict[str, Any], other: dict[str, Any], between: str
) -> None:
    assert last_object(f"{json.dumps(one)}{between}{json.dumps(other)}") == other


@given(st.text())
def test_any_text_is_read_or_refused_with_words(text: str) -> None:
    with pytest.raises(BadReply, match=r".+"):
        read_reply(text, QuestionerReply)


@pytest.mark.parametrize(
    "text", ["", "{", "}{", '{"question": "Why', "[1, 2]", "{" * 20_000, '{"a":' * 20_000]
)
def test_where_there_is_no_object_the_reply_says_so(text: str) -> None:
    with pytest.raises(BadReply, match="no complete JSON object"):
        read_reply(text, QuestionerReply)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5000])
def test_a_number_that_is_none_is_refused(number: str) -> None:
    scene = '{"start_s": 0, "end_s": %s, "what": "x"}' % number  # noqa: UP031
    with pytest.raises(BadReply):
        read_reply(f'{{"account": "x", "category": "Art", "scenes": [{scene}]}}', ExaminerReply)


def test_an_unknown_key_is_refused_by_name() -> None:
    with pytest.raises(BadReply, match="note: Extra inputs"):
        read_reply('{"question": "Why?", "note": "!"}', QuestionerReply)


def test_the_error_tells_where_and_never_repeats_the_value() -> None:
    with pytest.raises(BadReply, match="personas") as caught:
        read_reply('{"personas": ["A person", "A person", 77123]}', PersonaReply)
    assert "77123" not in str(caught.value)


def test_a_long_list_of_faults_is_cut() -> None:
    reply = json.dumps({name: 1 for name in "abcdefghij"})
    with pytest.raises(BadReply, match="and 10 more") as caught:
        read_reply(reply, JudgeReply)
    assert str(caught.value).count(";") == MOST_FAULTS


def test_a_text_of_blanks_is_no_question() -> None:
    with pytest.raises(BadReply, match="question"):
        read_reply('{"question": "  \\n "}', QuestionerReply)


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(BadReply, match="question"):
        read_reply('{"question": "so \\ud83d far"}', QuestionerReply)


def test_a_grade_out_of_range_is_refused() -> None:
    names = ("instruction_following", "accuracy", "relevance", "helpfulness", "overall")
    with pytest.raises(BadReply, match="overall"):
        read_reply(json.dumps(dict.fromkeys(names, 3.0) | {"overall": 5.1}), GradeReply)


def test_no_fault_at_all_is_a_reply() -> None:
    names = ("faults_a", "faults_b", "weaknesses_a", "weaknesses_b")
    reply = read_reply(
        json.dumps({name: [] for name in names} | {"question": "Why?"}), EvolverReply
    )
    assert reply.faults_a == ()


@pytest.mark.parametrize("role", SCHEMAS)
def test_a_model_that_repeats_its_task_has_not_done_it(role: Any) -> None:
    with pytest.raises(BadReply):
        read_reply(contract(role), SCHEMAS[role])


@pytest.mark.parametrize("depth", [10, 500, 900, 5000])
def test_an_object_as_deep_as_a_well_is_refused(depth: int) -> None:
    with pytest.raises(BadReply):
        read_reply('{"question": ' + "[" * depth + "]" * depth + "}", QuestionerReply)
