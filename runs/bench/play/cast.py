"""Who plays a bench against whom: a cast of which one model is the anchor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from videoautoarena.agents.models.registry import Model
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Sampling
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.analysis.trials.trial import Leave
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import (
    REFERENCES,
    VIEWS,
    History,
    View,
    read_answers,
    read_head,
    result_files,
)
from videoautoarena.runs.bench.format.schema import RUN, Item, digest_of
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import in_full
from videoautoarena.runs.run.config.arena_file import ArenaFile, arena_file
from videoautoarena.runs.run.config.cast import (
    OFFLINE_CAST,
    OFFLINE_JUDGE,
    CastEntry,
    contestant_of,
    entry_of,
    is_offline_judge,
    is_self_judging,
    refuse_blind,
    scouts,
)
from videoautoarena.runs.run.config.run_config import RunConfig, refuse_text_read
from videoautoarena.runs.run.rundir.budget import priced
from videoautoarena.runs.run.rundir.reader import blind_lines

Swap = float | Literal["all"]
Preset = Literal["paper"]
PRESETS: Mapping[Preset, Mapping[str, int]] = {"paper": {"frames": 32, "size_px": 720}}
"""What differs from the usual sampling. Source: MT-Video-Bench, evaluation."""


@dataclass(frozen=True)
class Player:
    """A model, or its answers that were handed in, that is judged."""

    name: str
    identity: str
    """Digest of what it is, whatever it is called."""
    model: Model | None = None
    """None if its answers were handed in."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Answers that were handed in, by qid."""
    view: View = "whole"
    """What it is shown of a video."""
    history: History = "golden"
    """What it is sent of earlier rounds of a dialogue."""

    @property
    def is_blind(self) -> bool:
        """Whether it is asked without a frame of any video."""
        model = self.model
        if model is None:
            return False
        return self.view == "blind" or model.frame_limit("contestant") == 0


class CastRequest(NamedTuple):
    """What was typed of the cast and the draws."""

    models: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    """Several are a panel, whose larger part decides."""
    config: Path | None = None
    swap: Swap = 0.1
    seed: int = 0
    leave: Leave = Leave()
    anchor: str | None = None
    """Name of the model whose answers all are held against, in place of both references."""
    views: tuple[View, ...] = ("whole",)
    """What each model is shown of tasks, each view as a player of its own."""
    frames: tuple[int, ...] = ()
    """Numbers of frames for tasks, each as a player of its own; empty for each model's own."""
    history: History = "golden"
    """What models are sent of earlier rounds of dialogues."""
    preset: Preset | None = None
    """How videos of dialogues are looked at, in place of the usual way."""


class BenchCast(NamedTuple):
    """A cast that may play."""

    config: RunConfig
    """Settings of a run in which the judge examines; without players of handed-in answers."""
    players: tuple[Player, ...]
    judge: str
    """The name of the panel: all judges of `config` in alphabetical order, joined by commas."""
    notes: tuple[str, ...]
    """What a reader must know; safe to print."""
    anchor: Player | None = None
    """The model whose answers all are held against; None if it is both references."""
    marking: tuple[str, ...] | None = None
    """The roles that mark free text; None if answers are held against others."""
    preset: Preset | None = None
    """How the videos are looked at; None for the usual way."""

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles whose prompts are used."""
        if self.marking is not None:
            return ("contestant", *self.marking)
        return ("contestant", "comparer" if self.anchor else "judge")

    @property
    def blind_judges(self) -> tuple[str, ...]:
        """Names of judges that are to look at videos, and are sent no frames."""
        return () if self.marking is not None else self.config.blind_referees

    def needs_video(self, player: Player) -> bool:
        """Return whether a question takes its video, for the player or for who judges its answer.

        What was handed in is held to have been answered from the video.
        """
        if not player.is_blind:
            return True
        if self.marking is not None:
            return False
        anchor = self.anchor
        looks = anchor is not None and anchor.model is not None and not anchor.is_blind
        return looks or len(self.blind_judges) < len(self.config.judges)

    @property
    def why_videos(self) -> str:
        """Who makes videos necessary, as the end of a clause; empty if a player does."""
        if not all(player.is_blind for player in self.players):
            return ""
        return f", which {safe(self.judge)} looks at to judge"

    @property
    def needs_videos(self) -> bool:
        """Whether anything that is played takes a video."""
        return any(map(self.needs_video, self.players))


def _cast_of(bench: OpenBench, wanted: CastRequest, file: ArenaFile) -> BenchCast:
    """Return who plays a bench and who judges; `wanted` names the models."""
    roster = wanted.models
    _refuse_twice(roster, _models())
    given = {name: answers for name in roster if (answers := read_answers(bench, name))}
    asked = tuple(name for name in roster if name not in given)
    cast = {name: contestant_of(name, file) for name in asked}
    sampling = _sampling(bench)
    identities = {name: digest_of(cast[name].identity(sampling.frames)) for name in asked}
    _refuse_same(identities)
    # Nobody knows who wrote answers that were handed in, so they count as those of real models.
    is_real = bool(given) or _reads_real(bench, wanted)
    judges = _judges(wanted, file, cast=cast, is_real=is_real)
    cast |= {judge: entry_of(judge, file) for judge in judges}
    cast |= scouts(cast, file)
    # Apart from the players: a judge that also competes is refused below, or allowed.
    _refuse_same({judge: digest_of(cast[judge].identity(sampling.frames)) for judge in judges})
    if any(entry.is_offline for entry in cast.values()):
        refuse_text_read(sampling, "have real models play and judge")
    _refuse_players(judges, cast)
    refuse_blind(judges, cast=cast, allowed=wanted.leave.blind)
    config = RunConfig(
        seed=wanted.seed,
        rounds=1,
        models=asked,
        examiner=judges[0],
        judges=judges,
        cast=cast,
        swap=wanted.swap,
        sampling=sampling,
        offline=all(entry.is_offline for entry in cast.values()),
    )
    whose = "that were handed in" if given else f"in {bench.folder}"
    _check_judge(config, wanted.leave, whose=whose if is_real else None)
    config = priced(config)
    players = tuple(
        # What was handed in has no model: its name is all that tells it from others.
        Player(name, digest_of(["answers", name]), given=given[name].responses)
        if name in given
        else Player(name, identities[name], config.model_of(name))
        for name in roster
    )
    return BenchCast(config, players, ",".join(judges), tuple(_notes(bench, wanted, config)))


def _models() -> str:
    return option("models", flag="--model")


def swept() -> str:
    """Return what sets the numbers of frames with which each model plays."""
    return option("frames", flag="--sweep")


def _refuse_twice(roster: tuple[str, ...], option: str) -> None:
    for name in roster:
        if roster.count(name) > 1:
            raise BadInput(f"{option} names {quoted(name)} twice; name each model once")


def _refuse_same(identities: Mapping[str, str]) -> None:
    first: dict[str, str] = {}
    # Under two names one model would answer from the same calls and count twice.
    for name, identity in identities.items():
        if (other := first.setdefault(identity, name)) != name:
            raise BadInput(
                f"{quoted(other)} and {quoted(name)} are the same model; name one of them"
            )


def refuse_dialogue_options(wanted: CastRequest) -> None:
    """Raise BadInput if something was typed that means nothing but in dialogues."""
    if wanted.history != "golden" or wanted.preset is not None:
        raise BadInput(
            f"{option('history')} and {option('preset')} are for dialogues; leave them out"
        )


def _refuse_swept(cast: Mapping[str, CastEntry], wanted: CastRequest) -> None:
    for name, entry in cast.items():
        if entry.retrieval is not None and wanted.frames:
            raise BadInput(
                f"{quoted(name)} is sent the frames of the clips it keeps, so that {swept()} has "
                "no number to change; name its model, or tables with another keep"
            )


def _sampling(bench: OpenBench[Any]) -> Sampling:
    """Return how the videos of a bench are looked at: as in its run, else as usual."""
    found = bench.manifest.run.get("sampling")
    if found is None:
        return Sampling()
    try:
        return Sampling.model_validate(found)
    except ValidationError:
        raise BadInput(f"{bench.folder} states no usable sampling") from None


def _judges(
    wanted: CastRequest, file: ArenaFile, *, cast: Mapping[str, CastEntry], is_real: bool
) -> tuple[str, ...]:
    """Return the panel in an order that does not depend on how it was typed.

    Where nobody is named, the file's examiner judges, as in a run, if it does not compete.
    """
    named = file.roles.judge
    judges = wanted.judges or ((named,) if isinstance(named, str) else tuple(named or ()))
    _refuse_twice(judges, option("judge"))
    if judges:
        # A panel has one name, and so one file of results, however it was typed.
        return tuple(sorted(judges))
    competing = ""
    examiner = file.roles.examiner
    entry = entry_of(examiner, file) if examiner is not None else None
    if examiner is not None and entry is not None and not entry.is_offline:
        if wanted.leave.compete or entry.model not in {one.model for one in cast.values()}:
            return (examiner,)
        competing = f", since the examiner {quoted(examiner)} competes"
    if (is_real and not wanted.leave.offline) or not all(e.is_offline for e in cast.values()):
        raise BadInput(
            f"there is no judge{competing}; name a model that does not compete with "
            f"{option('judge')}"
        )
    return (OFFLINE_JUDGE,)


def _reads_real(bench: OpenBench, wanted: CastRequest) -> bool:
    """Return whether answers of real models in the bench itself are read."""
    # `is True`, since the settings of a run are free JSON that anybody may have written.
    is_offline = bench.manifest.source.kind == RUN and bench.manifest.run.get("offline") is True
    return _reads_references(wanted) and not is_offline


def _reads_references(wanted: CastRequest) -> bool:
    """Return whether anything is held against the bench's own answers."""
    return wanted.anchor is None or wanted.anchor in REFERENCES


def _refuse_players(judges: Sequence[str], cast: Mapping[str, CastEntry]) -> None:
    for judge in judges:
        if cast[judge].is_offline and cast[judge].model != OFFLINE_JUDGE:
            can = f"the offline one that can is {OFFLINE_JUDGE}"
            raise BadInput(f"{quoted(judge)} cannot judge; {can}")


def _check_judge(config: RunConfig, allowed: Leave, *, whose: str | None) -> None:
    """Refuse a judge that competes, and the offline one over real answers; `whose` are read."""
    judges = config.judges
    cast = config.cast
    is_self_judging(config.models, judges, cast=cast, allowed=allowed.compete)
    is_offline_judge(config.models, judges, cast=cast, allowed=allowed.offline)
    stand_ins = [judge for judge in judges if cast[judge].is_offline]
    if stand_ins and whose is not None and not allowed.offline:
        raise BadInput(
            f"{stand_ins[0]} only understands offline contestants, not the answers {whose}; "
            f"name a real {option('judge')}, or add {option('allow_offline_judge', True)}"
        )


def _notes(bench: OpenBench, wanted: CastRequest, config: RunConfig) -> Iterator[str]:
    if config.offline:
        yield "this rates offline stand-ins, not real models"
    elif any(config.cast[judge].is_offline for judge in config.judges):
        yield "the offline judge only understands offline contestants; its rulings mean little here"
    yield from blind_lines(config.blind_referees)
    # Against a model as anchor nobody reads the answers of the bench, whoever wrote them.
    for judge in config.judges if _reads_references(wanted) else ():
        if authors := _authors(bench, config.cast[judge].model):
            yield (
                f"{safe(judge)} judges its own answers: it wrote references in this bench "
                f"as {safe(', '.join(authors))}"
            )


def _authors(bench: OpenBench, model: str) -> list[str]:
    """Return the names under which a model wrote answers that are references in a bench."""
    cast: Any = bench.manifest.run.get("cast")
    entries = cast.items() if isinstance(cast, dict) else ()
    same = {
        name for name, entry in entries if isinstance(entry, dict) and entry.get("model") == model
    }
    wrote = {name for item in bench.items for name in (item.selected_model, item.rejected_model)}
    return sorted(same & {name for name in wrote if name is not None})


def cast_against(bench: OpenBench, wanted: CastRequest) -> BenchCast:
    """Return who plays a bench, who judges, and who is the anchor if there is one; or BadInput.

    An anchor is a model, whose answers are asked for or were handed in, or by the words
    `selected` and `rejected` those answers of the bench itself.
    """
    file = arena_file(wanted.config)
    wanted = _named_in_full(bench, wanted, file)
    anchor = wanted.anchor
    named = wanted.models or file.roles.models
    roster = named or OFFLINE_CAST
    assumed = () if named else ("no models were named, so the offline stand-ins play",)
    if anchor is None:
        cast = _cast_of(bench, wanted._replace(models=roster), file)
        return cast._replace(notes=(*assumed, *cast.notes))
    names = tuple(name for name in roster if name != anchor)
    if not names:
        raise BadInput(
            f"{quoted(anchor)} would only meet itself; name other models with {_models()}"
        )
    if anchor in REFERENCES:
        cast = _cast_of(bench, wanted._replace(models=names), file)
        answers = {item.qid: item.reference(anchor) for item in bench.items}
        held = Player(anchor, digest_of(["reference", anchor]), given=answers)
    else:
        # The anchor last, from where it is taken out of the players again.
        cast = _cast_of(bench, wanted._replace(models=(*names, anchor)), file)
        *_, held = cast.players
        cast = cast._replace(players=cast.players[:-1])
    if len(cast.config.judges) > 1:
        raise BadInput(
            f"with an anchor there is one judge, not a panel; name it with {option('judge')}"
        )
    notes = [*cast.notes, *assumed]
    if anchor in wanted.models:
        notes.append(f"{safe(anchor)} is the anchor and is not compared with itself")
    return cast._replace(anchor=held, notes=tuple(notes))


def task_cast(bench: OpenBench[Any], wanted: CastRequest, *, roles: tuple[str, ...]) -> BenchCast:
    """Return who answers tasks, and who marks free text if `roles` are given; or BadInput."""
    file = arena_file(wanted.config)
    wanted = _named_in_full(bench, wanted, file)
    if wanted.anchor is not None:
        raise BadInput(f"only preferences are held against an anchor; leave {option('anchor')} out")
    named = wanted.models or file.roles.models
    roster = named or OFFLINE_CAST
    _refuse_twice(roster, _models())
    given = {name: answers for name in roster if (answers := read_answers(bench, name))}
    asked = tuple(name for name in roster if name not in given)
    cast = {name: contestant_of(name, file) for name in asked}
    _refuse_swept(cast, wanted)
    sampling = _sampling(bench)
    if wanted.preset is not None:
        # Before identities are compared: what a model is depends on how many frames it may be sent.
        sampling = sampling.model_copy(update=dict(PRESETS[wanted.preset]))
    _refuse_same({name: digest_of(cast[name].identity(sampling.frames)) for name in asked})
    judges = _judges(wanted, file, cast=cast, is_real=bool(given)) if roles else ()
    if len(judges) > 1:
        raise BadInput(
            f"free text is marked by one judge, not a panel; name it with {option('judge')}"
        )
    if wanted.judges and not roles:
        raise BadInput(f"nothing in this set is marked by a judge; leave {option('judge')} out")
    cast |= {judge: entry_of(judge, file) for judge in judges}
    cast |= scouts(cast, file)
    _refuse_players(judges, cast)
    config = RunConfig(
        seed=wanted.seed,
        rounds=1,
        models=asked,
        # Settings of a run name an examiner; nobody examines here.
        examiner=next(iter((*judges, *asked)), ""),
        judges=judges,
        cast=cast,
        # Free text is held against a key: there are no two seats to exchange.
        swap=0.0,
        sampling=sampling,
        offline=all(entry.is_offline for entry in cast.values()),
    )
    _check_judge(config, wanted.leave, whose="that were handed in" if given else None)
    config = priced(config)
    players = tuple(
        Player(name, digest_of(["answers", name]), given=given[name].responses)
        if name in given
        else Player(name, digest_of(cast[name].identity(sampling.frames)), config.model_of(name))
        for name in roster
    )
    notes = [] if named else ["no models were named, so the offline stand-ins play"]
    if config.offline:
        notes.append("this scores offline stand-ins, not real models")
    shown = tuple(_shown(players, wanted))
    marking = tuple(dict.fromkeys(roles))
    return BenchCast(
        config, shown, ",".join(judges), tuple(notes), marking=marking, preset=wanted.preset
    )


def _shown(players: Sequence[Player], wanted: CastRequest) -> Iterator[Player]:
    """Yield each player once for each view and number of frames; handed-in answers just once."""
    for player in players:
        model = player.model
        if model is None:
            yield player
            continue
        for view in wanted.views:
            named = player.name if view == "whole" else f"{player.name} ({VIEWS[view]})"
            one = replace(player, name=named, view=view)
            yield from (
                (
                    replace(
                        one, name=f"{named} ({n} frames)", model=model.with_settings(max_frames=n)
                    )
                    for n in wanted.frames
                )
                if wanted.frames
                else (one,)
            )


def _named_in_full(bench: OpenBench[Any], wanted: CastRequest, file: ArenaFile) -> CastRequest:
    """Return what was typed with short names of models that the bench knows written whole."""
    known = [*file.models, *REFERENCES]
    for listed in (bench.manifest.run.get(key) for key in ("models", "judges")):
        known += map(str, listed) if isinstance(listed, list) else ()
    known += [
        name
        for one in bench.items
        if isinstance(one, Item)
        for name in (one.selected_model, one.rejected_model)
        if name
    ]
    for head in (read_head(path, bench) for path in result_files(bench)):
        # A panel is kept as its judges, joined by commas, of whom each may be typed.
        known += [name for name in (head.model, *(head.judge or "").split(",")) if name]
    return wanted._replace(
        models=tuple(in_full(name, known) for name in wanted.models),
        judges=tuple(in_full(name, known) for name in wanted.judges),
        anchor=wanted.anchor and in_full(wanted.anchor, known),
    )
