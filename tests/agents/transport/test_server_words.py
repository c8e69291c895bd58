"""The words of an error are found wherever they stand in an answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.agents.calls.retry import fault_of
from videoautoarena.agents.transport.redaction import LONGEST_REASON
from videoautoarena.agents.transport.server_words import error_in, error_in_text, words_of

PAGE = "<!DOCTYPE html>\n<html><head><title>Attention Required!</title></head><b>x</b></html>"
LISTED = [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": "A secret"}]
QUOTED = (
    """BadRequestError: OpenAIException - {'error': {'message': "it's \\"odd\\"", 'code': 1}}"""
)


class Refused(Exception):
    """What a client raises that keeps a body."""

    status_code = 400

    def __init__(self, body: object, text: str | None = None) -> None:
        super().__init__("Error code: 400")
        self.body = body
        self.response = type("Response", (), {"headers": {}, "text": text})()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "Plain words", "code": "x"}}, "Plain words"),
        ({"error": "The error alone"}, "The error alone"),
        ({"error": {"error": {"message": "Deep"}}}, "Deep"),
        ({"error": None, "detail": "A detail"}, "A detail"),
        ({"detail": LISTED}, "seed: Extra inputs are not permitted"),
        ({"error": "Bad Request", "message": "Words", "statusCode": 400}, "Bad Request: Words"),
        ([{"error": {"message": "In a list"}}], "In a list"),
        ({"errors": ["One", {"message": "Two"}]}, "One: Two"),
        ({"error": {"message": '{"detail": "Within"}'}}, "Within"),
        ({"error": {"message": QUOTED}}, """BadRequestError: OpenAIException: it's "odd\""""),
        (
            {
                "error": {
                    "message": "Upstream",
                    "metadata": {"raw": '{"error": {"message": "Raw"}}'},
                }
            },
            "Upstream: Raw",
        ),
        (
            {"error": {"message": "Upstream", "metadata": {"raw": "error 1015"}}},
            "Upstream: error 1015",
        ),
        ({"error": {"type": "overloaded_error"}}, "overloaded_error"),
        ({"fault": {"faultstring": "A fault", "detail": {"errorcode": "x"}}}, "A fault"),
        ({"base_resp": {"status_code": 1002, "status_msg": "Too fast"}}, "Too fast"),
        ({"odd": "shape", "n": [1, 2]}, "odd: shape, n: 1, 2"),
        (PAGE, "Attention Required!"),
        ({"message": PAGE}, "Attention Required!"),
        ("<html><body><script>no()</script><p>No title</p></body></html>", "No title"),
        ("<html><body>of <b>one</b><i class='x'>word</i><p>two</p></body>", "of oneword two"),
        ("no healthy upstream", "no healthy upstream"),
        ('"A JSON string"', "A JSON string"),
    ],
)
def test_the_words_of_a_body_are_found(body: Any, words: str) -> None:
    assert words_of(body).text == words
    fault = fault_of(Refused(body))
    assert fault is not None
    assert fault.reason == f"HTTP 400: {words}"


def test_a_text_of_the_answer_is_read_where_its_client_kept_nothing() -> None:
    fault = fault_of(Refused(None, '{"detail": "prompt is too long: 9000 tokens > 8192"}'))
    assert fault is not None
    assert (fault.kind, fault.reason) == (
        "too-large",
        "HTTP 400: prompt is too long: 9000 tokens > 8192",
    )


@pytest.mark.parametrize("body", [None, "", {}, [], {"error": ""}, 5])
def test_a_server_without_a_word_is_told_as_such(body: object) -> None:
    fault = fault_of(Refused(body))
    assert fault is not None
    assert fault.reason == "HTTP 400, without a word of why"


def test_what_a_request_held_is_no_sign() -> None:
    body = {"detail": [{"msg": "odd", "input": "At most 1 image(s), insufficient_quota"}]}
    fault = fault_of(Refused(body))
    assert fault is not None
    assert fault.nature == "permanent"


def test_words_are_short_printable_and_without_keys() -> None:
    words = "key sk-abcdefgh12345678 \x1b[2J\u202e " + "word " * 500
    fault = fault_of(Refused({"error": {"message": words}}))
    assert fault is not None
    assert "sk-abc" not in fault.reason
    assert fault.reason.isprintable()
    assert len(fault.reason) == LONGEST_REASON


@pytest.mark.parametrize(
    "answer",
    [
        {"choices": [{"message": {"content": "error"}}], "error": None},
        {"choices": [], "usage": {}},
        {"candidates": [{"content": {"parts": [{"text": "error 429"}]}}]},
        {"ok": [True, None]},
        {"id": "x", "choices": [{"delta": {"content": "{'error': 429}"}}]},
    ],
)
def test_a_reply_is_no_error_whatever_it_says(answer: dict[str, Any]) -> None:
    assert error_in(answer) is None


def test_the_last_error_among_a_streams_pieces_is_found() -> None:
    piece = 'data: {"choices": [{"delta": {"content": "an error?"}}]}\n\n'
    told = 'event: error\ndata: {"error": {"message": "gone", "code": 502}}\n\ndata: [DONE]\n'
    assert words_of(error_in_text(f": hello\n\n{piece}{told}")).status == 502
    assert error_in_text(f"{piece}data: [DONE]\n") is None


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"base_resp": {"status_code": 1004, "status_msg": "login fail"}}, 401),
        ({"base_resp": {"status_code": 1002, "status_msg": "slow down"}}, 429),
        ({"base_resp": {"status_code": 1008, "status_msg": "no balance"}}, 402),
        ({"error": {"message": "Access denied", "type": "PermissionDenied"}}, 403),
        ({"error": {"message": "Access denied", "code": "AccessDeniedException"}}, 403),
        ({"error": {"message": "Who is it", "type": "AuthenticationError"}}, 401),
        ({"error": {"message": "No such model", "type": "NotFoundError"}}, 404),
        ({"error": {"message": "Odd", "type": "Odd"}}, None),
    ],
)
def test_a_machine_word_or_number_stands_for_a_status(body: Any, status: int | None) -> None:
    assert words_of(error_in(body)).status == status


NESTED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["error", "message", "detail", "code", "metadata", "raw", "x"]), inner
        )
    ),
    max_leaves=20,
)


@given(NESTED)
def test_no_body_is_too_odd_to_be_read(body: Any) -> None:
    said = words_of(body)
    assert isinstance(said.text, str)
    assert said.status is None or 400 <= said.status <= 599
    error_in(body)
    fault = fault_of(Refused(body))
    assert fault is not None
    assert fault.reason.startswith("HTTP 400")


def test_a_body_without_an_end_of_levels_is_read() -> None:
    slashes = '{"message":"' + "\\" * 20_000
    for body in ("[" * 100_000, '{"error":' * 50_000, "<" * 100_000, slashes):
        assert len(words_of(body).text) <= 20_000
