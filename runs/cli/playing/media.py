"""What goes in: `videos`, `frames`, `scenes`, `cache` and `doctor`."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from videoautoarena.runs.cli.program import options
from videoautoarena.runs.cli.program.ending import early_end, exit_codes, run_async
from videoautoarena.runs.cli.program.engine import CLUSTER
from videoautoarena.runs.cli.program.main import EXIT_VOIDS
from videoautoarena.runs.text.publishing import say_before_publishing
from videoautoarena.runs.text.terminal import print_result, safe, say

if TYPE_CHECKING:
    from videoautoarena.agents.models.registry import Model
    from videoautoarena.runs.media.doctor import Checkup, Report
    from videoautoarena.runs.media.doctor_text import Entries
    from videoautoarena.runs.media.frame_cache import Wish
    from videoautoarena.runs.rundir.context import EarlyEnd
    from videoautoarena.runs.scenes.show import Shown


@click.command(
    "videos",
    epilog="""\b
Examples:
  arena videos clips
  arena videos clips --quick
  arena videos clips --scenes
  arena videos clips --json | jq -r '.videos[] | [.path, .duration_s] | @tsv'""",
)
@click.argument("folder", type=options.PATH)
@options.flag("--scenes", "Count scenes; the first time, every video is decoded in full.")
@options.flag("--quick", "Decode nothing; do not look for damage.")
@click.option(
    "--facts",
    metavar="FILE|none",
    help="CSV file that says what the videos are.  [default: videos.csv in FOLDER]",
)
@options.AS_JSON
def videos_command(
    folder: Path, scenes: bool, quick: bool, facts: str | None, as_json: bool
) -> None:
    """List the videos of FOLDER and its subfolders, and why other files are skipped.

    The frames that a run would use are decoded, so that damage is found. A videos.csv is read and
    checked as a run would read it; the exit code is 1 if a run would refuse it.
    """
    from videoautoarena.runs.media import videos
    from videoautoarena.runs.text.terminal import whole_lines

    library = videos.read_library(folder, say, facts)
    if not quick:
        library = run_async(videos.with_damage(library, say))
    if scenes:
        library = run_async(videos.with_scenes(library, say))
    if as_json:
        print_result(json.dumps(library.as_json(), indent=2))
    else:
        whole_lines().print(videos.render_library(library))
    if library.wrong_facts is not None:
        raise library.wrong_facts


@click.command(
    "frames",
    epilog="""\b
Examples:
  arena frames clip.mp4
  arena frames clip.mp4 --policy scenes --frames 32 --to scenes.png
  arena frames clip.mp4 --run arena-out --model hawk --force""",
)
@click.argument("video")
@click.option("--to", type=options.PATH, metavar="FILE",
              help="PNG file to write.  [default: VIDEO-frames.png in the current "
                   "folder]")  # fmt: skip
@options.SAMPLING
@click.option("--config", type=options.PATH,
              help="Configuration file with a [sampling] table.  [default: "
                   "./arena.toml if it exists]")  # fmt: skip
@click.option("--seen", type=click.IntRange(1), metavar="N",
              help="Only the frames that a model limited to N frames sees.")  # fmt: skip
@click.option("--run", "out", type=options.PATH, metavar="OUT",
              help="Frames that this run has shown; VIDEO may be an id or a path "
                   "in the run.")  # fmt: skip
@click.option("--model", metavar="M", help="With --run: only the frames that this contestant sees.")
@click.option("--columns", type=click.IntRange(1, 250), help="Number of frames per row.")
@options.flag("--force", "Overwrite an existing picture.")
@options.flag("--json", "Print one JSON object; draw a picture only with --to.", "as_json")
def frames_command(
    video: str, *, to: Path | None, columns: int | None, force: bool, as_json: bool, **typed: Any
) -> None:
    """Show the frames that a model sees of VIDEO, with their times, as one picture."""
    from videoautoarena.runs.media import frames

    seen, out, model = (typed.pop(name) for name in ("seen", "out", "model"))
    _refuse_contradictions(out, model, seen, typed)
    file = frames.sheet_file(video, to, force=force) if to or not as_json else None
    found = run_async(
        frames.view(frames.Asked(video, frames.asked_sampling(typed), seen, out, model))
    )
    if file is not None:
        frames.write_sheet(found, file, columns)
        say_before_publishing(f"frames of a video are in {safe(str(file))}")
    if as_json:
        print_result(json.dumps(found.as_json(file), indent=2))
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


@click.command(
    "scenes",
    epilog="""\b
Examples:
  arena scenes film.mp4
  arena scenes film.mp4 --sheet scenes.png
  arena scenes film.mp4 --examiner openai:gpt-4o --plan

\b
"""
    + exit_codes("calls failed, or the examiner became unusable"),
)
@click.argument("video", type=options.PATH)
@click.option("--sheet", type=options.PATH, metavar="FILE",
              help="PNG file for a contact sheet with a box around each object.")  # fmt: skip
@click.option("--examiner", metavar="M",
              help="Model that writes captions and names objects.  [default: arena.toml, else "
              "the offline one]")  # fmt: skip
@options.config_option(" that declares the examiner")
@options.CONCURRENCY
@options.PATIENCE
@options.flag("--retry-failed", "Repeat the examiner's failed calls.")
@options.PLAN
@options.NO_PROGRESS
@options.CAPS
@options.flag("--force", "Overwrite an existing sheet.")
@options.AS_JSON
def scenes_command(video: Path, *, sheet: Path | None, as_json: bool, **typed: Any) -> int:
    """Show the scenes of VIDEO, the objects in them, and where each comes back.

    The examiner writes a caption of each shot; neighbours whose captions belong together become
    one scene. It names the objects of each scene and says which of them is one that came back.

    Its replies are kept in the cache (XDG_CACHE_HOME): a second time nothing is paid.
    """
    from videoautoarena.runs.media.frames import sheet_file
    from videoautoarena.runs.scenes.show import ScenesOrder, plan_show, show

    order = ScenesOrder(
        path=video,
        examiner=typed["examiner"],
        config=typed["config"],
        concurrency=typed["concurrency"],
        patience_s=options.patience_s(typed),
        caps=options.caps_of(typed),
        retry_failed=typed["retry_failed"],
        is_quiet=typed["quiet"],
    )
    file = sheet_file(str(video), sheet, force=typed["force"]) if sheet else None
    if typed["plan"]:
        planned = run_async(plan_show(order))
        shots = f"{safe(str(video))} is cut into {planned.shots} shots"
        lines = [shots, *(planned.plan.as_lines() if planned.plan else ())]
        options.print_report(planned.as_json(None), lines, as_json=as_json)
        return 0
    return _shown(*run_async(show(order, say, pictures=file is not None)), file, as_json=as_json)


def _shown(found: Shown, ending: EarlyEnd, sheet: Path | None, *, as_json: bool) -> int:
    """Print what is remembered of a video, or why it ended early; return the exit code."""
    from videoautoarena.runs.scenes.sheet import write_scene_sheet
    from videoautoarena.runs.text.terminal import whole_lines
    from videoautoarena.runs.views.forms import ReportView
    from videoautoarena.runs.views.scenes import scenes_report

    memory = found.memory
    if memory is None:
        return early_end(ending, "scenes are not all remembered") or 0
    if sheet is not None:
        write_scene_sheet(found, memory, sheet)
        say_before_publishing(f"frames of a video are in {safe(str(sheet))}")
    if as_json:
        print_result(json.dumps(found.as_json(sheet), indent=2))
    else:
        whole_lines().print(ReportView(scenes_report(found, memory)))
    if not memory.failures:
        return 0
    say("to repeat the calls that failed, add --retry-failed")
    return EXIT_VOIDS


@click.group(
    "cache", cls=options.ListingGroup, invoke_without_command=True, epilog="Example: arena cache"
)
@options.AS_JSON
@click.pass_context
def cache_command(context: click.Context, as_json: bool) -> None:
    """Show the disk space that decoded frames take, by video."""
    if context.invoked_subcommand is not None:
        return
    from videoautoarena.runs.media.frame_cache import held

    found = held()
    if as_json:
        print_result(json.dumps(found.as_json(), indent=2))
        return
    print_result("\n".join(found.as_lines(time.time())))


@cache_command.command("clear", epilog="Example: arena cache clear --older-than 30d --yes")
@click.argument("videos", nargs=-1)
@click.option(
    "--older-than", metavar="AGE", help="Only frames not used for this long, such as 30d or 12h."
)
@options.flag("--yes", "Do not ask for confirmation.", "-y")
@options.AS_JSON
def clear(videos: tuple[str, ...], older_than: str | None, yes: bool, as_json: bool) -> None:
    """Remove cached frames of VIDEOS, given by id, or of all; they can be decoded again."""
    from videoautoarena.memory.records.records import SCHEMA
    from videoautoarena.runs.media.frame_cache import Wish, bytes_text, seconds_of, wished
    from videoautoarena.runs.media.frame_cache import clear as remove
    from videoautoarena.runs.rundir.reader import counted

    wish = Wish(videos, None if older_than is None else seconds_of(older_than))
    entries = wished(wish)
    size = bytes_text(sum(entry.size_bytes for entry in entries))
    if (
        entries
        and not yes
        and not _agreed(f"{_meant(wish)}: {counted(len(entries), 'file')}, {size}")
    ):
        say("nothing was removed")
        raise click.exceptions.Exit(1)
    gone = remove(entries)
    freed = sum(entry.size_bytes for entry in gone)
    if as_json:
        print_result(json.dumps({"schema": SCHEMA, "removed": len(gone), "bytes": freed}))
        return
    print_result(f"removed {counted(len(gone), 'file')}, {bytes_text(freed)}")


def _meant(wish: Wish) -> str:
    those = "frames of these videos" if wish.videos else "all frames"
    return f"remove {those} that were not used lately" if wish.older_s else f"remove {those}"


def _agreed(what: str) -> bool:
    """Ask whether to go on; BadInput, which says what to type, where nobody can be asked."""
    from videoautoarena.memory.records.errors import BadInput

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(f"would {what}; pass --yes to do it")
    return click.confirm(f"{what}?", err=True)


@click.command(
    "doctor",
    epilog="""\b
Examples:
  arena doctor --videos clips --config arena.toml
  arena doctor --live --no-frames
  arena doctor --engine ray --address auto --videos clips""",
)
@click.option("--videos", type=options.PATH, help="Also check a folder of videos.")
@click.option(
    "--models",
    callback=options.names,
    multiple=True,
    metavar="A,B,..",
    help="Contestants, separated by commas.",
)
@click.option("--examiner", metavar="M", help="As in simulate.")
@click.option(
    "--judge", callback=options.names, multiple=True, metavar="M[,M2..]", help="As in simulate."
)
@options.WHOLE_CONFIG
@options.flag("--allow-self-judging", "As in simulate.")
@options.flag("--allow-offline-judge", "As in simulate.")
@options.flag("--allow-blind-referee", "As in simulate.")
@options.flag("--live", "Send each model a few small questions with drawn pictures.")
@click.option(
    "--frames/--no-frames",
    default=None,
    help="With --live: also send as many pictures as a run would.  [default: frames]",
)
@CLUSTER
@options.AS_JSON
def doctor_command(
    videos: Path | None,
    models: tuple[str, ...],
    examiner: str | None,
    judge: tuple[str, ...],
    *,
    config: Path | None,
    live: bool,
    frames: bool | None,
    engine: str,
    address: str | None,
    as_json: bool,
    **allowed: Any,
) -> None:
    """Check what is installed, what is missing and which models a run would call.

    The exit code is 1 if no run could start, and with --live if an examiner or judge does not reply
    in JSON. No model is called without --live. Of API keys, only
    whether they are set is shown. With --engine ray each machine is asked for its versions, its
    keys, the videos and its disk; a run could start as long as one of them has all it needs.
    """
    from videoautoarena.memory.records.errors import BadInput
    from videoautoarena.runs.config.run_config import Flags
    from videoautoarena.runs.media.doctor import examine_house
    from videoautoarena.runs.media.doctor_text import as_lines

    if frames is not None and not live:
        raise click.UsageError(f"--{'' if frames else 'no-'}frames needs --live")
    flags = Flags(models=models, examiner=examiner, judge=judge, config=config, **allowed)
    if engine == "local" and address is not None:
        raise click.UsageError("--address goes with --engine ray")
    visit = partial(_visit, is_full=frames is not False) if live else None
    report = examine_house(flags, videos, visit=visit, calls_here=engine == "local")
    machines: Entries = ()
    if engine == "ray":
        report, machines = _with_machines(report, address, videos)
    width = shutil.get_terminal_size().columns
    if as_json:
        click.echo(json.dumps(report.to_json(), indent=2))
    else:
        click.echo("\n".join(as_lines(report, width, machines)))
    if more := report.missing:
        others = f" (and {len(more) - 1} more, see above)" if len(more) > 1 else ""
        raise BadInput(f"a run could not start: {more[0]}{others}")


def _with_machines(
    report: Checkup, address: str | None, videos: Path | None
) -> tuple[Checkup, Entries]:
    """Add what the machines of a cluster lack to a report; return their lines, too."""
    from videoautoarena.runs.cluster.doctor import examine_cluster

    keys = {model.model: model.keys for model in report.models}
    found = run_async(examine_cluster(address, keys, videos))
    missing = [*report.missing, *found.missing]
    return replace(report, missing=missing, cluster=found.to_json()), found.entries()


def _visit(models: Sequence[Model], most: Mapping[str, int], *, is_full: bool) -> list[Report]:
    """Say what leaves the machine, ask the models and return what they answered."""
    from videoautoarena.runs.media.live_check import ask_models, warnings

    frames = most if is_full else {}
    for line in warnings(models, frames):
        say(safe(line))
    return run_async(ask_models(models, lambda line: say(safe(line)), frames=frames))
