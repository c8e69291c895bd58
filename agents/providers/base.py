"""What is particular to one provider and what most share; the offline provider."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias
from urllib.parse import urlsplit

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import ReplyFormat, Role, TokenField, VideoFrames

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from videoautoarena.agents.prompting.layout import CacheMark
    from videoautoarena.agents.providers.own_credentials import OwnCredentials


CONTESTANT_TOKENS = 4096
"""max_tokens of a remote contestant that names none (VideoAutoArena, experimental settings)."""
NO_KEY = "none"
"""Stands for the key of a compatible server that asks for none."""
COMMON = (
    *("temperature", "top_p", "max_tokens", "seed", "stop"),
    *("presence_penalty", "frequency_penalty"),
)
"""Sampling parameters that most providers take, by LangChain's names."""
LEAST_CACHED = 1_024
"""Tokens of the shortest beginning that OpenAI's cache keeps; others are taken to do the same."""
Caching: TypeAlias = Literal["implicit", "marks", "none"]
"""How servers come to keep the beginning of a call: by themselves, up to a mark, or not at all."""


class ModelSettings(Protocol):
    """The fields of a model that its provider reads; see `agents.models.registry.Model`."""

    @property
    def alias(self) -> str:
        """What the roster calls it."""

    @property
    def provider(self) -> str:
        """What stands before the colon of its name."""

    @property
    def maker(self) -> Provider:
        """Its provider."""

    @property
    def name(self) -> str:
        """What the provider calls it."""

    @property
    def url(self) -> str:
        """Where its calls go."""

    @property
    def timeout_s(self) -> float:
        """Longest one try may take."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Sampling parameters by LangChain's names."""

    @property
    def detail(self) -> str | None:
        """How closely the provider looks at each frame."""

    @property
    def cache_breakpoint(self) -> bool:
        """Whether the last frame is marked as the end of what a cache should keep."""

    @property
    def token_limit_field(self) -> TokenField | None:
        """Name under which its limit of tokens is to be sent, as it was set; None if it was not."""

    @property
    def token_field(self) -> TokenField | None:
        """Name under which its limit of tokens is sent; None if its provider has one name only."""

    def key(self) -> str | None:
        """Return its key from the environment; None if it has none."""


@dataclass(frozen=True)
class ReplyForm:
    """The form that a server is asked to hold a reply to."""

    format: ReplyFormat
    name: str
    """Name of the schema."""
    schema: Mapping[str, Any]
    """A JSON schema; sent with "json_schema" alone."""


class FrameTokens(NamedTuple):
    """How many tokens one frame of 512 pixels counts as."""

    expected: int
    most: int


@dataclass(frozen=True)
class Provider:
    """A protocol, where it is spoken, and how a chat model is built for it.

    Those that come with the product stand in `agents/providers/table.py`, beside OpenAI and Gemini.
    Fields that were added since others could subclass it are given by name alone.

    A provider of one's own subclasses it; its module must not import the provider's package before
    `build`, since each costs about two seconds.
    """

    name: str
    """What stands before the colon of a model's name."""
    home: str = ""
    """Address that is used unless another is named."""
    homes: str = field(default="", kw_only=True)
    """Pattern of hosts that are its own as well, such as `name.openai.azure.com`; empty: none."""
    key_names: tuple[str, ...] = ()
    """Variables that may hold its own key, which is sent to its own address alone."""
    auth: Literal["own"] | None = field(default=None, kw_only=True)
    """`own`: its client finds credentials itself and is given no key."""
    credentials: str = field(default="", kw_only=True)
    """Where such a client looks for them, in words that follow `from`."""
    secret_names: tuple[str, ...] = field(default=(), kw_only=True)
    """Variables with secrets that its client reads itself; taken out of every text like keys."""
    base_names: tuple[str, ...] = ()
    """Variables that may hold another address."""
    parameters: tuple[str, ...] = COMMON
    """Sampling parameters its models take; nothing that can hold a key or lead elsewhere."""
    images: int | None = field(default=None, kw_only=True)
    """Most images of a call, as it documents it; None: no number that holds for all its models."""
    thinking: str = field(default="", kw_only=True)
    """Parameters that let a model of it think, as arena.toml writes them; empty: unknown."""
    details: tuple[str, ...] = ()
    """What a model's `detail` may be; none if it takes no word on how closely to look."""
    has_part_detail: bool = False
    """Whether `detail` stands in each image's part of the message, not in a parameter."""
    is_offline: bool = False
    """Whether its models run in this process, cost nothing and need no retries."""
    reply_formats: tuple[ReplyFormat, ...] = ()
    """Formats in which its servers can be asked to hold a reply to JSON."""
    can_splice: bool = False
    """Whether its bodies go out over an HTTP client of ours, which can put shared frames in."""
    speaks_openai: bool = False
    """Whether its servers speak OpenAI's chat completions, with the settings that go with them."""
    speaks_anthropic: bool = field(default=False, kw_only=True)
    """Whether its servers speak Anthropic's Messages."""
    key_look: str = ""
    """A pattern of its keys, which are taken out of every text; empty if they have no look."""
    pip: str = field(default="", kw_only=True)
    """Package that has to be installed besides ours; empty: none."""
    packages: tuple[str, ...] = ()
    """Top-level packages whose exceptions are those of its client, and no bugs of ours."""
    price_list: str = ""
    """What genai-prices calls whoever serves its home; empty if it lists no prices of it."""
    frame_tokens: tuple[tuple[str, str | None, FrameTokens], ...] = ()
    """Beginning of a model's name, its `detail` or None for any, and what a frame counts as then;
    the first that fits holds."""
    caching: Caching = field(default="none", kw_only=True)
    """How its servers keep the beginning of a call for those that begin alike."""
    mark: CacheMark | None = field(default=None, kw_only=True)
    """How a call says where its cache should end; None: it cannot say so."""
    least_cached: tuple[tuple[str, int | None], ...] = field(
        default=(("", LEAST_CACHED),), kw_only=True
    )
    """Pattern that is looked for in a model's name, and the tokens of the shortest beginning that
    its cache keeps, None for one that keeps none; the first that fits holds."""
    written_share: float = field(default=1.0, kw_only=True)
    """Price of input that goes into its cache, as a share of other input's, where none is known."""
    batches: str = field(default="", kw_only=True)
    """Protocol of its batches, at half the price: `openai`, `gemini` or `anthropic`; empty if it
    has none that is known here."""
    embeddings: str = ""
    """Path of its LangChain class of embeddings; empty if it has none."""
    embedding_settings: Mapping[str, Any] = field(default_factory=dict)
    """What that class is built with besides the model's name and `connection`."""

    @property
    def is_local(self) -> bool:
        """Whether its servers are one's own, on this machine unless another is named."""
        return self.home.startswith("http://")

    def address(self, named: str | None) -> str:
        """Return where calls go if `named` is the address that was set, None if none was."""
        return named or self.home

    def is_home(self, url: str) -> bool:
        """Return whether an address is one of its own, to which its own key may go."""
        parts = urlsplit(url)
        is_known = re.fullmatch(self.homes, parts.hostname or "", re.ASCII) is not None
        return bool(self.homes) and parts.scheme == "https" and is_known

    def takes(self, name: str) -> bool:
        """Return whether a parameter of that name may be set for its models."""
        return name in self.parameters

    def connection(self, model: ModelSettings) -> dict[str, Any]:  # noqa: ARG002
        """Return the arguments by which LangChain's classes of its protocol reach a model."""
        return {}

    def build(self, model: ModelSettings) -> BaseChatModel:
        """Return a chat model without retries of its own; ValueError if it refuses a setting."""
        raise BadInput(f"{model.alias!a}: the provider {self.name!a} has no build(); give it one")

    def title(self, model: ModelSettings) -> str:
        """Return what a person is told of a model that is about to be called."""
        return model.alias

    def host(self, model: ModelSettings) -> str:  # noqa: ARG002 - of those whose objects know it
        """Return the host that a person is told; empty where its address says which."""
        return ""

    def place(self, model: ModelSettings) -> str:  # noqa: ARG002 - of those that know one each
        """Return what stands for the host of a model whose address only its chat model knows."""
        return self.name

    def check(self, model: ModelSettings) -> None:
        """Return if `model` could be built here; BadInput names what stands in its way."""

    def find_credentials(self) -> OwnCredentials | None:
        """Return whether its client finds credentials of its own; None where nobody can say."""
        return None

    def options(self, model: ModelSettings, role: Role, *, key: str) -> dict[str, Any]:  # noqa: ARG002
        """Return options of a call besides messages: an Idempotency-Key, if it can carry one."""
        return {}

    def held_to(
        self,
        model: ModelSettings,  # noqa: ARG002
        options: dict[str, Any],
        form: ReplyForm,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Return a call's options with the wish that its reply be held to a form."""
        return options

    def made_with(self, model: ModelSettings) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the parameters that its chat model holds by itself, beside those of calls."""
        return {}

    def sampling(self, model: ModelSettings, role: Role) -> dict[str, Any]:
        """Return the parameters by which a reply in `role` is drawn, as they are sent."""
        chosen = dict(model.parameters)
        if role == "contestant":
            chosen.setdefault("max_tokens", CONTESTANT_TOKENS)
        if model.detail is not None and self.has_part_detail:
            chosen["detail"] = model.detail
        return chosen

    def thought_tokens(self, model: ModelSettings) -> int:  # noqa: ARG002
        """Return how many tokens it may think beside an answer; 0 where that is unknown."""
        return 0

    def keyed(self, model: ModelSettings, role: Role) -> dict[str, Any]:
        """Return the part of `sampling` that is keyed; the rest never makes a call new."""
        return self.sampling(model, role)

    def needs_breakpoint(self, model: ModelSettings) -> bool:  # noqa: ARG002
        """Return whether a model finds nothing in its cache without a marked end of it."""
        return self.caching == "marks" and self.mark is not None

    def shortest_cached(self, model: ModelSettings) -> float:
        """Return the tokens of the shortest beginning that a model's cache keeps, or infinity."""
        name = model.name.lower()
        fitting = (least for look, least in self.least_cached if re.search(look, name))
        return next((math.inf if least is None else least for least in fitting), math.inf)

    def cache_options(
        self,
        model: ModelSettings,  # noqa: ARG002
        frames: VideoFrames | None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Return options of a call on caching, besides the mark on its last frame."""
        return {}

    def token_field(self, model: ModelSettings) -> TokenField | None:  # noqa: ARG002
        """Return the name under which a limit of tokens is sent; None if there is only one."""
        return None

    def stream_options(self) -> dict[str, Any] | None:
        """Return what a call adds to get its reply in pieces; None if its models cannot stream."""
        return None

    async def close(self, chat: Any) -> None:
        """Close the connections that a chat model holds."""
        closer = getattr(chat, "aclose", None)
        if closer is not None:
            await closer()


class _Offline(Provider):
    def build(self, model: ModelSettings) -> BaseChatModel:
        from videoautoarena.agents.offline import OfflineModel

        return OfflineModel(kind=model.name)

    def sampling(self, model: ModelSettings, role: Role) -> dict[str, Any]:  # noqa: ARG002
        return dict(model.parameters)


OFFLINE = _Offline("offline", parameters=(), is_offline=True)
