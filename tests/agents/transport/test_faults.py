"""What servers say, word for word, and the class each error is put in."""

from __future__ import annotations

from typing import Any

import pytest

from videoautoarena.agents.calls.retry import fault_of, gives_up
from videoautoarena.agents.limits.estimates import may_be_charged
from videoautoarena.agents.transport.answers import is_filtered
from videoautoarena.agents.transport.faults import (
    GarbledAnswer,
    Nature,
    demands_stream,
    excess_of,
    most_images,
    nature_of,
    refuses_response_format,
    refuses_system,
)
from videoautoarena.memory.records.records import Attempt

QUOTA = "You exceeded your current quota, please check your plan and billing details."
PER_DAY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
PER_MINUTE = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"


def openai(status: int, message: str, **facts: Any) -> tuple[int, str]:
    body = {"message": message, "type": None, "param": None, "code": None, **facts}
    return status, f"Error code: {status} - {{'error': {body}}}"


def gemini(status: int, message: str, word: str, *quotas: str) -> tuple[int, str]:
    details = [{"violations": [{"quotaId": name} for name in quotas]}]
    body = {"code": status, "message": message, "status": word, "details": details}
    return status, f"{status} {word}. {{'error': {body}}}"


SAID: list[tuple[tuple[int, str], Nature]] = [
    (openai(429, QUOTA, type="insufficient_quota", code="insufficient_quota"), "quota"),
    (
        openai(400, "Billing hard limit has been reached", code="billing_hard_limit_reached"),
        "quota",
    ),
    (openai(402, "Insufficient credits"), "quota"),
    (openai(429, "Rate limit reached for gpt-4o on tokens per min (TPM)"), "transient"),
    (gemini(429, QUOTA, "RESOURCE_EXHAUSTED", PER_MINUTE), "transient"),
    (gemini(429, QUOTA, "RESOURCE_EXHAUSTED", PER_DAY), "quota"),
    (gemini(429, QUOTA, "RESOURCE_EXHAUSTED", PER_DAY, PER_MINUTE), "quota"),
    (
        gemini(429, "Resource has been exhausted (e.g. check quota).", "RESOURCE_EXHAUSTED"),
        "transient",
    ),
    (gemini(503, "The model is overloaded. Please try again later.", "UNAVAILABLE"), "transient"),
    ((529, "overloaded_error"), "transient"),
    ((408, "The prompt is too long to be processed in time"), "transient"),
    ((403, "Quota exceeded for requests per minute"), "permanent"),
    ((429, "Quota exceeded for requests"), "transient"),
    ((429, "Too busy. Try again in 1h2m3s"), "quota"),
    ((503, "Too busy. Try again in 1h2m3s"), "transient"),
    ((500, "Internal error"), "transient"),
    ((400, "invalid_request_error"), "permanent"),
    ((401, "Incorrect API key provided"), "permanent"),
    ((403, "PERMISSION_DENIED"), "permanent"),
    ((404, "The model does not exist"), "permanent"),
    (
        openai(
            400,
            "The response was filtered due to the prompt triggering Azure OpenAI's content "
            "management policy.",
            code="content_filter",
            innererror={"code": "ResponsibleAIPolicyViolation"},
        ),
        "content-filter",
    ),
    (
        openai(
            400, "Your request was rejected by our safety system.", code="content_policy_violation"
        ),
        "content-filter",
    ),
    (
        openai(
            400,
            "This model's maximum context length is 128000 tokens. However, your messages "
            "resulted in 174643 tokens.",
            code="context_length_exceeded",
        ),
        "too-large",
    ),
    (openai(400, "Too many images in request: 251, maximum allowed: 250."), "too-large"),
    (openai(400, "Exceeded maximum number of images (50) allowed in the request."), "too-large"),
    (openai(400, "Request content length exceeded 32 MB limit."), "too-large"),
    ((413, "Request Entity Too Large"), "too-large"),
    (
        gemini(
            400,
            "The input token count (1054016) exceeds the maximum number of tokens allowed "
            "(1048576).",
            "INVALID_ARGUMENT",
        ),
        "too-large",
    ),
    (
        gemini(400, "Request payload size exceeds the limit: 20971520 bytes.", "INVALID_ARGUMENT"),
        "too-large",
    ),
    (
        (
            400,
            "{'object': 'error', 'message': 'At most 5 image(s) may be provided in one request.'}",
        ),
        "too-large",
    ),
    ((400, "the request exceeds the available context size, try increasing it"), "too-large"),
    (
        (500, "{'type': 'exceed_context_size_error', 'n_prompt_tokens': 1407, 'n_ctx': 256}"),
        "too-large",
    ),
]


@pytest.mark.parametrize(("said", "nature"), SAID, ids=[said[1][:60] for said, _ in SAID])
def test_an_error_is_put_in_its_class(said: tuple[int, str], nature: Nature) -> None:
    assert nature_of(*said) == nature


@pytest.mark.parametrize(
    ("said", "most"),
    [
        ("At most 5 image(s) may be provided in one request.", 5),
        ("Too many images in request: 251, maximum allowed: 250.", 250),
        ("Too many images in request. Max is 10.", 10),
        ("Exceeded maximum number of images (50) allowed in the request.", 50),
        ("request contains 54 images, exceeding the maximum of 50 allowed per request", 50),
        ("too many images: 11 images were provided, but the model supports a maximum of 10", 10),
        ("too many images and documents: 120 + 0 > 100", 100),
        ("You set '{\"image\": 8}' in --limit-mm-per-prompt, but passed 32 image items", 8),
        ("image sizes differ: 9000 > 8000 pixels", None),
        ("This model's maximum context length is 128000 tokens.", None),
        ("", None),
    ],
)
def test_a_server_says_how_many_images_it_takes(said: str, most: int | None) -> None:
    assert most_images(said) == most


def test_a_long_error_is_read_in_no_time() -> None:
    assert nature_of(400, "images " * 50_000) == "permanent"
    assert most_images("too many images " * 50_000) is None


@pytest.mark.parametrize(
    "ending",
    [
        "content_filter",
        "SAFETY",
        "FinishReason.PROHIBITED_CONTENT",
        "BLOCKLIST",
        "refusal",
        "guardrail_intervened",
    ],
)
def test_a_filter_is_known_by_how_the_reply_ends(ending: str) -> None:
    assert is_filtered(ending)


@pytest.mark.parametrize("ending", ["stop", "length", "MAX_TOKENS", "STOP", ""])
def test_other_endings_are_no_filter(ending: str) -> None:
    assert not is_filtered(ending)


def test_what_a_server_said_in_the_body_alone_counts() -> None:
    error = Exception("Error code: 429")
    error.status_code = 429  # type: ignore[attr-defined]
    error.body = {"code": "insufficient_quota"}  # type: ignore[attr-defined]
    fault = fault_of(error)
    assert fault is not None
    assert (fault.kind, fault.is_transient) == ("quota", False)


def test_an_error_behind_status_200_is_still_read() -> None:
    fault = fault_of(GarbledAnswer("ValueError: {'type': 'exceed_context_size_error'}"))
    assert fault is not None
    assert fault.kind == "too-large"
    plain = fault_of(GarbledAnswer("JSONDecodeError: Expecting value"))
    assert plain is not None
    assert (plain.kind, plain.nature) == ("malformed", "transient")


def test_an_answer_that_cannot_be_read_is_asked_for_three_times() -> None:
    fault = fault_of(GarbledAnswer("JSONDecodeError: Expecting value"))
    assert fault is not None
    garbled = Attempt(kind="malformed", reason="", waited_s=1.0)
    other = Attempt(kind="http-500", reason="", waited_s=1.0)
    told = [gives_up(fault, before) for before in ([], [garbled], [other] * 2 + [garbled] * 2)]
    assert told == [False, False, True]
    assert not gives_up(fault, [other] * 2)
    assert may_be_charged(fault.kind)


def test_a_server_without_room_is_given_fifteen_minutes() -> None:
    error = Exception("full")
    error.status_code = 429  # type: ignore[attr-defined]
    fault = fault_of(error)
    assert fault is not None

    def attempts(kind: str, count: int) -> list[Attempt]:
        return [Attempt(kind=kind, reason="", waited_s=60.0)] * count

    assert not gives_up(fault, attempts("http-429", 14))
    assert gives_up(fault, attempts("http-429", 15))
    assert not gives_up(fault, attempts("timeout", 5))


@pytest.mark.parametrize(
    ("words", "excess"),
    [
        ("Limit 30000, Requested 45210. The tokens must be reduced", 1.507),
        ("prompt is too long: 300000 tokens > 200000 maximum", 1.5),
        ("input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000", 1.036),
        ("You passed 49152 input tokens. The model's context length is only 32768 tokens", 1.5),
        (
            "You passed 5772 input tokens and requested 4096 output tokens. However, the model's "
            "context length is only 8192 tokens, resulting in a maximum input length of 4096.",
            1.409,
        ),
        (
            "the maximum context length is 8192 tokens, your request has 9000 input tokens; "
            "Available Fallbacks=None. 'code': '400'",
            1.099,
        ),
        ("Prompt is 40,000 tokens. Context is 32,768 tokens.", 1.221),
        ("Limit 30000, Used 20000, Requested 45210 tokens.", 1.507),
        ("tokens per minute: limit 30000, current usage 41000", None),
        ("Unable to generate a word: your prompt has 9000 tokens, the limit is 8192", 1.099),
        ("max_tokens: 100000 > 8192", None),
        ("context limit: 1000 + 250000 > 200000 for input and max_tokens", None),
        ("max_tokens is too large: (40000 > 32768 - 512) tokens of context", None),
        ("The model is loaded with a context length of only 4096 tokens", None),
        ("Limit 30000, Used 29000, Requested 2000 tokens", None),
        ("image exceeds 5 MB maximum: 7340032 bytes > 5242880 bytes of input", None),
    ],
)
def test_a_refusal_says_by_how_much_a_request_is_too_long(words: str, excess: float | None) -> None:
    found = excess_of(words)
    assert found == (None if excess is None else pytest.approx(excess, abs=0.001))


@pytest.mark.parametrize("status", [400, 404, 422, 500])
def test_a_number_of_images_is_understood_whatever_the_status(status: int) -> None:
    words = "this model only supports one image while more than one image requested"
    assert (nature_of(status, words), most_images(words)) == ("too-large", 1)


def test_a_refusal_of_how_a_request_is_built_is_named_and_never_tried_again() -> None:
    said = {
        "System role not supported": refuses_system,
        "This model only supports streaming": demands_stream,
        "response_format json_schema is not supported": refuses_response_format,
    }
    for words, sign in said.items():
        natures = {nature_of(status, words) for status in (400, 422, 500)}
        assert natures == {"permanent"}
        assert [other(500, words) for other in said.values()] == [
            other is sign for other in said.values()
        ]
        assert not any(sign(status, words) for status in (401, 402, 403, 429))


def test_what_a_request_may_not_hold_stands_in_its_fault() -> None:
    error = Exception("System role not supported")
    error.status_code = 500  # type: ignore[attr-defined]
    fault = fault_of(error)
    assert fault is not None
    assert (fault.nature, fault.refused_system) == ("permanent", True)
    assert (fault.demands_stream, fault.refused_format) == (False, False)


@pytest.mark.parametrize(
    "words",
    [
        "This response_format type is unavailable now",
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported",
        "JSON mode is not enabled for models/gemma-3-27b-it",
        "'response_format.type' must be 'json_schema' or 'text'",
        "[{'type': 'extra_forbidden', 'loc': ['body', 'response_format'], 'msg': 'Extra inputs'}]",
        "Failed to compile json_schema grammar",
    ],
)
def test_a_form_of_reply_that_is_refused_is_known(words: str) -> None:
    assert refuses_response_format(400, words)


@pytest.mark.parametrize(
    "bit",
    ["maximum ", "images: 1, ", "exceed ", "1 ", "the input ", "{", "insufficient_", "image 1 > "],
)
def test_words_that_repeat_are_read_in_no_time(bit: str) -> None:
    words = bit * 30_000
    assert nature_of(400, words) in ("permanent", "too-large")
    assert most_images(words) in (None, 1)
    assert excess_of(words) is None
