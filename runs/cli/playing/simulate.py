"""`simulate`, and the demonstration that needs no key: `demo` and `samples`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from videoautoarena.runs.cli.program import options
from videoautoarena.runs.cli.program.ending import (
    EXIT_CODES,
    STAGE,
    RunStage,
    ending,
    if_whole,
    run_async,
)
from videoautoarena.runs.formats.terminal import (
    finish_though_unread,
    folded,
    print_result,
    print_results,
    safe,
    say,
)
from videoautoarena.runs.run.config.preset import left_by_preset
from videoautoarena.runs.run.config.setting_texts import SETTINGS

if TYPE_CHECKING:
    from videoautoarena.runs.run.config.run_request import RunRequest
    from videoautoarena.video.folder.find import Findings

PAIRINGS = ("mix", "uniform", "round-robin", "keep-pair")


@options.command(
    "simulate --videos clips --rounds 3 --out my-run",
    "simulate --videos clips --config arena.toml --out real-run --plan",
    "simulate --videos clips --config arena.toml --out real-run --max-usd 20",
    "simulate --videos clips --config arena.toml --out real-run --rounds 9 --until ci=40",
    "simulate --videos clips --config arena.toml --out real-run --languages en,de,zh",
    "simulate --videos clips --policy fps --fps 2 --frames 64 --size 768 --out closer-run",
    codes=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@options.section(
    "What is played",
    options.path("--videos", SETTINGS["videos"], required=True),
    options.whole("--rounds", SETTINGS["rounds"]),
    options.path("--out", SETTINGS["out"], default=Path("arena-out")),
    options.whole("--limit K", SETTINGS["limit"]),
    options.whole("--seed", SETTINGS["seed"]),
)
@options.section(
    "Who plays",
    options.listed(
        "--models A,B,..",
        SETTINGS["models"],
    ),
    options.string(
        "--examiner M",
        SETTINGS["examiner"],
    ),
    options.listed(
        "--judge M[,M2..]",
        SETTINGS["judge"],
    ),
    options.WHOLE_CONFIG,
)
@options.section(
    "How much, and when it stops",
    options.flag(
        "--plan",
        "Estimate calls, tokens and cost; send nothing. On a terminal, ask whether to continue.",
    ),
    options.flag("--yes", "With --plan: continue without asking; not with --json.", "-y"),
    options.CAPS,
    options.UNTIL,
    options.string(
        "--max-void",
        SETTINGS["max_void"],
        type=float,
    ),
    options.whole("--concurrency", SETTINGS["concurrency"]),
    options.PATIENCE_AS_TYPED,
)
@options.section(
    "What a model sees",
    options.SAMPLING,
    options.switch(
        "--subtitles/--no-subtitles",
        SETTINGS["subtitles"],
    ),
)
@options.section(
    "How it is played",
    options.choice(
        "--preset",
        ["paper"],
        f"{SETTINGS['preset']} It leaves: {', '.join(left_by_preset())}.",
        is_open=True,
    ),
    options.choice(
        "--pairing",
        PAIRINGS,
        SETTINGS["pairing"],
        is_open=True,
    ),
    options.string(
        "--swap SHARE|ALL",
        SETTINGS["swap"],
        reads=options.read_share,
    ),
    options.path("--prompts", SETTINGS["prompts"]),
    options.listed(
        "--languages L,L2..",
        SETTINGS["languages"],
    ),
    options.path(
        "--personas FILE",
        SETTINGS["personas"],
    ),
    options.switch(
        "--diverse/--no-diverse",
        SETTINGS["diverse"],
    ),
    options.string(
        "--facts FILE|none",
        SETTINGS["facts"],
    ),
    options.flag("--allow-self-judging", SETTINGS["allow_self_judging"]),
    options.flag("--allow-offline-judge", SETTINGS["allow_offline_judge"]),
    options.flag(
        "--allow-blind-referee",
        SETTINGS["allow_blind_referee"],
    ),
)
@options.section(
    "An existing run, and how it is kept",
    options.CARE,
    options.TRUST,
    options.FREEZE,
    options.whole("--block", SETTINGS["block"]),
)
@STAGE
@click.version_option(package_name="videoautoarena", prog_name="simulate")
def simulate_command(
    videos: Path, out: Path, *, plan: bool, yes: bool, stage: RunStage, **typed: Any
) -> int:
    """Run a tournament over a folder of videos, or continue the one that --out holds."""
    from videoautoarena.runs.run.config.arena_file import arena_file

    if plan and yes and options.is_json():
        # What the run comes to would be a second object behind the plan.
        raise click.UsageError("--plan --json prints the plan and stops; leave out --json or --yes")
    # A mistake in it is told before all that plays is loaded, which takes a second. A pipe gives
    # what it holds once.
    if typed["config"] is None or typed["config"].is_file():
        arena_file(typed["config"])

    from videoautoarena.runs.api.simulate import simulate
    from videoautoarena.runs.run.config.run_request import RunRequest

    request = options.taken(RunRequest, typed, videos=videos, out=out)
    found = None
    if plan:
        found = _planned(request, yes=yes)
        if found is None:
            return 0
    return stage.play(
        out,
        lambda listeners, engine: simulate(
            request, say=listeners.say, hear=listeners.hear, found=found, engine=engine
        ),
    )


def _planned(request: RunRequest, *, yes: bool) -> Findings | None:
    """Print the plan and return the videos found; None if it is not to be carried out."""
    from videoautoarena.runs.tournament.forecast import plan_ahead
    from videoautoarena.runs.tournament.plan_text import plan_view

    if yes:
        # The plan is printed first: a reader of it that goes away must not stop the run that was
        # agreed to.
        finish_though_unread()
    plan, found = plan_ahead(request, say=say)
    if options.is_json():
        options.print_json(plan.to_json())
        return None
    options.print_rendered(plan_view(plan))
    # Stderr and not stdout: the question goes there, so that the plan may be piped.
    is_asked = not yes and sys.stdin.isatty() and sys.stderr.isatty()
    goes_on = yes or (is_asked and click.confirm("go on?", err=True))
    return found if goes_on else None


NEXT = (
    ("arena leaderboard {out}", "the leaderboard again"),
    ("arena view {out}", "the same page beside the videos, also while a run goes on"),
    ("arena battles {out} --sort surprise", "all battles, the most surprising first"),
    ("arena show {out}", "the most telling battle, as below"),
    ("arena replay {out}", "a replay of the run, offline"),
    ("arena freeze {out} --to bench", "a frozen test set"),
    ("simulate --videos YOUR_FOLDER --out my-run", "your own videos"),
)
LAST = (
    "Stand-ins played here. Real models: --models openai:gpt-4o,google_genai:gemini-2.5-flash "
    "--examiner openai:gpt-4.1, with their keys in the environment; or an arena.toml, see the "
    "README."
)


@options.command("arena demo --out arena-out/demo")
@options.path("--out", "Folder of the run.", default=Path("arena-out/demo"))
@options.path("--clips", "Folder of the sample clips.", default=Path("arena-samples"))
@options.DISPLAY
def demo_command(out: Path, clips: Path, display: options.Display) -> int:
    """Make the sample clips, play three rounds with the offline cast and show the result.

    That is the leaderboard, what to type next, and the most telling battle, as arena show does.
    """
    from videoautoarena.runs.api.simulate import simulate
    from videoautoarena.runs.cli.results.inspect import show_battle
    from videoautoarena.runs.cli.results.leaderboard import show_leaderboard
    from videoautoarena.runs.run.config.run_request import RunRequest
    from videoautoarena.video.synth.samples import make_samples

    with display.audience() as listeners:
        made = make_samples(
            clips,
            on_done=lambda clip: (
                None if display.quiet else listeners.say(f"made {safe(clip.name)}")
            ),
        )
        listeners.say(f"{len(made)} sample clips are in {safe(str(clips))}")
        request = RunRequest(videos=clips, out=out, rounds=3)
        finished = run_async(simulate(request, say=listeners.say, hear=listeners.hear))
    code = ending(finished, out)
    if code == 0:
        show_leaderboard(out)
        page = run_async(_report(out))
        print_results(
            [
                "",
                f"The run is in {safe(str(out))}, the clips are in {safe(str(clips))}.",
                f"Open {safe(str(page))} in a browser. What to type next:",
                "",
            ]
        )
        print_result("\n".join(next_lines(out, shutil.get_terminal_size().columns)))
        print_results(["", LAST, ""])
        # Last, so that it stands where a reader looks: why somebody won.
        print_result(f"$ {safe(bin_folder())}arena show {safe(quote(str(out)))}")
        show_battle(out)
    return if_whole(code, listeners)


async def _report(out: Path) -> Path:
    """Write the page of the demo's run, in place of an earlier demo's; return its path."""
    from videoautoarena.runs.views.page.report import ReportOptions, report_file, write_report

    return (await write_report(ReportOptions(out, report_file(out, None, force=True)))).to


def next_lines(out: Path, columns: int) -> list[str]:
    """Return commands to type next, with their purpose beside them, or beneath on few columns."""
    typed = [safe(bin_folder() + words.format(out=quote(str(out)))) for words, _ in NEXT]
    room = max(map(len, typed))
    lines = [f"  {words:{room}}  {what}" for words, (_, what) in zip(typed, NEXT, strict=True)]
    if max(map(len, lines)) <= columns:
        return lines
    pairs = zip(typed, NEXT, strict=True)
    wordings = ((f"  {words}", folded(f"      {what}", columns)) for words, (_, what) in pairs)
    return [line for wording in wordings for line in wording]


def bin_folder() -> str:
    """Return the folder to write before the commands' names; "" if the shell finds them."""
    if shutil.which("arena"):
        return ""
    return f"{os.path.relpath(Path(sys.executable).parent)}/"


@options.command("arena samples arena-samples")
@options.FOLDER
@options.json_flag("Print the paths of the clips as JSON.")
def samples_command(folder: Path) -> None:
    """Encode twelve clips of 8 to 60 seconds into FOLDER: cuts, movement, colour, light, captions.

    The same version of PyAV writes the same bytes on every machine.
    """
    from videoautoarena.video.synth.samples import make_samples

    clips = make_samples(folder, on_done=lambda clip: say(f"made {safe(clip.name)}"))
    state = {"clips": [str(clip) for clip in clips]}
    options.print_line(state, f"{len(clips)} clips in {safe(str(folder))}")
