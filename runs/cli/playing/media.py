"""What goes in: `init`, `doctor`, `videos`, `frames`, `scenes` and `cache`."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from videoautoarena.runs.cli.program import ending, options
from videoautoarena.runs.cli.program.ending import CLUSTER
from videoautoarena.runs.cli.program.main import EXIT_INTERRUPTED, EXIT_VOIDS
from videoautoarena.runs.formats.terminal import print_result, safe, say, say_before_publishing

if TYPE_CHECKING:
    from videoautoarena.agents.models.registry import Model
    from videoautoarena.runs.console.media.doctor import Checkup, Entries
    from videoautoarena.runs.console.media.frame_cache import CacheSelection
    from videoautoarena.runs.console.media.live_check import ModelCheck
    from videoautoarena.runs.making.scenes.show import SceneReport
    from videoautoarena.runs.run.config.first_file import NamedCast
    from videoautoarena.runs.run.rundir.context import EarlyEnd
    from videoautoarena.runs.tournament.plan import Plan


@options.command(
    "arena videos clips",
    "arena videos clips --quick",
    "arena videos clips --scenes",
    "arena videos clips --json | jq -r '.videos[] | [.path, .duration_s] | @tsv'",
)
@options.FOLDER
@options.flag("--scenes", "Count scenes; the first time, every video is decoded in full.")
@options.flag("--quick", "Decode nothing; do not look for damage.")
@options.string(
    "--facts FILE|none",
    "CSV file that says what the videos are.  [default: videos.csv in FOLDER]",
)
@options.AS_JSON
def videos_command(folder: Path, scenes: bool, quick: bool, facts: str | None) -> None:
    """List the videos of FOLDER and its subfolders, and why other files are skipped.

    The frames that a run would use are decoded, so that damage is found. A videos.csv is read and
    checked as a run would read it; the exit code is 1 if a run would refuse it.
    """
    from videoautoarena.runs.console.media import videos

    library = videos.read_library(folder, say, facts)
    if not quick:
        library = ending.run_async(videos.with_damage(library, say))
    if scenes:
        library = ending.run_async(videos.with_scenes(library, say))
    options.print_whole(library.as_json(), lambda: videos.render_library(library))
    # After the table: a mistake in the facts keeps nobody from seeing the videos.
    if library.wrong_facts is not None:
        raise library.wrong_facts


@options.command(
    "arena frames clip.mp4",
    "arena frames clip.mp4 --policy scenes --frames 32 --to scenes.png",
    "arena frames clip.mp4 --run arena-out --model hawk --force",
)
@click.argument("video")
@options.path("--to FILE", "PNG file to write.  [default: VIDEO-frames.png in the current folder]")
@options.SAMPLING
@options.config_option(" with a [sampling] table")
@options.whole("--seen N", "Only the frames that a model limited to N frames sees.", least=1)
@options.path(
    "--run OUT",
    "Frames that this run has shown; VIDEO may be an id or a path in the run.",
    "out",
)
@options.string("--model M", "With --run: only the frames that this contestant sees.")
@options.whole("--columns", "Number of frames per row.", least=1, most=250)
@options.flag("--force", "Overwrite an existing picture.")
@options.json_flag("Print one JSON object; draw a picture only with --to.")
def frames_command(
    video: str, *, to: Path | None, columns: int | None, force: bool, **typed: Any
) -> None:
    """Show the frames that a model sees of VIDEO, with their times, as one picture."""
    from videoautoarena.runs.console.media import frames

    seen, out, model = (typed.pop(name) for name in ("seen", "out", "model"))
    _refuse_contradictions(out, model, seen, typed)
    # Before anything is decoded: a picture that exists or is no PNG is refused at once.
    file = frames.sheet_file(video, to, force=force) if to or not options.is_json() else None
    found = ending.run_async(
        frames.view(frames.FramesRequest(video, frames.asked_sampling(typed), seen, out, model))
    )
    if file is not None:
        frames.write_sheet(found, file, columns)
        say_before_publishing(f"frames of a video are in {safe(str(file))}")
    if options.is_json():
        options.print_json(found.as_json(file))
        return
    for warning in frames.warnings(found):
        say(f"{safe(found.video.path)}: {warning}")
    print_result(f"{safe(str(file))}: {frames.about_frames(found)}")


def _refuse_contradictions(
    out: Path | None, model: str | None, seen: int | None, typed: dict[str, Any]
) -> None:
    given = [name.removesuffix("_px") for name, value in typed.items() if value is not None]
    if out is not None and given:
        raise click.UsageError(f"--{given[0]} was fixed when the run in --run began")
    if out is None and model is not None:
        raise click.UsageError("--model needs --run OUT; without a run, give --seen N")
    if model is not None and seen is not None:
        raise click.UsageError("--model and --seen contradict each other; give one")


@options.command(
    "arena scenes film.mp4",
    "arena scenes film.mp4 --sheet scenes.png",
    "arena scenes film.mp4 --examiner openai:gpt-4o --plan",
    codes=ending.exit_codes("calls failed, or the examiner became unusable"),
)
@click.argument("video", type=options.PATH)
@options.path("--sheet FILE", "PNG file for a contact sheet with a box around each object.")
@options.string(
    "--examiner M",
    "Model that writes captions and names objects.  [default: arena.toml, else the offline one]",
)
@options.config_option(" that declares the examiner")
@options.paid("Repeat the examiner's failed calls.")
@options.flag("--force", "Overwrite an existing sheet.")
@options.AS_JSON
def scenes_command(
    video: Path, *, sheet: Path | None, plan: bool, force: bool, **typed: Any
) -> int:
    """Show the scenes of VIDEO, the objects in them, and where each comes back.

    The examiner writes a caption of each shot; neighbours whose captions belong together become
    one scene. It names the objects of each scene and says which of them is one that came back.

    Its replies are kept in the cache (XDG_CACHE_HOME): a second time nothing is paid.
    """
    from videoautoarena.runs.api.making import scenes
    from videoautoarena.runs.console.media.frames import sheet_file

    # Before the examiner is asked, whose calls may cost money.
    file = sheet_file(str(video), sheet, force=force) if sheet else None
    job = scenes.job(video, pictures=file is not None, **typed)
    if plan:
        planned = ending.run_async(job.plan(ending.audience()))
        shots = f"{safe(str(video))} is cut into {planned.shots} shots"
        lines = [shots, *(planned.plan.as_lines() if planned.plan else ())]
        options.print_report(planned.as_json(None), lines)
        return 0
    tally, found, _ = ending.played(job)
    return _shown(found, tally, file) if found is not None else 0


def _shown(found: SceneReport, end: EarlyEnd, sheet: Path | None) -> int:
    """Print the scenes and objects of a video, or why work ended early; return the exit code."""
    from videoautoarena.runs.making.scenes.sheet import write_scene_sheet
    from videoautoarena.runs.views.results.forms import ReportView
    from videoautoarena.runs.views.results.scenes import scenes_report

    memory = found.memory
    if memory is None:
        return ending.early_end(end, "scenes are not all remembered") or 0
    if sheet is not None:
        write_scene_sheet(found, memory, sheet)
        say_before_publishing(f"frames of a video are in {safe(str(sheet))}")
    options.print_whole(found.as_json(sheet), lambda: ReportView(scenes_report(found, memory)))
    if not memory.failures:
        return 0
    say("to repeat the calls that failed, add --retry-failed")
    return EXIT_VOIDS


@options.group("arena cache", invoke_without_command=True)
@options.AS_JSON
@click.pass_context
def cache_command(context: click.Context) -> None:
    """Show the disk space that decoded frames take, by video."""
    if context.invoked_subcommand is not None:
        return
    from videoautoarena.runs.console.media.frame_cache import held

    found = held()
    options.print_text(found.as_json(), lambda: "\n".join(found.as_lines(time.time())))


@cache_command.member("arena cache clear --older-than 30d --yes")
@click.argument("videos", nargs=-1)
@options.string("--older-than AGE", "Only frames not used for this long, such as 30d or 12h.")
@options.flag("--yes", "Do not ask for confirmation.", "-y")
@options.AS_JSON
def clear(videos: tuple[str, ...], older_than: str | None, yes: bool) -> None:
    """Remove cached frames of VIDEOS, given by id, or of all; they can be decoded again."""
    from videoautoarena.runs.console.media.frame_cache import (
        CacheSelection,
        bytes_text,
        seconds_of,
        selected_entries,
    )
    from videoautoarena.runs.console.media.frame_cache import clear as remove
    from videoautoarena.runs.run.rundir.reader import counted

    wish = CacheSelection(videos, None if older_than is None else seconds_of(older_than))
    entries = selected_entries(wish)
    size = bytes_text(sum(entry.size_bytes for entry in entries))
    what = f"{_meant(wish)}: {counted(len(entries), 'file')}, {size}"
    if entries and not yes and not _agreed(what):
        say("nothing was removed")
        raise click.exceptions.Exit(1)
    gone = remove(entries)
    # Of what is gone, since some entries may have been removed by somebody else meanwhile.
    freed = sum(entry.size_bytes for entry in gone)
    line = f"removed {counted(len(gone), 'file')}, {bytes_text(freed)}"
    options.print_line({"removed": len(gone), "bytes": freed}, line)


def _meant(wish: CacheSelection) -> str:
    those = "frames of these videos" if wish.videos else "all frames"
    return f"remove {those} that were not used lately" if wish.older_s else f"remove {those}"


def _agreed(what: str) -> bool:
    """Ask whether to go on; BadInput, which says what to type, without a terminal."""
    from videoautoarena.memory.records.errors import BadInput

    # Stderr and not stdout: the question goes there, so that results may be piped.
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(f"would {what}; pass --yes to do it")
    return click.confirm(f"{what}?", err=True)


@options.command(
    "arena init --models openai:gpt-4o,google_genai:gemini-2.5-flash --examiner openai:gpt-4.1",
    "arena init --models openai:one,openai:two --examiner openai:three "
    "--base-url http://127.0.0.1:8000/v1",
    "arena init --models hawk,mole --examiner owl --base-url http://127.0.0.1:8000/v1 "
    "--base-url mole=http://127.0.0.1:8001/v1 --key-env mole=MOLE_KEY --to two-servers.toml",
)
@options.listed(
    "--models A,B,..",
    "Contestants, each as provider:model.  [default: asked for]",
    cls=options.ProviderOption,
)
@options.string("--examiner M", "Model that examines, and judges where no other is named.")
@options.listed("--judge M[,M2..]", "One or more judges.  [default: the examiner]")
@options.listed(
    "--base-url [NAME=]URL",
    "Your server of OpenAI's protocol, for all models of openai or for one.",
)
@options.listed(
    "--key-env [NAME=]VARIABLE",
    "Variable that holds the key of all models with such a server, or of one.",
)
@options.listed(
    "--max-frames [NAME=]N",
    "Images in one call to all models with such a server, or to one.  "
    "[default: 16, examiner and judges 64]",
)
@options.path("--videos", "Also estimate calls and cost of a first try on this folder.")
@options.path("--to", "File to write.", default=Path("arena.toml"))
@options.OVERWRITE
@options.AS_JSON
def init_command(to: Path, *, videos: Path | None, force: bool, **typed: Any) -> None:
    """Write a first arena.toml for the models that you name, with comments on what may be changed.

    Models that are not named are asked for on a terminal. No model is called and no key is read.
    """
    from videoautoarena.memory.records.records import SCHEMA
    from videoautoarena.runs.formats.files import refuse_existing, write_whole
    from videoautoarena.runs.run.config.first_file import first_file

    # First, so that nobody answers questions for a file that cannot be written.
    refuse_existing(to, force=force)
    try:
        named = _cast_of(typed)
    except click.Abort:
        # A dialogue that is left has nothing to go on with.
        say("\narena: interrupted; nothing was written")
        raise click.exceptions.Exit(EXIT_INTERRUPTED) from None
    text = first_file(named)
    plan = None if videos is None else _first_plan(videos, text)
    write_whole(to, text.encode())
    report = {"schema": SCHEMA, "file": str(to), "plan": None if plan is None else plan.to_json()}
    keys = [name for name in dict.fromkeys(named.key_envs.values()) if not os.environ.get(name)]
    options.print_report(report, _next_steps(to, videos, plan, keys))


def _cast_of(typed: dict[str, Any]) -> NamedCast:
    """Return the cast that was typed; ask for missing models on a terminal."""
    from videoautoarena.runs.run.config.first_file import (
        CONTESTANT_IMAGES,
        REFEREE_IMAGES,
        check_posts,
        named_cast,
        served_name,
    )

    models = typed["models"]
    examiner = typed["examiner"]
    judge = typed["judge"]
    servers = _Servers(list(typed["base_url"]), list(typed["key_env"]), list(typed["max_frames"]))
    missing = [name for name in ("models", "examiner") if not typed[name]]
    if missing and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError(f"--{missing[0]} is missing; give it, or answer on a terminal")

    def read_models(said: str) -> tuple[str, ...]:
        names = tuple(one.strip() for one in said.split(",") if one.strip())
        # Here already, where a contradiction is asked about again; later it would end the dialogue.
        check_posts([*map(served_name, names)], [*map(served_name, judge)])
        return names

    def read_examiner(said: str) -> str:
        name = said.strip()
        check_posts([*map(served_name, models)], [served_name(name)])
        return name

    if not models:
        question = "Contestants, with commas between: provider:model, or names on servers of yours"
        models = _ask(question, read_models)
    # Where somebody answers, servers are asked about, too; a whole command line stands as it is.
    if missing:
        models = tuple(servers.named(name, CONTESTANT_IMAGES) for name in models)
    if not examiner:
        examiner = _ask("Examiner, who competes with nobody", read_examiner)
    if missing:
        examiner = servers.named(examiner, REFEREE_IMAGES)
        judge = tuple(servers.named(name, REFEREE_IMAGES) for name in judge)
    return named_cast(
        models,
        examiner,
        judge,
        base_urls=servers.urls,
        key_envs=servers.keys,
        max_frames=servers.images,
    )


def _ask(question: str, read: Callable[[str], Any], default: str | None = None) -> Any:
    """Return what `read` makes of an answer; ask again if it raises BadInput."""
    from videoautoarena.memory.records.errors import BadInput

    def checked(said: str) -> Any:
        try:
            return read(said)
        except BadInput as wrong:
            # click.prompt shows such an error and asks once more.
            raise click.UsageError(str(wrong)) from None

    return click.prompt(
        question, default=default, show_default=bool(default), err=True, value_proc=checked
    )


@dataclass
class _Servers:
    """What was typed about servers; what is missing for a model is asked for."""

    urls: list[str]
    keys: list[str]
    images: list[str]

    def named(self, name: str, images: int) -> str:
        """Return a model's name; ask for a server or a full name if it has no provider."""
        from videoautoarena.agents.models.spec import check_key_env
        from videoautoarena.memory.records.errors import BadInput
        from videoautoarena.runs.run.config.cast import check_url
        from videoautoarena.runs.run.config.first_file import has_provider, images_of, served_name

        if has_provider(name):
            return name
        whose = f"{safe(name)}'s"

        def read_place(said: str) -> str:
            place = said.strip()
            if has_provider(place):
                return served_name(place)
            if not place:
                raise BadInput(f"{name!a} has no provider, so that it needs an address")
            check_url(safe(name), place)
            return place

        def read_key(said: str) -> str:
            key = said.strip()
            if key:
                check_key_env(name, key)
            return key

        if not _is_told(name, self.urls):
            question = (
                f"Address of {whose} server (http://HOST/v1), "
                "or its name as provider:model if it is hosted"
            )
            place: str = _ask(question, read_place, "")
            if has_provider(place):
                return place
            self.urls.append(f"{name}={place}")
        if not _is_told(name, self.keys) and (
            key := _ask(f"Variable that holds {whose} key, empty if none", read_key, "")
        ):
            self.keys.append(f"{name}={key}")
        if not _is_told(name, self.images):
            count = _ask(f"Images per call to {safe(name)}", images_of, str(images))
            self.images.append(f"{name}={count}")
        return name


def _is_told(name: str, typed: Sequence[str]) -> bool:
    """Return whether something was typed for a model, or for all models."""
    from videoautoarena.runs.run.config.first_file import is_bare

    return any(is_bare(one) or one.startswith(f"{name}=") for one in typed)


FIRST_LIMIT, FIRST_ROUNDS = 2, 1
"""Videos of a first try, and rounds of each of its lineages."""


def _first_plan(videos: Path, text: str) -> Plan:
    """Return the plan of a first try with a file of this text, which need not be written yet."""
    from videoautoarena.runs.run.config.run_request import RunRequest
    from videoautoarena.runs.tournament.forecast import plan_ahead

    # By way of a file, so that the plan is that of what will be written.
    with TemporaryDirectory() as folder:
        draft = Path(folder) / "arena.toml"
        draft.write_text(text, encoding="utf-8")
        request = RunRequest(
            videos=videos,
            out=_free_folder(),
            config=draft,
            limit=FIRST_LIMIT,
            rounds=FIRST_ROUNDS,
        )
        return plan_ahead(request, say=say)[0]


def _free_folder() -> Path:
    """Return the name of a folder for a first run that does not exist."""
    names = (f"first-run-{number}" if number > 1 else "first-run" for number in count(1))
    return next(folder for folder in map(Path, names) if not folder.exists())


def _next_steps(
    to: Path, videos: Path | None, plan: Plan | None, keys: Sequence[str]
) -> Iterator[str]:
    """Yield what was written, what a first try takes and what to type next; `keys` are not set."""
    from videoautoarena.runs.tournament.plan_text import as_lines

    yield f"{safe(str(to))} is written; every line of it may be changed"
    folder = "YOUR-VIDEOS" if videos is None else quote(str(videos))
    limits = f"--limit {FIRST_LIMIT} --rounds {FIRST_ROUNDS}"
    if plan is not None:
        yield f"a first try with {limits}:"
        yield from as_lines(plan, shutil.get_terminal_size().columns)
    at = "" if to == Path("arena.toml") else f" --config {quote(str(to))}"
    yield "next:"
    for key in keys:
        yield f"  export {key}=..."
    yield f"  arena doctor{at} --live"
    yield f"  simulate --videos {safe(folder)}{at} {limits} --out {_free_folder()}"


@options.command(
    "arena doctor --videos clips --config arena.toml",
    "arena doctor --live --no-frames",
    "arena doctor --engine ray --address auto --videos clips",
)
@options.path("--videos", "Also check a folder of videos.")
@options.listed("--models A,B,..", "Contestants, separated by commas.")
@options.string("--examiner M", "As in simulate.")
@options.listed("--judge M[,M2..]", "As in simulate.")
@options.WHOLE_CONFIG
@options.flag("--allow-self-judging", "As in simulate.")
@options.flag("--allow-offline-judge", "As in simulate.")
@options.flag("--allow-blind-referee", "As in simulate.")
@options.flag("--live", "Send each model a few small questions with drawn pictures.")
@options.switch(
    "--frames/--no-frames",
    "With --live: also send as many pictures as a run would.  [default: frames]",
)
@CLUSTER
@options.AS_JSON
def doctor_command(
    videos: Path | None,
    *,
    live: bool,
    frames: bool | None,
    engine: str,
    address: str | None,
    **typed: Any,
) -> None:
    """Check what is installed, what is missing and which models a run would call.

    The exit code is 1 if no run could start, and with --live if none should: a model does not
    answer, does not see, or judges and does not reply in JSON. No model is called without --live.
    Of API keys, only whether they are set is shown. With --engine ray each machine is asked for its
    versions, its keys, the videos and its disk; a run could start as long as one of them has all it
    needs.
    """
    from videoautoarena.memory.records.errors import BadInput
    from videoautoarena.runs.console.media.doctor import as_lines, examine_house
    from videoautoarena.runs.run.config.run_request import RunRequest

    if frames is not None and not live:
        raise click.UsageError(f"--{'' if frames else 'no-'}frames needs --live")
    flags = RunRequest(**typed)
    if engine == "local" and address is not None:
        raise click.UsageError("--address goes with --engine ray")
    visit = partial(_visit, is_full=frames is not False) if live else None
    report = examine_house(flags, videos, visit=visit, calls_here=engine == "local")
    machines: Entries = ()
    if engine == "ray":
        report, machines = _with_machines(report, address, videos)
    width = shutil.get_terminal_size().columns
    options.print_text(report.to_json(), lambda: "\n".join(as_lines(report, width, machines)))
    if more := report.missing:
        others = f" (and {len(more) - 1} more, see above)" if len(more) > 1 else ""
        raise BadInput(f"a run {report.outlook}: {more[0]}{others}")


def _with_machines(
    report: Checkup, address: str | None, videos: Path | None
) -> tuple[Checkup, Entries]:
    """Add what the machines of a cluster lack to a report; return it with their lines."""
    from videoautoarena.runs.cluster.doctor import examine_cluster

    keys = {model.model: model.keys for model in report.models}
    found = ending.run_async(examine_cluster(address, keys, videos))
    missing = [*report.missing, *found.missing]
    return replace(report, missing=missing, cluster=found.to_json()), found.entries()


def _visit(models: Sequence[Model], most: Mapping[str, int], *, is_full: bool) -> list[ModelCheck]:
    """Say what leaves the machine, ask the models and return their checks."""
    from videoautoarena.runs.console.media.live_check import ask_models, warnings

    frames = most if is_full else {}
    for line in warnings(models, frames):
        say(safe(line))
    return ending.run_async(ask_models(models, lambda line: say(safe(line)), frames=frames))
