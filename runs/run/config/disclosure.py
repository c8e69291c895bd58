"""What leaves the machine, said before the first call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from videoautoarena.agents.roles.classify import FRAMES as CLASSIFIER_FRAMES
from videoautoarena.agents.transport.redaction import is_traced, trace_host
from videoautoarena.graph.slot_ids import DIVERSE_ASKS
from videoautoarena.memory.records.records import SCOUTS, Role
from videoautoarena.runs.run.config.run_config import RunConfig

REPAIR = 2
"""The most requests for one structured reply: it may be asked for once more."""


def calls_at_most(config: RunConfig, *, videos: int, first: int, later: int) -> Counter[str]:
    """Return the most calls of each model by name, without transport retries.

    A slot costs at most 2 answers, 1 ask a judge and seating, and for its question 1 ask, or 5
    where an earlier one is evolved (evolve, grade, evolve, grade, ask afresh); a video 2 asks on
    top, or 4 where alike users are invented anew.
    """
    calls: Counter[str] = Counter()
    slots = first + later
    # Any battle may be drawn for the audit by swapped seats.
    seatings = 1 if config.swap == 0 else 2
    # The account of the video, and the asks for its users.
    opening = 1 + (DIVERSE_ASKS if config.diverse else 1)
    calls[config.examiner] += REPAIR * (opening * videos + first + 5 * later)
    for judge in config.judges:
        calls[judge] += REPAIR * seatings * slots
    for model in config.models:
        # Any model may be drawn for every battle.
        calls[model] += slots
    for (scout, _), clips in clip_calls(config, config.models).items():
        calls[scout] += clips * videos
    for scout in embedders(config, config.models):
        calls[scout] += slots
    return calls


def embedders(config: RunConfig, models: Iterable[str]) -> set[str]:
    """Return the models that embed the questions of these contestants, each question once."""
    found = (config.cast[model].retrieval for model in models)
    return {retrieval.embeddings for retrieval in found if retrieval is not None}


def clip_calls(config: RunConfig, models: Iterable[str]) -> Counter[tuple[str, Role]]:
    """Return the most calls about the clips of one video, by model and role."""
    # Contestants whose clips are cut and embedded alike share the vectors, hence the calls.
    clips: dict[tuple[str, Role, str | None, int], int] = {}
    for model in models:
        found = config.cast[model].retrieval
        if found is None:
            continue
        each = found.frames_per_clip
        by = found.captioner
        # Rounded up. With no more clips than are kept there is nothing to choose.
        if (count := -(-config.sampling.frames // each)) > found.keep:
            clips[found.embeddings, "embedder", by, each] = count
            if by is not None:
                clips[by, "captioner", None, each] = count
    calls = Counter[tuple[str, Role]]()
    for (scout, role, *_), count in clips.items():
        calls[scout, role] += count
    return calls


def remote_notice(
    config: RunConfig,
    most_calls: Callable[[Collection[str]], int],
    *,
    videos: int,
    has_subtitles: bool = False,
) -> Iterable[str]:
    """Yield a line for each host that frames go to, then one for LangSmith.

    `most_calls` returns the most calls of some models together.
    """
    frames = {alias: most_frames(config, alias) for alias in config.cast}
    yield from _host_lines(config, most_calls, frames, videos=videos, has_subtitles=has_subtitles)
    officials = dict.fromkeys((config.examiner, *config.judges))
    remote = [alias for alias in officials if not config.cast[alias].is_offline]
    if config.personas is not None and remote:
        yield f"the users that were brought are described to {', '.join(remote)} as they stand"
    if videos:
        yield from tracing_lines()


def judges_notice(
    config: RunConfig,
    calls: Mapping[str, int],
    *,
    videos: int,
    has_subtitles: bool = False,
    answering: Collection[str] = (),
    reading: Collection[str] = (),
    role: Role | None = None,
) -> Iterable[str]:
    """Yield a line for each host whose judges are sent frames, with the most frames and calls.

    `calls` is by name, of those that judge, and of those that are `answering`; or of all in one
    `role`. Those that are `reading` judge words alone. The last line is LangSmith's, as above.
    """
    frames = {
        alias: 0
        if alias in reading
        else frames_of(config, alias, role or _post(config, alias, answering))
        for alias in calls
    }

    def most_calls(aliases: Collection[str]) -> int:
        return sum(calls[alias] for alias in aliases)

    yield from _host_lines(config, most_calls, frames, videos=videos, has_subtitles=has_subtitles)
    if calls:
        yield from tracing_lines()


def tracing_lines() -> Iterable[str]:
    """Yield a line on where LangSmith sends all requests and replies; nothing if it is off."""
    if is_traced():
        to = f"also go to {trace_host()}, with digests of frames"
        yield f"LangSmith tracing is on: all requests and replies {to}"


def _host_lines(
    config: RunConfig,
    most_calls: Callable[[Collection[str]], int],
    frames: Mapping[str, int],
    *,
    videos: int,
    has_subtitles: bool,
) -> Iterable[str]:
    """Yield a line for each host over the network that calls of these models go to."""
    what = "frames and subtitles" if has_subtitles else "frames"
    about = "1 video" if videos == 1 else f"{videos} videos"
    hosts: dict[str, list[str]] = {}
    for alias in frames:
        if not config.cast[alias].is_offline:
            # Not `entry.endpoint`: that was so when the run began, and variables may have changed.
            hosts.setdefault(config.model_of(alias).host, []).append(alias)
    for host, aliases in hosts.items():
        at_once = max(frames[alias] for alias in aliases)
        if not at_once and set(aliases) <= embedders(config, config.models):
            shown = f"questions and captions of clips of {about}"
        elif not at_once:
            shown = "words and no frames"
        else:
            shown = f"{what} of {about} (up to {at_once} per call)"
        most = most_calls(aliases)
        titles = ", ".join(config.model_of(alias).title for alias in aliases)
        yield f"{shown} go to {host} for {titles}: at most {most:,} calls"


WORDS_ALONE: frozenset[Role] = frozenset(
    {
        *("scene_merger", "object_matcher", "checklist_validator", "checklist_marker"),
        *("leak_checker", "topic_namer"),
    }
)
"""Roles whose calls carry no frames."""


def frames_of(config: RunConfig, alias: str, role: Role) -> int:
    """Return the most frames of a call to `alias` in a role."""
    if role in WORDS_ALONE:
        return 0
    most = min(config.model_of(alias).frame_limit(role), config.sampling.frames)
    if role == "classifier":
        return min(most, CLASSIFIER_FRAMES)
    if role not in SCOUTS:
        return most
    sizes = (
        one.retrieval.frames_per_clip
        for one in config.cast.values()
        if one.retrieval and alias == (one.retrieval.captioner or one.retrieval.embeddings)
    )
    return min(most, max(sizes, default=0))


def most_frames(config: RunConfig, alias: str) -> int:
    """Return the most frames of a call to `alias` in any of its roles."""
    watches = alias == config.examiner or alias in config.judges
    return frames_of(config, alias, "judge" if watches else _post(config, alias, config.models))


def _post(config: RunConfig, alias: str, answering: Collection[str]) -> Role:
    """Return the role in which a model that answers, judges or finds clips is sent most frames."""
    if alias in answering:
        return "contestant"
    return "embedder" if alias in config.scouts else "judge"
