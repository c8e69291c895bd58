"""What a call costs is known by somebody's word or not at all."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.agents.limits.prices import (
    CallCost,
    MoneyAndTokens,
    cost_of,
    most_usd,
    price_of,
    rates_of,
    summed,
)
from videoautoarena.agents.models.registry import Model, parse_model
from videoautoarena.memory.records.records import Price, Usage

OWN = Price(input_usd=2.0, output_usd=8.0, cached_usd=0.5, written_usd=2.5)
TOKENS = st.integers(0, 10**6)


def model(provider: str, name: str, **more: object) -> Model:
    return Model(alias="m", model=f"{provider}:{name}", **more)  # type: ignore[arg-type]


def test_cached_and_written_tokens_are_part_of_the_input_and_thought_ones_of_the_output() -> None:
    usage = Usage(
        input_tokens=1_000_000,
        cached_tokens=400_000,
        written_tokens=100_000,
        output_tokens=100_000,
        reasoning_tokens=90_000,
    )
    # 0.5 M at $2, 0.4 M at $0.50, 0.1 M at $2.50 and 0.1 M at $8.
    found = cost_of(model("openai", "gpt-4o", price=OWN), usage)
    assert found.usd == pytest.approx(1.0 + 0.2 + 0.25 + 0.8)
    assert found.source == "arena.toml"


def test_what_the_provider_says_beats_every_price() -> None:
    usage = Usage(input_tokens=1, output_tokens=1)
    assert cost_of(model("openai", "x", price=OWN), usage, 0.25) == CallCost(0.25, "provider")


def test_the_table_knows_the_big_providers() -> None:
    usage = Usage(input_tokens=1_000_000, cached_tokens=500_000, output_tokens=100_000)
    found = cost_of(model("openai", "gpt-4o"), usage)
    assert found.usd == pytest.approx(0.5 * 2.5 + 0.5 * 1.25 + 0.1 * 10)
    assert (found.source or "").startswith("genai-prices 0.")


def test_a_long_input_is_dearer_where_the_provider_has_it_so() -> None:
    pro = model("google_genai", "gemini-2.5-pro")
    short, long = (
        cost_of(pro, Usage(input_tokens=tokens, output_tokens=0)).usd for tokens in (10**5, 10**6)
    )
    assert short == pytest.approx(0.125)
    assert long == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        ("openai", "gpt-99"),
        ("openai", "gpt-4o-of-mine"),
        ("openai", "ft:gpt-4o:me::1"),
        ("google_genai", "gemini-2.5-pro-of-mine"),
        ("google_genai", "tunedModels/my-gemini-2.0-flash"),
    ],
)
def test_a_name_that_only_begins_or_ends_like_a_known_one_has_no_price(
    provider: str, name: str
) -> None:
    assert price_of(model(provider, name)) is None
    assert cost_of(model(provider, name), Usage(input_tokens=9, output_tokens=9)).usd is None


@pytest.mark.parametrize("name", ["gemini-2.5-pro-preview-06-05", "models/gemini-2.5-flash"])
def test_a_dated_or_prefixed_name_is_the_model_itself(name: str) -> None:
    assert price_of(model("google_genai", name)) is not None


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/v1",
        "https://api.openai.com.example.org/v1",
        "https://api.openai.com@example.org/v1",
        "https://example.org/api.openai.com/v1",
        "http://proxy/v1",
    ],
)
def test_a_server_of_ones_own_charges_nothing_that_a_table_knows(url: str) -> None:
    own = model("openai", "gpt-4o", base_url=url)
    assert price_of(own) is None
    assert price_of(model("openai", "gpt-4o", base_url=url, price=OWN)) == OWN


def test_who_answers_without_a_certificate_charges_nothing_that_a_table_knows() -> None:
    assert price_of(model("openai", "gpt-4o", base_url="http://api.openai.com/v1")) is None
    assert price_of(model("openai", "gpt-4o", base_url="http://api.openai.com:443/v1")) is None


@pytest.mark.parametrize("host", ["api.openai.com:443", "API.OpenAI.com", "me@api.openai.com"])
def test_a_provider_s_own_address_has_its_prices_however_it_is_written(host: str) -> None:
    own = model("openai", "gpt-4o", base_url=f"https://{host}/v1")
    assert price_of(own) == price_of(model("openai", "gpt-4o"))


def test_a_variable_that_leads_elsewhere_takes_the_price_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://proxy:81/v1")
    assert price_of(model("openai", "gpt-4o")) is None


def test_openrouter_is_known_by_its_host() -> None:
    there = model("openai", "openai/gpt-4o", base_url="https://openrouter.ai/api/v1")
    assert price_of(there) is not None


@pytest.mark.parametrize("tokens", [1_000, 300_000])
def test_rates_times_tokens_are_what_a_call_costs_however_long_it_is(tokens: int) -> None:
    pro = model("google_genai", "gemini-2.5-pro")
    usage = Usage(input_tokens=tokens, output_tokens=500)
    rates = rates_of(pro, usage)
    assert rates is not None
    cost = tokens * rates.fresh_usd + 500 * rates.output_usd
    assert cost == pytest.approx(cost_of(pro, usage).usd)
    assert rates_of(model("openai", "nobody-knows"), usage) is None


def test_what_goes_into_a_cache_is_dearer_by_itself_and_makes_nothing_else_so() -> None:
    price = Price(input_usd=4.0, output_usd=20.0, cached_usd=0.4, source="arena.toml")
    claude = model("anthropic", "claude-sonnet-4-5", price=price)
    for written in (0, 800):
        usage = Usage(input_tokens=1_000, output_tokens=10, written_tokens=written)
        rates = rates_of(claude, usage)
        assert rates == pytest.approx((4e-6, 0.4e-6, 5e-6, 20e-6))


def test_an_offline_model_costs_nothing() -> None:
    assert cost_of(model("offline", "hawk"), Usage()).usd == 0.0


def test_unknown_tokens_or_price_are_unknown_costs_and_never_free() -> None:
    assert cost_of(model("openai", "gpt-4o"), Usage(input_tokens=5)) == CallCost(None, None)
    unknown = model("openai", "mystery")
    assert cost_of(unknown, Usage(input_tokens=5, output_tokens=5)) == CallCost(None, None)
    assert most_usd(unknown, input_tokens=5, output_tokens=5) is None


@given(TOKENS, TOKENS, TOKENS, TOKENS)
def test_no_split_of_the_tokens_costs_more_than_the_most(
    total: int, cached: int, written: int, output: int
) -> None:
    for priced in (model("openai", "x", price=OWN), model("google_genai", "gemini-2.5-pro")):
        usage = Usage(
            input_tokens=total, cached_tokens=cached, written_tokens=written, output_tokens=output
        )
        cost = cost_of(priced, usage).usd
        most = most_usd(priced, input_tokens=total, output_tokens=output)
        assert cost is not None
        assert most is not None
        assert 0 <= cost <= most + 1e-12


def test_no_cost_is_rounded_away() -> None:
    assert summed(1e-12, 5) == MoneyAndTokens(1, 5)
    assert summed(0.1 + 0.2, 0) == MoneyAndTokens(300_000_001, 0)


def test_a_figure_of_cached_tokens_that_cannot_be_makes_no_cost_negative() -> None:
    usage = Usage(input_tokens=10, cached_tokens=10**9, written_tokens=10**9, output_tokens=0)
    assert cost_of(model("openai", "x", price=OWN), usage).usd == pytest.approx(10 * 0.5e-6)


def test_the_table_is_not_read_before_a_price_is_asked_for() -> None:
    code = (
        "import sys, videoautoarena.agents.limits.prices, videoautoarena.runs.cli.program.main;"
        "sys.exit('genai_prices' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "input_usd"),
    [
        ("anthropic:claude-opus-5", 5.0),
        ("bedrock:global.anthropic.claude-sonnet-4-5-20250929-v1:0", 3.0),
        ("bedrock:eu.anthropic.claude-sonnet-4-5-20250929-v1:0", 3.3),
        ("bedrock:amazon.nova-pro-v1:0", 0.8),
        ("bedrock:my.anthropic.claude-sonnet-4-5-20250929-v1:0", None),
        ("vertex:gemini-2.5-pro", 1.25),
        ("azure:gpt-4o", 2.5),
        ("azure:our-deployment", None),
        ("mistral:pixtral-large-latest", 2.0),
        ("xai:grok-4", 3.0),
        ("ollama:gpt-4o", None),
    ],
)
def test_whoever_is_known_by_name_has_the_prices_of_the_table(
    name: str, input_usd: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://birds.openai.azure.com")
    found = price_of(parse_model(name))
    assert (found and found.input_usd) == input_usd


@pytest.mark.parametrize("name", ["anthropic:m", "bedrock:m", "openrouter:anthropic/claude-m"])
def test_what_is_written_to_a_cache_of_claude_costs_more_where_no_price_says_how_much(
    name: str,
) -> None:
    own = Price(input_usd=2.0, output_usd=8.0, cached_usd=0.2)
    asked = parse_model(name, {"price": own})
    usage = Usage(
        input_tokens=1_000_000, cached_tokens=600_000, written_tokens=200_000, output_tokens=0
    )
    found = cost_of(asked, usage).usd
    assert found == pytest.approx(0.2 * 2.0 + 0.6 * 0.2 + 0.2 * 2.5)
    most = most_usd(asked, input_tokens=1_000_000, output_tokens=0)
    assert most == pytest.approx(2.5)


def test_what_a_call_of_claude_costs_with_the_mark_and_without_it() -> None:
    asked = parse_model("anthropic:claude-opus-5")
    first = Usage(input_tokens=100_000, written_tokens=90_000, output_tokens=0)
    later = Usage(input_tokens=100_000, cached_tokens=90_000, output_tokens=0)
    plain = Usage(input_tokens=100_000, output_tokens=0)
    costs = [cost_of(asked, usage).usd for usage in (first, later, plain)]
    assert costs == pytest.approx([0.6125, 0.095, 0.5])
