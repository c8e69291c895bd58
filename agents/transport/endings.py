"""How replies end, in the words of providers."""

from __future__ import annotations

FILTERED = frozenset({
    "content_filter", "content_filtered", "refusal", "guardrail_intervened", "safety",
    "image_safety", "prohibited_content", "image_prohibited_content", "blocklist", "recitation",
    "image_recitation", "spii", "jailbreak",
})  # fmt: skip
"""How a reply ends that a filter took away, in words of OpenAI, Anthropic, Bedrock and Gemini."""
CUT_ENDINGS = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"}
)
"""Why providers say a reply ended that was not at its end."""


def is_filtered(ending: str) -> bool:
    """Return whether an ending means that a filter kept the reply back."""
    return ending_word(ending) in FILTERED


def was_cut(ending: str | None) -> bool:
    """Return whether a provider's word for a reply's end means that there should be more."""
    return ending_word(ending or "") in CUT_ENDINGS


def ending_word(ending: str) -> str:
    """Return why a reply ended in lower case, without the enumeration that some clients name."""
    return ending.rpartition(".")[2].lower()
