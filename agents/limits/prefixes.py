"""Which calls go alone, so that others read from a provider's cache what they have written.

All calls about one set of frames begin alike. Providers that cache prompts keep that beginning from
when the reply to its first call begins; calls that are sent together before it all miss, and each
pays for all of it. So the first call of a cold prefix leads, and the others wait until its reply
begins, or until that call has ended in whatever way: if it failed, the next one leads. Nobody waits
longer than one try may take, and whoever waits holds neither a place nor money.

What is known lives in one process. Workers of a cluster each lead for themselves.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from videoautoarena.agents.limits.estimates import expected_input
from videoautoarena.agents.limits.prices import is_own
from videoautoarena.agents.limits.server_limits import ServerLimits
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import Reply
from videoautoarena.agents.prompting.layout import Request, fragment
from videoautoarena.agents.providers.base import Caching
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import Price, SystemRole

LIFE_S = 300.0
"""How long a prefix stays in a cache after its last use: five minutes at Anthropic, five to ten of
inactivity at OpenAI before GPT-5.6 and 30 since (their guides to prompt caching)."""
PrefixKey = tuple[Model, SystemRole | None, type[Reply] | None, str]
"""A model as it is set, who says the system text, a schema sent before it, and the frames."""


@dataclass(eq=False)
class CachePrefix:
    """The beginning that calls of one model share, and whether its provider's cache holds it."""

    _warm: dict[CachePrefix, None] = field(repr=False)
    """All that may be in caches, the longest unused first; what is not, lives while it is used."""
    _warm_until_s: float = -math.inf
    _leader: object | None = None
    _opened: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    @property
    def is_led(self) -> bool:
        """Whether a call is under way that others have to wait for."""
        return self._leader is not None

    def enter(self, call: object, now_s: float) -> bool:
        """Let a call go, and return whether it leads."""
        if self.is_led or now_s < self._warm_until_s:
            return False
        self._leader = call
        self._opened = asyncio.Event()
        return True

    def begin(self, now_s: float) -> None:
        """Take note that a reply has begun: the cache holds the prefix, and everybody may go."""
        self._warm_until_s = now_s + LIFE_S
        self._warm.pop(self, None)
        self._warm[self] = None
        self._open()
        while (oldest := next(iter(self._warm)))._warm_until_s <= now_s:
            del self._warm[oldest]

    def leave(self, call: object, now_s: float, *, is_taken: bool) -> None:
        """Take note that a call has ended, and whether the server took it."""
        if is_taken:
            self.begin(now_s)
        elif self._leader is call:
            self._open()

    async def opened(self, longest_s: float) -> float:
        """Wait until nobody has to wait for the leader, and return how much of the time is left.

        Once somebody has waited for `longest_s`, in all, everybody may go.
        """
        loop = asyncio.get_running_loop()
        until_s = loop.time() + longest_s
        try:
            async with asyncio.timeout_at(until_s):
                await self._opened.wait()
        except TimeoutError:
            # Tries that take so long and bring nothing would be made one by one for hours.
            self.begin(loop.time())
        return until_s - loop.time()

    def _open(self) -> None:
        self._leader = None
        self._opened.set()


@dataclass
class CachePrefixes:
    """The prefixes that calls of one process share."""

    _known: WeakValueDictionary[PrefixKey, CachePrefix] = field(
        default_factory=WeakValueDictionary, repr=False
    )
    _warm: dict[CachePrefix, None] = field(default_factory=dict, repr=False)

    def of(self, model: Model, request: Request, limits: ServerLimits) -> CachePrefix | None:
        """Return the prefix of a call; None if no cache would keep it."""
        frames = request.frames
        if frames is None or caching_of(model, len(frames.frames)) == "none":
            return None
        # Providers read a schema before the frames, so that each role leads for itself; one JSON
        # object of any shape has none.
        has_schema = limits.reply_format(model) == "json_schema"
        schema = request.schema if has_schema else None
        key = (model, limits.form(model).system_role, schema, digest(fragment(frames)))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = CachePrefix(self._warm)
        return found


def caching_of(model: Model, frames: float) -> Caching:
    """Return how calls of a model about the same frames find what one of them has written.

    `frames` is how many they carry. A beginning that is shorter than the model's cache keeps, by
    what plans take a frame for, is in none. The same pictures count as more at one provider than at
    another, so near that line this may be wrong either way. Taken for too long, calls wait for one
    that writes nothing, which costs the time of one reply in five minutes and no money; taken for
    too short, the first of them miss together, as they would without this. `frame_tokens` of a
    model in arena.toml mends both.
    """
    maker = model.maker
    # A server that lets in anybody charges nothing for what it reads twice.
    is_charged = bool(maker.key_names) or maker.auth == "own"
    # Behind another address stands any server, which may cache or not, unless its user says so.
    is_home = model.url.rstrip("/") == maker.home or maker.is_home(model.url)
    if maker.caching == "none" or not ((is_charged and is_home) or _says_so(model.price)):
        return "none"
    needs_mark = maker.caching == "marks" or maker.needs_breakpoint(model)
    if needs_mark and not model.cache_breakpoint:
        return "none"
    if expected_input(model, frames) < maker.shortest_cached(model):
        return "none"
    return "marks" if model.cache_breakpoint else "implicit"


def _says_so(price: Price | None) -> bool:
    """Return whether a user's own price says that what a cache has costs less."""
    if price is None or price.cached_usd is None or not is_own(price):
        return False
    return price.cached_usd < price.input_usd
