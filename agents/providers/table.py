"""The table of providers that are known by name, beside OpenAI and the Gemini API.

Each row says where one is served, what lets a call in, what its models take and whose prices hold.
Whoever speaks OpenAI's chat completions is a row and nothing else. A table of `arena.toml` by one
of these names beats the row, and so does a package that offers it.
"""

from __future__ import annotations

from dataclasses import dataclass

from videoautoarena.agents.providers.base import FrameTokens, ModelSettings, Provider
from videoautoarena.agents.providers.claude import (
    CACHE_CONTROL,
    CACHE_POINT,
    CACHED_FROM,
    AnthropicProtocol,
    ConverseProtocol,
    is_claude,
)
from videoautoarena.agents.providers.declared import Declaration
from videoautoarena.agents.providers.google_genai import VertexProtocol
from videoautoarena.agents.providers.openai import AzureProtocol, OpenAIProtocol

_CLAUDE_THINKING = '{ thinking = { type = "adaptive" } }'
_EFFORT = '{ reasoning_effort = "high" }'


@dataclass(frozen=True)
class ChatCompletions(OpenAIProtocol):
    """A server of OpenAI's chat completions whose embeddings are not known here."""

    embeddings: str = ""


@dataclass(frozen=True)
class _OpenRouter(ChatCompletions):
    def needs_breakpoint(self, model: ModelSettings) -> bool:
        # The caches of all other models keep what they like, or are asked in ways of their own.
        return is_claude(model.name)


TABLE: tuple[Provider, ...] = (
    AnthropicProtocol(
        "anthropic",
        home="https://api.anthropic.com",
        key_names=("ANTHROPIC_API_KEY",),
        key_look=r"\bsk-ant-[\w*.\-]{4,}",
        base_names=("ANTHROPIC_API_URL", "ANTHROPIC_BASE_URL"),
        declaration=Declaration(
            chat_model="langchain_anthropic:ChatAnthropic", headers_parameter="extra_headers"
        ),
        parameters=(
            *("temperature", "top_p", "top_k", "max_tokens", "stop"),
            *("thinking", "reasoning_effort"),
        ),
        images=100,
        thinking=_CLAUDE_THINKING,
        reply_formats=("json_schema",),
        can_splice=True,
        speaks_anthropic=True,
        caching="marks",
        mark=CACHE_CONTROL,
        least_cached=CACHED_FROM,
        written_share=1.25,
        batches="anthropic",
        pip="langchain-anthropic",
        packages=("anthropic", "langchain_anthropic"),
        price_list="anthropic",
        frame_tokens=(("", None, FrameTokens(350, 1_600)),),
    ),
    ConverseProtocol(
        "bedrock",
        homes=r"bedrock-runtime[\w.-]*\.amazonaws\.com",
        auth="own",
        credentials="AWS_PROFILE, AWS_ACCESS_KEY_ID or a role, with AWS_REGION",
        secret_names=(
            *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
            "AWS_BEARER_TOKEN_BEDROCK",
        ),
        key_look=r"\bAKIA[A-Z\d]{12,}|\bASIA[A-Z\d]{12,}|\bbedrock-api-key-[\w=]{8,}",
        base_names=("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL"),
        declaration=Declaration(chat_model="langchain_aws:ChatBedrockConverse", auth="own"),
        parameters=(
            *("temperature", "top_p", "max_tokens", "stop"),
            *("thinking", "reasoning_effort", "additional_model_request_fields"),
        ),
        images=20,
        thinking=_CLAUDE_THINKING,
        reply_formats=("json_schema",),
        caching="marks",
        mark=CACHE_POINT,
        least_cached=CACHED_FROM,
        written_share=1.25,
        pip="langchain-aws",
        packages=("boto3", "botocore", "langchain_aws", "urllib3"),
        price_list="aws",
        frame_tokens=(("", None, FrameTokens(400, 1_600)),),
    ),
    VertexProtocol(
        "vertex",
        homes=r"(?:[\w-]+-)?aiplatform(?:\.\w+\.rep)?\.googleapis\.com",
        auth="own",
        credentials="application default credentials, with GOOGLE_CLOUD_PROJECT and "
        "GOOGLE_CLOUD_LOCATION",
        key_look=r"\bya29[\w.\-]{8,}",
        base_names=("GOOGLE_VERTEX_BASE_URL",),
        thinking='{ thinking_level = "high" }',
        caching="implicit",
        price_list="google",
    ),
    AzureProtocol(
        "azure",
        homes=r"[\w-]+\.(?:openai|services\.ai|cognitiveservices)\.azure\.com",
        key_names=("AZURE_OPENAI_API_KEY",),
        base_names=("AZURE_OPENAI_ENDPOINT",),
        thinking=_EFFORT,
        caching="implicit",
        price_list="azure",
        embeddings="",
    ),
    ChatCompletions(
        "mistral",
        home="https://api.mistral.ai/v1",
        key_names=("MISTRAL_API_KEY",),
        images=8,
        thinking=_EFFORT,
        price_list="mistral",
    ),
    ChatCompletions(
        "xai",
        home="https://api.x.ai/v1",
        key_names=("XAI_API_KEY",),
        key_look=r"\bxai-[a-z\d*.]{8,}",
        thinking=_EFFORT,
        caching="implicit",
        price_list="x-ai",
    ),
    ChatCompletions(
        "groq",
        home="https://api.groq.com/openai/v1",
        key_names=("GROQ_API_KEY",),
        key_look=r"\bgsk_[a-z\d*.]{8,}",
        images=5,
        thinking=_EFFORT,
        caching="implicit",
        price_list="groq",
    ),
    ChatCompletions(
        "together",
        home="https://api.together.xyz/v1",
        key_names=("TOGETHER_API_KEY",),
        key_look=r"\btgp_v1_[\w\-]{8,}",
        thinking=_EFFORT,
        price_list="together",
    ),
    ChatCompletions(
        "fireworks",
        home="https://api.fireworks.ai/inference/v1",
        key_names=("FIREWORKS_API_KEY",),
        key_look=r"\bfw_[a-z\d]{12,}",
        images=30,
        thinking=_EFFORT,
        caching="implicit",
        price_list="fireworks",
    ),
    _OpenRouter(
        "openrouter",
        # Its documentation lets texts alone carry the mark.
        mark=CACHE_CONTROL._replace(place="label"),
        home="https://openrouter.ai/api/v1",
        key_names=("OPENROUTER_API_KEY",),
        key_look=r"\bsk-or-[\w*.\-]{4,}",
        thinking="{ extra_body = { reasoning = { max_tokens = 4000 } } }",
        caching="implicit",
        least_cached=CACHED_FROM,
        written_share=1.25,
        price_list="openrouter",
    ),
    ChatCompletions(
        "dashscope",
        home="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        homes=r"dashscope[\w-]*\.aliyuncs\.com",
        key_names=("DASHSCOPE_API_KEY",),
        key_look=r"\bsk-[\w*.\-]{4,}",
        thinking="{ extra_body = { enable_thinking = true } }",
        caching="implicit",
    ),
    ChatCompletions(
        "deepseek",
        home="https://api.deepseek.com",
        key_names=("DEEPSEEK_API_KEY",),
        key_look=r"\bsk-[\w*.\-]{4,}",
        reply_formats=("json_object",),
        thinking='{ extra_body = { thinking = { type = "enabled" } } }',
        caching="implicit",
        price_list="deepseek",
    ),
    ChatCompletions(
        "ollama", home="http://localhost:11434/v1", thinking=_EFFORT, caching="implicit"
    ),
    ChatCompletions(
        "vllm",
        home="http://localhost:8000/v1",
        thinking="{ extra_body = { chat_template_kwargs = { enable_thinking = true } } }",
        caching="implicit",
    ),
)
"""All rows, in the order in which people are told of them."""
