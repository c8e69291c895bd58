"""What servers turn out to take, learnt from what they refuse, for all later calls of a model.

A refusal that names a number of images binds at once. One that names none halves the frames until
a request is taken, and binds from then on; one call finds that out, and others of its model wait.
Where it says by how much the request was too long, as many are tried as that leaves room for.
A size that was taken before and is refused without a number may be the fault of one call's text,
and is halved for that call alone; the second time it binds as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, get_args

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import reply_schema
from videoautoarena.agents.prompting.layout import Request, thinned
from videoautoarena.agents.providers.base import ReplyForm
from videoautoarena.agents.transport.faults import CallFault
from videoautoarena.memory.records.records import (
    LearntLimits,
    ReplyFormat,
    SystemRole,
    TokenField,
    Usage,
)

ServerKey = tuple[str, str]
"""`provider:model`, and the host that serves it."""
Keep = Callable[[list[LearntLimits]], None]


class OutputLimit(NamedTuple):
    """How many output tokens a call may take."""

    tokens: int
    is_sent: bool = True
    """Whether its server knows; else it is what is expected at most."""


class RequestForm(NamedTuple):
    """The form of a request: which of several ways servers know it uses."""

    token_field: TokenField | None = None
    """Name under which the limit of tokens is sent; None leaves it to the client."""
    system_role: SystemRole | None = None
    """Who says the system text; None: the system itself."""
    is_streamed: bool = False
    """Whether the reply is asked for in pieces."""


AS_USUAL = RequestForm()


@dataclass
class ServerLimits:
    """What is known of the servers of one run beyond what is declared."""

    keep: Keep = lambda _learnt: None
    """Takes all that is known whenever some of it is new."""
    _known: dict[ServerKey, LearntLimits] = field(default_factory=dict)
    _tried: dict[ServerKey, int] = field(default_factory=dict)
    """Images that requests are sent with at most, until the server has taken as many."""
    _taken: dict[ServerKey, int] = field(default_factory=dict)
    """Most images that were taken."""
    _doubted: set[ServerKey] = field(default_factory=set)
    """Servers that refused once what they had taken before."""
    _trials: dict[ServerKey, asyncio.Event] = field(default_factory=dict)
    """Events of servers whose limit of images one call is finding out; set once it has."""
    _switched: set[tuple[str, str, str]] = field(default_factory=set)
    """Server and part of a request's form for which news was reported already."""

    @classmethod
    def of(cls, known: Iterable[LearntLimits], keep: Keep = lambda _learnt: None) -> ServerLimits:
        """Return limits that begin with what is known."""
        return cls(keep, {(one.model, one.endpoint): one for one in known})

    def known(self, model: Model) -> LearntLimits | None:
        """Return what was learnt of a model's server."""
        return self._known.get(_place(model))

    def most_images(self, model: Model) -> int | None:
        """Return how many images a request of a model is sent with at most."""
        place = _place(model)
        tried = self._tried.get(place)
        known = self._known.get(place)
        if tried is not None or known is None or known.images is None:
            return tried
        said = model.limits.images_per_request
        # A number that was stated since, and is higher, has to be refused once itself.
        is_newer = said is not None and said > known.images and said != known.stated_images
        return None if is_newer else known.images

    def fitted(self, model: Model, request: Request) -> Request:
        """Return a request with no more frames than its server takes."""
        frames = request.frames
        most = self.most_images(model)
        if frames is None or most is None or len(frames.frames) <= most:
            return request
        return replace(request, frames=thinned(frames, most))

    def token_field(self, model: Model) -> TokenField | None:
        """Return the name under which a server takes the limit of tokens; None: the client's."""
        known = self.known(model)
        usual = model.token_field
        return (known and usual and known.token_limit_field) or usual

    def form(self, model: Model) -> RequestForm:
        """Return the form in which a model's server takes requests."""
        known = self.known(model)
        system_role = model.system or (known.system_role if known else None)
        is_streamed = model.streams or bool(known and known.is_streaming)
        return RequestForm(self.token_field(model), system_role, is_streamed)

    def reply_format(self, model: Model) -> ReplyFormat | None:
        """Return the format that a model's server is asked to hold its JSON to; None: none."""
        if model.structured in ("json_schema", "json_object"):
            return model.structured
        if model.structured != "auto":
            return None
        known = self.known(model)
        learnt = known.structured if known else None
        return "json_schema" if learnt is None else None if learnt == "off" else learnt

    def ask_for_less(self, model: Model, refused: ReplyFormat) -> str:
        """Note that a server does not hold replies to a format; return that as news."""
        is_schema = refused == "json_schema"
        self._learn(model, structured="json_object" if is_schema else "off")
        instead = "to one JSON object" if is_schema else "to nothing"
        return (
            f"replies of {model.alias} are held {instead} from now on: {model.endpoint} refuses "
            f"{refused}"
        )

    def output_tokens(self, model: Model) -> int:
        """Return the most output tokens that a reply took past its limit; 0 if none did."""
        known = self.known(model)
        return known.output_tokens or 0 if known else 0

    def take(self, model: Model, count: int) -> str | None:
        """Note that a request with so many images was taken; return the news in it, if any."""
        place = _place(model)
        self._taken[place] = max(count, self._taken.get(place, 0))
        if self._tried.get(place) != count:
            return None
        del self._tried[place]
        said = model.limits.images_per_request
        learnt = self._learn(model, images=count, stated_images=said)
        return _sent_at_most(
            model, count, f"{model.endpoint} refused {learnt.refused_images} and took {count}"
        )

    def begin_trial(self, model: Model) -> asyncio.Event | None:
        """Let a call find out alone how many images are taken; None: another one does, or did."""
        place = _place(model)
        if place in self._trials or place not in self._tried:
            return None
        return self._trials.setdefault(place, asyncio.Event())

    def end_trial(self, model: Model) -> None:
        """Let others go on, with what is known by now."""
        self._trials.pop(_place(model)).set()

    def trial(self, model: Model) -> asyncio.Event | None:
        """Return the event that is set once a call has found out how many images are taken."""
        return self._trials.get(_place(model))

    def state(self, model: Model, count: int, stated: int) -> str | None:
        """Note that a server refused so many images and says how many it takes."""
        self._tried.pop(_place(model), None)
        known = self.most_images(model)
        if known is not None and known <= stated:
            return None
        self._refuse(model, count)
        self._learn(model, images=stated, stated_images=model.limits.images_per_request)
        return _sent_at_most(model, stated, f"{model.endpoint} takes no more")

    def lower(self, model: Model, count: int, fewer: int) -> int:
        """Note that a server refused so many images without a number; return how many to try."""
        most = self.most_images(model)
        if most is not None and most < count:
            return most
        self._refuse(model, count)
        self._tried[_place(model)] = fewer
        return fewer

    def is_doubtful(self, model: Model, count: int) -> bool:
        """Return whether a size that is refused was taken before, and say so only once."""
        place = _place(model)
        is_new = count <= self._taken.get(place, 0) and place not in self._doubted
        if is_new:
            self._doubted.add(place)
        return is_new

    def acquit(self, model: Model) -> None:
        """Forget what is being tried, since a single frame was refused as well."""
        place = _place(model)
        self._tried.pop(place, None)
        known = self._known.get(place)
        if known is not None and known.images is None:
            self._known[place] = known.model_copy(update={"refused_images": None})

    def switch(self, model: Model, refused: str) -> str | None:
        """Note that a server refuses one name of the limit of tokens; the other holds now."""
        other = next(name for name in get_args(TokenField) if name != refused)
        self._learn(model, token_limit_field=other)
        return self._news(
            model,
            other,
            f"{model.alias} is sent {other} from now on: {model.endpoint} refuses {refused}",
        )

    def move_system(self, model: Model) -> str | None:
        """Note that a server takes no message of the system; the user says its text from now on."""
        self._learn(model, system_role="user")
        return self._news(
            model,
            "system",
            f"{model.alias} is sent the system text at the head of the user's message from now on: "
            f"{model.endpoint} refuses a message of the system's own",
        )

    def stream(self, model: Model) -> str | None:
        """Note that a server answers in pieces alone."""
        self._learn(model, is_streaming=True)
        return self._news(
            model,
            "stream",
            f"{model.alias} is asked for its replies in pieces from now on: {model.endpoint} gives "
            "no other",
        )

    def _news(self, model: Model, what: str, line: str) -> str | None:
        """Return a line the first time that it is true of a server."""
        news = (*_place(model), what)
        if news in self._switched:
            return None
        self._switched.add(news)
        return line

    def overrun(self, model: Model, limit: OutputLimit, tokens: int) -> str | None:
        """Note how many output tokens a reply took past its limit; say so the first time."""
        known = self.known(model)
        before = known.output_tokens if known else None
        if before is None or tokens > before:
            self._learn(model, output_limit=limit.tokens, output_tokens=tokens)
        if before is not None:
            return None
        what = (
            f"{model.endpoint} does not keep {model.alias} to the {limit.tokens:,} output tokens "
            f"that it was allowed: a reply took {tokens:,}"
            if limit.is_sent
            else f"a reply of {model.alias} took {tokens:,} output tokens, and {limit.tokens:,} "
            "were expected at most"
        )
        return f"{what}; from now on as many are set aside for each of its calls"

    def _refuse(self, model: Model, count: int) -> None:
        place = _place(model)
        known = self._known.get(place) or LearntLimits(model=place[0], endpoint=place[1])
        is_first = known.refused_images is None or self.most_images(model) is None
        fewest = count if is_first else min(count, known.refused_images or count)
        self._known[place] = known.model_copy(update={"refused_images": fewest})

    def _learn(self, model: Model, **news: object) -> LearntLimits:
        place = _place(model)
        known = self._known.get(place) or LearntLimits(model=place[0], endpoint=place[1])
        self._known[place] = known.model_copy(update=news)
        self.keep([one for one in self._known.values() if _is_informative(one)])
        return self._known[place]


@dataclass
class ShapedCall:
    """One call, whose tries take the shape that its server accepts."""

    limits: ServerLimits
    model: Model
    say: Callable[[str], None]
    """Takes a line about what was learnt."""
    _sent: RequestForm = AS_USUAL
    """Form in which the last try was sent."""
    _refused: int = 0
    """How often a name for the limit of tokens was refused in this call."""
    asked_for: ReplyFormat | None = None
    """Format that the last try asked its server to hold the reply to."""
    _refused_formats: int = 0
    """How often a format was refused in this call."""
    _is_its_own: bool = False
    """Whether it is too large by itself, and says nothing of others."""
    _trial: asyncio.Event | None = None
    """Set where it is this call that finds out how many images are taken."""
    _too_long: list[tuple[int, float]] = field(default_factory=list)
    """Images it was refused with, and how many times as long as allowed it was then."""

    def __enter__(self) -> ShapedCall:
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go()

    @property
    def is_ready(self) -> bool:
        """Whether no other call is finding out how many images are taken."""
        return self.model.is_offline or self.limits.trial(self.model) is self._trial

    async def ready(self) -> None:
        """Return once no other call is finding out how many images are taken."""
        while not self.is_ready:
            if trial := self.limits.trial(self.model):
                await trial.wait()

    def fitted(self, request: Request) -> Request:
        return request if self.model.is_offline else self.limits.fitted(self.model, request)

    def form(self) -> RequestForm:
        """Return how the next try is to be sent."""
        self._sent = AS_USUAL if self.model.is_offline else self.limits.form(self.model)
        return self._sent

    def reply_form(self, request: Request) -> ReplyForm | None:
        """Return the form that the next try asks its server to hold the reply to; None: none."""
        self.asked_for = None
        if request.schema is None or self.model.structured is None:
            return None
        self.asked_for = self.limits.reply_format(self.model)
        if self.asked_for is None:
            return None
        return ReplyForm(self.asked_for, request.schema.__name__, reply_schema(request.schema))

    def took(self, request: Request, usage: Usage, limit: OutputLimit) -> None:
        """Learn from a try that the server took; `limit` is what its output was to keep to."""
        if self.model.is_offline:
            return
        self._report(self.limits.take(self.model, _count(request)))
        self.let_go()
        if usage.output_tokens is not None and usage.output_tokens > limit.tokens:
            self._report(self.limits.overrun(self.model, limit, usage.output_tokens))

    def mended(self, request: Request, fault: CallFault) -> Request | None:
        """Return a request to send at once instead of one that was refused; None: none is known."""
        if fault.nature == "too-large":
            smaller = self._smaller(request, fault)
            if smaller is None:
                self.let_go()
            return smaller
        # What keeps this call waiting should keep no other one.
        self.let_go()
        is_mended = (
            self._switches(fault)
            or self._moves_system(fault)
            or self._streams(fault)
            or self._asks_for_less(fault)
        )
        return request if is_mended else None

    def explained(self, fault: CallFault) -> CallFault:
        """Return a fault that ends a call, with what would help where that is a setting."""
        is_set = self.model.parameters.get("stream") is False
        if not (fault.demands_stream and is_set):
            return fault
        cure = "write parameters = { stream = true }"
        return replace(fault, reason=f"{fault.reason}; its server answers in pieces alone: {cure}")

    def _smaller(self, request: Request, fault: CallFault) -> Request | None:
        frames = request.frames
        count = _count(request)
        model = self.model
        if frames is None or count < 2:
            self.limits.acquit(model)
            return None
        stated = fault.most_images if 0 < (fault.most_images or 0) < count else None
        if fault.is_local:
            # It was a bound of ours on the body; of the server nothing was learnt.
            return replace(request, frames=thinned(frames, stated or count // 2))
        if stated is not None:
            self._report(self.limits.state(model, count, stated))
            return replace(request, frames=thinned(frames, stated))
        fewer = self._fewer(count, fault.excess)
        self._is_its_own = self._is_its_own or self.limits.is_doubtful(model, count)
        if self._is_its_own:
            return replace(request, frames=thinned(frames, fewer))
        fewer = self.limits.lower(model, count, fewer)
        self._trial = self._trial or self.limits.begin_trial(model)
        return replace(request, frames=thinned(frames, fewer))

    def _fewer(self, count: int, excess: float | None) -> int:
        """Return how many of so many images to try next.

        Two refusals tell what each image takes and what the text takes; one alone is read as if
        the text took nothing, so that no image is left out that would have fitted.
        """
        if excess is None or excess <= 1:
            return count // 2
        fitting = count / excess
        if self._too_long:
            before, more = self._too_long[-1]
            each = (more - excess) / (before - count) if before > count else 0.0
            fitting = count - (excess - 1) / each if each > 0 else fitting
        self._too_long.append((count, excess))
        # What is left over of a division may miss a whole number by a hair.
        return max(1, min(count - 1, int(fitting + 1e-9)))

    def let_go(self) -> None:
        """Let other calls go on, if they wait for this one."""
        if self._trial is not None:
            self.limits.end_trial(self.model)
            self._trial = None

    def _switches(self, fault: CallFault) -> bool:
        """Return whether the limit of tokens may go by another name than was refused."""
        sent = self._sent.token_field
        if sent is None or sent not in fault.refused_fields:
            return False
        # Once more than there are names, since a server that was gone may come back as another.
        if self._refused >= len(get_args(TokenField)):
            return False
        self._refused += 1
        # Another call may have learnt it since this one was sent.
        if self.limits.token_field(self.model) == sent:
            self._report(self.limits.switch(self.model, sent))
        return True

    def _moves_system(self, fault: CallFault) -> bool:
        """Return whether the system text may be said by the user, since the system's is refused."""
        if not fault.refused_system or self._sent.system_role is not None or self.model.is_offline:
            return False
        if self.limits.form(self.model).system_role is None:
            self._report(self.limits.move_system(self.model))
        return True

    def _streams(self, fault: CallFault) -> bool:
        """Return whether the reply may come in pieces, since no other is given."""
        model = self.model
        if not fault.demands_stream or self._sent.is_streamed or not model.can_stream:
            return False
        if not self.limits.form(model).is_streamed:
            self._report(self.limits.stream(model))
        return True

    def _asks_for_less(self, fault: CallFault) -> bool:
        """Return whether a looser format, or none, may be taken where one was refused."""
        refused = self.asked_for
        if refused is None or not fault.refused_format or self.model.structured != "auto":
            return False
        # Once more than there are formats, as with the names of a limit of tokens.
        if self._refused_formats > len(get_args(ReplyFormat)):
            return False
        self._refused_formats += 1
        # Another call may have learnt it since this one was sent.
        if self.limits.reply_format(self.model) == refused:
            self._report(self.limits.ask_for_less(self.model, refused))
        return True

    def _report(self, line: str | None) -> None:
        if line is not None:
            self.say(line)


def _is_informative(learnt: LearntLimits) -> bool:
    shape = (learnt.token_limit_field, learnt.system_role, learnt.is_streaming, learnt.structured)
    return any(shape) or any((learnt.images, learnt.output_tokens))


def _place(model: Model) -> ServerKey:
    return model.resolved, model.endpoint


def _count(request: Request) -> int:
    return len(request.frames.frames) if request.frames else 0


def _sent_at_most(model: Model, count: int, because: str) -> str:
    images = "1 image" if count == 1 else f"{count} images"
    return f"{model.alias} is sent at most {images} a request from now on: {because}"
