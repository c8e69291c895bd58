"""Which provider has which batches."""

from __future__ import annotations

from videoautoarena.agents.batches.service import BatchService
from videoautoarena.agents.models.registry import Model
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.remedies import option


def service_of(model: Model) -> BatchService:
    """Return the batches of a model; BadInput where its provider has none."""
    # Each brings its provider's package along, which costs seconds.
    match model.maker.batches:
        case "openai":
            from videoautoarena.agents.batches.openai import OpenAIBatches

            return OpenAIBatches(model)
        case "gemini":
            from videoautoarena.agents.batches.gemini import GeminiBatches

            return GeminiBatches(model)
        case "anthropic":
            from videoautoarena.agents.batches.anthropic import AnthropicBatches

            return AnthropicBatches(model)
    raise BadInput(
        f"{model.alias!a}: {model.provider} takes no batches; leave out {option('batch', True)}"
    )
