"""Beginning a run, or opening the one in a folder and checking that it is the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.graph.slot_ids import PERSONAS, slot_id
from videoautoarena.memory.records.errors import BadInput, ForeignRun
from videoautoarena.memory.records.records import Video
from videoautoarena.memory.records.remedies import option, step
from videoautoarena.memory.records.slots import Slots
from videoautoarena.memory.records.standards import PAPER_CONTRACTS
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import in_full, written_as
from videoautoarena.runs.run.config.agreement import NO_TRUST, RunTrust, is_agreed_folder
from videoautoarena.runs.run.config.arena_file import arena_file
from videoautoarena.runs.run.config.cast import as_begun
from videoautoarena.runs.run.config.run_config import RunConfig, RunSettings
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.config.stopping_rule import keep_caps, keep_rule
from videoautoarena.runs.run.inputs.facts import (
    NO_FACTS,
    Facts,
    changed_facts,
    facts_text,
    keep_more,
)
from videoautoarena.runs.run.inputs.users import (
    UserFile,
    changed_users,
    keep_seats,
    users_lines,
    users_text,
)
from videoautoarena.runs.run.rundir.budget import priced
from videoautoarena.runs.run.rundir.failures import failed_slots, supersede
from videoautoarena.runs.run.rundir.frames import changed_subtitles, keep_subtitles
from videoautoarena.runs.run.rundir.reader import (
    MERGED,
    RUN_FILE,
    RunReader,
    contracts_of,
    counted,
    reading_of,
    run_file,
)
from videoautoarena.runs.run.rundir.slots import Lineup, in_order, new_slots, next_generation
from videoautoarena.video.folder.find import Findings

PROMPT_FILE = "prompts/"
FOLDER_FILE = "local/videos"
"""File in the run with the folder where the videos lay last, for `arena resume`."""


@dataclass(frozen=True)
class OpenOptions:
    """How a run is opened; no part of the run."""

    retry_failed: bool = False
    """Whether slots that ended void or forfeit because a call had failed are played again."""
    fsync: bool = False
    """Whether every commit waits until the disk has it."""
    caps: SpendCaps | None = None
    """The caps from now on, written down before anything else; None: as before."""
    until: str | None = None
    """The rule that may stop it early from now on; None: as before."""
    found: Findings | None = None
    """The videos, if their folder was read for a plan already; None: it is read now."""
    facts: Facts | None = None
    """What a file says of the videos; None: the run keeps its own facts."""
    facts_file: str | None = None
    """The value of `--facts`, if it was given."""
    trust: RunTrust = NO_TRUST
    """What the user says now about a run that somebody else may have written."""


DEFAULT_OPEN_OPTIONS = OpenOptions()


class PresentFiles(Mapping[str, Path]):
    """Where videos of a folder lie, by their ids; a path is made as it is asked for."""

    def __init__(self, folder: Path, paths: Mapping[str, str]) -> None:
        """Take the paths below the folder by the ids of their videos."""
        self._folder = folder
        # A Path each would take as much memory as its video: 600 bytes.
        self._paths = paths

    def __getitem__(self, video: str) -> Path:
        return self._folder / self._paths[video]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


@dataclass(frozen=True)
class Opened:
    """A run that is open for writing."""

    store: Store
    config: RunConfig
    prompts: PromptSet
    notes: tuple[str, ...]
    """Lines for a person on how the run was continued."""
    files: Mapping[str, Path]
    """Id of a video to its present file, wherever that was when the run began."""


def holds_run(out: Path, argument: str = "out") -> bool:
    """Return whether `out` holds a run; BadInput if it is a file or holds other things."""
    if (out / RUN_FILE).is_file():
        return True
    if out.exists() and not out.is_dir():
        raise BadInput(f"{out} is a file; pass a folder with {option(argument)}")
    # What begins with the file's name is left of a run that was cut off while it was made.
    names = (path.name for path in out.iterdir()) if out.is_dir() else ()
    if foreign := sorted(name for name in names if not name.startswith(RUN_FILE)):
        raise BadInput(f"{out} is not empty ({foreign[0]}); pass a new {option(argument)}")
    return False


def begin(
    out: Path,
    config: RunConfig,
    *,
    prompts: PromptSet,
    found: Findings,
    folder: Path,
    open_options: OpenOptions = DEFAULT_OPEN_OPTIONS,
    users: UserFile | None = None,
) -> Opened:
    """Begin a run in `out` over the found videos, `config.limit` of them at most."""
    config = priced(config)
    manifest = config.manifest(
        version("videoautoarena"),
        prompts.digests,
        contracts=prompts.contracts,
        reading=prompts.reading,
    )
    # With the run itself, so that a kill leaves none that is continued without them.
    texts = facts_text(open_options.facts or NO_FACTS) | users_text(users)
    store = Store.create(out / RUN_FILE, manifest, texts=texts, fsync=open_options.fsync)
    try:
        # Before all that takes time: a run that is cut off there is not continued without its cap.
        _bound(store, open_options)
        return _filled(store, config, prompts=prompts, found=found, folder=folder)
    except BaseException:
        store.close()
        raise


def go_on(
    run: RunReader,
    begun: RunConfig,
    asked: RunSettings | None,
    *,
    prompts: PromptSet | None,
    found: Findings,
    folder: Path,
    open_options: OpenOptions = DEFAULT_OPEN_OPTIONS,
) -> Opened:
    """Continue a run that is open for writing; what it was `begun` with, and its prompts, bind.

    Only what is no part of the run's identity follows what was `asked` for now, if anything
    was: where models are served, which variables hold their keys, time-outs, and more rounds.
    `prompts` are those on disk now, for a warning where they differ. It stays open whatever is
    raised.

    Raises:
        ForeignRun: it holds a run with other settings.
        BadInput: fewer rounds than it has, or a video that it still needs is gone.
    """
    out = run.folder
    store = run.store
    manifest = store.manifest()
    refuse_merged(out, manifest)
    kept = priced(configured(out, begun, asked, generation=next_generation(store.slots())))
    # A kill right after the run's beginning leaves it without its prompts: those at hand stand in
    # if they are the same.
    own = stored_prompts(store, missing=_prompts_like(manifest, prompts))
    _refuse_other_prompts(out, own, manifest)
    at_hand = {video.id for video in found.videos}
    failed = failed_slots(store, at_hand=at_hand) if open_options.retry_failed else set()
    _refuse_lost(store, found.videos, folder=folder, rounds=kept.rounds, failed=failed)
    _refuse_idle(store, begun, kept, found)
    file = asked.personas if asked else None
    users = changed_users(store, kept.personas, file)
    # Nothing is written above this line, so that a refusal leaves the run as it was.
    _bound(store, open_options)
    keep_config(store, kept)
    # Before rounds are added: those come after what is played again, and are no part of it.
    repaired = [supersede(store, failed)] if open_options.retry_failed else []
    new = added_videos(kept, store.videos(), found.videos)
    # Before their videos, so that a kill leaves no video without what is said of it.
    keep_more(store, open_options.facts or NO_FACTS, [video.id for video in new])
    differs = changed_facts(store, folder, open_options.facts_file)
    opened = _filled(store, kept, prompts=own, found=found, folder=folder)
    joining = (
        f"{safe(model)} joins for the added battles; all others stay as drawn"
        for model in kept.models[len(begun.models) :]
    )
    changed = _changed(own, prompts) if prompts else ()
    facts = [differs] if differs else []
    return replace(opened, notes=(*repaired, *joining, *opened.notes, *facts, *changed, *users))


def refuse_merged(out: Path, manifest: Mapping[str, Any]) -> None:
    """Raise BadInput for a run that was merged from others, which is not played on."""
    if manifest.get(MERGED):
        raise BadInput(
            f"{safe(str(out))} was merged from other runs; play those on and merge them again"
        )


def keep_config(store: Store, config: RunConfig) -> None:
    """Write down a run's settings if they changed."""
    manifest = store.manifest()
    now = {**manifest, **config.recorded()}
    if now != manifest:
        store.put_manifest(now)


def _bound(store: Store, open_options: OpenOptions) -> None:
    """Write down the caps and the rule that may end the run early."""
    if open_options.caps is not None:
        keep_caps(store, open_options.caps)
    keep_rule(store, open_options.until)


def _filled(
    store: Store, config: RunConfig, *, prompts: PromptSet, found: Findings, folder: Path
) -> Opened:
    """Write down what the run consists of: prompts, videos, skipped files, slots."""
    store.put_files({f"{PROMPT_FILE}{role}": text for role, text in prompts.texts.items()})
    # A folder whose name is no UTF-8 cannot be kept as text; `arena resume` then asks for it.
    with suppress(UnicodeEncodeError):
        store.put_file(FOLDER_FILE, str(folder.resolve()).encode().decode(), replace=True)
    before = store.videos()
    known = {video.id for video in before}
    added = added_videos(config, before, found.videos)
    notes: list[str] = []
    if config.subtitles:
        notes += changed_subtitles(store, known, found=found, folder=folder)
        # Before their videos, so that a kill leaves no video without its subtitles.
        notes += keep_subtitles(store, added, found=found, folder=folder, seed=config.seed)
    keep_seats(store, added, seed=config.seed)
    store.add_videos(added)
    store.add_skipped(found.skipped)
    # Slots come last: videos without them get them whenever the run goes on.
    slots = _missing(config, store, store.videos())
    store.add_slots(slots)
    if before and added:
        are = "is new and was" if len(added) == 1 else "are new and were"
        notes.append(f"{counted(len(added), 'video')} {are} appended")
    if added:
        notes += users_lines(store)
    files = PresentFiles(folder, {video.id: video.path for video in found.videos})
    return Opened(store, config, prompts, tuple(notes), files)


def stored_prompts(store: Store, *, missing: PromptSet | None = None) -> PromptSet:
    """Return the run's own prompts and contracts; `missing` fills in what a kill left out."""
    texts = dict(missing.texts) if missing else {}
    for file in store.files():
        if file.name.startswith(PROMPT_FILE):
            texts[file.name.removeprefix(PROMPT_FILE)] = file.text
    manifest = store.manifest()
    return PromptSet.from_texts(
        texts, contracts=contracts_of(manifest), reading=reading_of(manifest)
    )


def _prompts_like(manifest: Mapping[str, Any], now: PromptSet | None) -> PromptSet:
    """Return prompts for the contracts of a run: today's, if they are made for the same."""
    is_paper = contracts_of(manifest) == PAPER_CONTRACTS
    if now is not None and (now.contracts == PAPER_CONTRACTS) == is_paper:
        return now
    return PromptSet.load(paper=is_paper)


def _refuse_other_prompts(out: Path, own: PromptSet, manifest: Mapping[str, Any]) -> None:
    """Raise BadInput for prompts that differ from those with which the run began."""
    begun = manifest["prompts"]
    others = sorted(role for role, digest in own.digests.items() if begun.get(role) != digest)
    if others:
        raise BadInput(
            f"{out} was begun with other prompts ({', '.join(others)}) and stopped before they "
            f"were copied; pass them with {option('prompts')}, or another {option('out')}"
        )


def _changed(own: PromptSet, now: PromptSet) -> Iterable[str]:
    if own.contracts < now.contracts == PAPER_CONTRACTS:
        yield f"{option('preset', 'paper')} turns back more by now; this run goes on as it began"
        return
    if own.contracts != now.contracts:
        yield (
            f"replies follow the contracts this run began with ({own.contracts}; the "
            f"latest are {now.contracts})"
        )
    if own.reading != now.reading:
        yield (
            f"replies are read in the way this run began with ({own.reading}; the latest is "
            f"{now.reading})"
        )
    if changed := [role for role, d in own.digests.items() if now.digests.get(role) != d]:
        yield (
            "prompts changed on disk since this run began ("
            f"{', '.join(sorted(changed))}); the recorded ones are used"
        )


def added_videos(config: RunConfig, before: Sequence[Video], found: Iterable[Video]) -> list[Video]:
    """Return the found videos that are new to a run and are appended, in order."""
    known = {video.id for video in before}
    ordered = in_order((video for video in found if video.id not in known), config.seed)
    return ordered if config.limit is None else ordered[: max(0, config.limit - len(before))]


def _missing(config: RunConfig, store: Store, videos: Sequence[Video]) -> Slots:
    return new_slots(videos, rounds=config.rounds, block=config.block, existing=store.slots())


def named_in_full(out: Path, flags: RunRequest) -> RunRequest:
    """Return the flags with names spelt as in the run in `out`, or in the file.

    Short names of the run's models become whole; letters are composed as where the name stands.
    """
    typed = (*flags.models, *flags.judge, flags.examiner or ":")
    # A whole name in ASCII has one spelling only, so that no file has to be read for it.
    if all(":" in name and name.isascii() for name in typed):
        return flags
    named = list(arena_file(flags.config).models)
    if not holds_run(out):
        return _spelled(flags, lambda name: written_as(name, named))
    with Store.open(run_file(out), write=False) as store:
        cast = list(RunConfig.of_manifest(store.manifest()).cast)
    # A run keeps the letters that it was begun with, whatever the file writes by now.
    return _spelled(flags, lambda name: written_as(in_full(name, [*named, *cast]), cast))


def _spelled(flags: RunRequest, spell: Callable[[str], str]) -> RunRequest:
    return flags.model_copy(
        update={
            "models": tuple(map(spell, flags.models)),
            "judge": tuple(map(spell, flags.judge)),
            "examiner": flags.examiner and spell(flags.examiner),
        }
    )


def allowed_as_begun(out: Path, flags: RunRequest) -> RunRequest:
    """Return the flags; a run in `out` that has a blind referee need not be allowed it again.

    It may have been begun when nobody was asked.
    """
    if flags.allow_blind_referee or not holds_run(out):
        return flags
    with Store.open(run_file(out), write=False) as store:
        kept = RunConfig.of_manifest(store.manifest())
    return flags.model_copy(update={"allow_blind_referee": bool(kept.blind_referees)})


def configured(
    out: Path, kept: RunConfig, asked: RunSettings | None, *, generation: int
) -> RunConfig:
    """Return the run's configuration with what may change; newcomers join in `generation`."""
    if asked is None:
        return kept
    now = asked.config
    if asked.personas is not None and kept.personas is None:
        raise ForeignRun(
            f"{out} was begun without {option('personas')}; pass another {option('out')}"
        )
    if kept.preset == now.preset == "paper":
        now = _with_parameters(now, kept)
    if asked.assumed_pairing:
        now = now.model_copy(update={"pairing": kept.pairing})
    # Only where all others are named; else it is refused below as another run.
    if set(kept.models) - set(kept.guests) <= set(now.models):
        now = _with_newcomers(now, kept)
    newcomers = [model for model in now.models if model not in kept.models]
    # More models continue a run; fewer or other ones are another run.
    joins = bool(newcomers) and set(kept.models) <= set(now.models)
    same = now
    if joins:
        cast = {name: entry for name, entry in now.cast.items() if name in kept.cast}
        as_before = {name: getattr(kept, name) for name in ("models", *_OF_THE_CAST)}
        # Compared without newcomers, who also change whether all are offline and what was allowed.
        same = now.model_copy(update={"cast": cast, **as_before})
    _refuse_other(out, kept, same)
    rounds = kept.rounds if asked.assumed_rounds else now.rounds
    if rounds < kept.rounds:
        raise BadInput(f"this run has {kept.rounds} rounds; {option('rounds')} can only grow")
    update: dict[str, Any] = {"rounds": rounds, "cast": now.cast}
    if joins:
        update |= {name: getattr(now, name) for name in _OF_THE_CAST}
        update["models"] = (*kept.models, *newcomers)
        update["joined"] = kept.joined | dict.fromkeys(newcomers, generation)
    return kept.model_copy(update=update)


def _with_parameters(asked: RunConfig, kept: RunConfig) -> RunConfig:
    """Return the requested settings with the parameters that the run's contestants began with."""
    known = (name for name in asked.models if name in kept.cast and name in kept.models)
    begun = {name: as_begun(asked.cast[name], kept.cast[name]) for name in known}
    return asked.model_copy(update={"cast": {**asked.cast, **begun}})


_OF_THE_CAST = ("offline", "self_judging", "offline_judge_on_real")
"""Settings that follow from who plays, and from what was allowed for that."""


def _with_newcomers(asked: RunConfig, kept: RunConfig) -> RunConfig:
    """Return the requested settings with newcomers over stored answers, which need not be named."""
    unnamed = [name for name in kept.guests if name not in asked.models]
    if not unnamed:
        return asked
    helpers = kept.helpers(unnamed)
    models = (*asked.models, *unnamed)
    update: dict[str, Any] = {
        "models": kept.models if set(models) == set(kept.models) else models,
        "cast": {name: kept.cast[name] for name in (*unnamed, *helpers)} | asked.cast,
        "offline": asked.offline and kept.offline,
        "self_judging": asked.self_judging or kept.self_judging,
        "offline_judge_on_real": asked.offline_judge_on_real or kept.offline_judge_on_real,
    }
    return asked.model_copy(update=update)


def _refuse_idle(store: Store, before: RunConfig, now: RunConfig, found: Findings) -> None:
    """Raise BadInput for a newcomer for whom no slot would be added."""
    newcomers = [model for model in now.models if model not in before.models]
    there = store.videos()
    slots = _missing(now, store, [*there, *added_videos(now, there, found.videos)])
    if now.pairing == "keep-pair":
        # A lineage keeps its pair, so whoever is new plays in new lineages only.
        slots = slots.where(slots.rounds == 0)
    if newcomers and not slots:
        more = (
            "add videos"
            if now.pairing == "keep-pair"
            else f"raise {option('rounds')} or add videos"
        )
        raise BadInput(
            f"nothing is left to play for {safe(', '.join(newcomers))}: {more}, or "
            f"compare it with stored answers: {step('add')}"
        )


def _refuse_other(out: Path, kept: RunConfig, asked: RunConfig) -> None:
    mine = kept.identity()
    theirs = asked.identity()
    key = next((key for key in mine if mine[key] != theirs[key]), None)
    if key is not None:
        here = mine[key]
        there = theirs[key]
        while isinstance(here, Mapping) and isinstance(there, Mapping):
            inner = next(name for name in {**here, **there} if here.get(name) != there.get(name))
            key = inner if key == "sampling" else f"{key} {inner}"
            here = here.get(inner)
            there = there.get(inner)
        raise ForeignRun(
            f"{out} holds another run ({key} {brief_setting(here)}, here {brief_setting(there)}); "
            f"pass another {option('out')}, or continue it as it began: {step('resume', str(out))}"
        )


def brief_setting(value: Any) -> str:
    """Return the value of a setting for a line, cut to 60 characters."""
    text = ",".join(map(str, value)) if isinstance(value, list | tuple | Mapping) else str(value)
    text = "none" if value is None else text
    return safe(text if len(text) <= 60 else text[:57] + "...")


def _refuse_lost(
    store: Store, videos: Sequence[Video], *, folder: Path, rounds: int, failed: Collection[str]
) -> None:
    lineup = Lineup(store.slots())
    here = {video.id for video in videos}
    settled = store.settled_ids()

    def is_done(video: str) -> bool:
        places = (slot_id(video, p, r) for p in PERSONAS for r in range(rounds))
        current = (lineup.current(place) for place in places)
        return all(slot in settled and slot not in failed for slot in current)

    # A video that was played to its end needs no file any more.
    lost = [video for video in store.videos() if video.id not in here and not is_done(video.id)]
    if lost:
        is_there = any(video.path == lost[0].path for video in videos)
        is_other = " is another video now" if is_there else ""
        raise BadInput(
            f"{folder} lacks {len(lost)} of this run's videos ({safe(lost[0].path)}{is_other}); "
            "pass the folder that has them"
        )


def stored_folder(store: Store) -> Path | None:
    """Return where the run's videos lay last by its file, which is not to be opened unasked."""
    file = store.file(FOLDER_FILE)
    return Path(file.text) if file else None


def videos_folder(store: Store, named: Path | None = None) -> Path | None:
    """Return the folder of the run's videos: the one named now, or the last one named here.

    None if it is known from the run's file alone, which anybody may have written.
    """
    folder = named or stored_folder(store)
    if folder is None or named is not None or is_agreed_folder(folder):
        return folder
    return None


NO_FOLDER = Path(os.devnull)
"""A folder in place of an unknown one of videos: nothing can be found in it."""
UNKNOWN_FOLDER = "its folder is not known here; pass --videos"
"""Why a video of an unknown folder cannot be opened."""
