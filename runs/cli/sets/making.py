"""Sets made from videos: `tasks make`, `dialogues make` and `dialogues review`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from videoautoarena.runs.cli.program import ending, options
from videoautoarena.runs.cli.program.main import EXIT_VOIDS
from videoautoarena.runs.formats.terminal import safe, say
from videoautoarena.runs.formats.words import in_series
from videoautoarena.runs.making.tasks.kinds import CUT_KINDS

if TYPE_CHECKING:
    from videoautoarena.runs.jobs.paid_job import JobTally
    from videoautoarena.runs.making.dialogues.dialogue_set import MadeDialogues
    from videoautoarena.runs.making.tasks.watched_set import Watched


WATCHED = ("topic", "plot", "scene", "summary")
CUT = ("seconds", "ladder", "probes", "longest_px")
"""Options of items that are cut; `WRITTEN` are of those that an examiner writes."""
WRITTEN = options.OF_CALLS | {"examiner"}
LONGEST_QUOTE = 40
"""The most characters of a wrong number that are shown."""
RUNGS = "60,180,360,600,1200,3600"


@options.group("arena tasks make clips --to my-set")
def tasks_command() -> None:
    """Make test sets with right answers from your own videos."""


@tasks_command.member(
    "arena tasks make clips --to my-set --plan",
    "arena tasks make clips --kind needle,order,count --n 200 --seconds 60,180 --to my-set",
    "arena tasks make clips --kind needle --n 50 --ladder --to my-ladder --plan",
    "arena tasks make clips --kind topic,plot --examiner openai:gpt-4o --to my-set --plan",
    "arena tasks make clips --kind topic,plot,scene,summary --n 80 --to my-set --max-usd 10",
    name="make",
    codes=ending.exit_codes("too few items since calls failed, or the examiner became unusable"),
)
@options.FOLDER
@options.TO_FOLDER
@options.listed(
    "--kind KIND[,..]",
    f"Kinds of items, separated by commas: {in_series(CUT_KINDS)}, or {in_series(WATCHED)}.",
    default=(",".join(CUT_KINDS),),
)
@options.whole(
    "--n",
    "Number of items, over all kinds, lengths and videos; a ladder is one.  [default: 60; one "
    "of each kind a video if an examiner writes]",
    least=1,
)
@options.listed(
    "--seconds S[,..]",
    f"Lengths of the ground, separated by commas.  [default: 60; of a ladder {RUNGS}]",
)
@options.flag("--ladder", "Make each item at every length: all but the length is the same.")
@options.string(
    "--probes FROM-TO", "Number of stretches that an item of order is about.", default="3-5"
)
@options.whole(
    "--size",
    "Longer side of the videos that are made, at most.",
    "longest_px",
    least=64,
    most=4096,
    default=640,
)
@options.making(
    f"Model that watches, writes and checks {in_series(WATCHED)}",
    at_most="Accept fewer items where the videos give no more.",
    plan="Say what would be made and what calls would cost; make nothing.",
)
def make_tasks_command(
    folder: Path, to: Path, *, kind: tuple[str, ...], plan: bool, **typed: Any
) -> int:
    """Make a test set from the videos of FOLDER, each item with a known answer.

    Short stretches of some videos are set into others: which one is it (needle), in which order do
    they come (order), how often does it come (count)? These answers are exact.

    Or an examiner watches the videos and writes: questions on a whole video (topic) or on one
    moment (plot), scenes to be described (scene), videos to be summed up (summary). Each item is
    checked by a second call; its answer remains a model's word.

    Encoded videos and paid calls are kept if the command is interrupted; repeat it to continue.
    """
    from videoautoarena.memory.records.errors import WrongArgument
    from videoautoarena.runs.api.making import cut_tasks, write_tasks
    from videoautoarena.runs.making.tasks.items import PROBES

    if not kind:
        raise WrongArgument(f"--kind is empty; give some of {', '.join((*CUT_KINDS, *WATCHED))}")
    written = [name for name in kind if name in WATCHED]
    if written and any(name in CUT_KINDS for name in kind):
        raise WrongArgument(
            f"--kind mixes {', '.join(CUT_KINDS)}, which are cut, with {', '.join(WATCHED)}, which "
            "are written; make two sets"
        )
    if written:
        options.refuse_typed(f"is for {', '.join(CUT_KINDS)}; leave it out", CUT.__contains__)
        for name in CUT:
            del typed[name]
        writing = write_tasks.job(folder, to, kinds=kind, **typed)
        if plan:
            return ending.print_plan(writing)
        tally, watched, _ = ending.played(writing)
        return 0 if watched is None else _watched_ending(to, watched, tally)
    options.refuse_typed(f"is for {', '.join(WATCHED)}; leave it out", WRITTEN.__contains__)
    cut = {name: typed[name] for name in ("ladder", "longest_px", "seed", "at_most", "licence")}
    cutting = cut_tasks.job(
        folder,
        to,
        kinds=kind,
        # The option has no default of its own, since that depends on the kind.
        n=typed["n"] or 60,
        seconds=_seconds(typed["seconds"]),
        probes=options.span("--probes", typed["probes"], PROBES),
        **cut,
    )
    if plan:
        return ending.print_plan(cutting)
    _, made, _ = ending.played(cutting)
    if made is not None:
        options.print_found(made)
        ending.say_made(to, "videos cut from yours")
    return 0


def _watched_ending(to: Path, watched: Watched, tally: JobTally) -> int:
    """Print what was written and say how that ended; return the exit code."""
    # Where there is no set, a person is told why below.
    if options.is_json() or watched.bench is not None:
        options.print_found(watched)
    for kind, path, why in watched.failures[:3]:
        say(safe(f"failed, {kind} of {path}: {why[:300]}"))
    left = tally.total - tally.done
    code = ending.early_end(tally, f"{tally.in_words}, {left} of {tally.total} parts left")
    if code is not None:
        return code
    if watched.bench is None:
        say(
            f"{watched.items} of {watched.wanted} items, since calls failed; to repeat those, add "
            "--retry-failed; to take what there is, --at-most"
        )
        return EXIT_VOIDS
    ending.say_made(to, "copies of videos")
    return 0


def _seconds(texts: tuple[str, ...]) -> tuple[int, ...]:
    from videoautoarena.memory.records.errors import WrongArgument
    from videoautoarena.runs.making.tasks.items import SECONDS

    shortest, longest = SECONDS
    found: dict[int, None] = {}
    for text in texts:
        number = options.read_whole(text, least=shortest, most=longest)
        if number is None:
            shown = f"{text[:LONGEST_QUOTE]}{'..' * (len(text) > LONGEST_QUOTE)}"
            raise WrongArgument(
                f"--seconds is {shown!r}; give numbers from {shortest} to {longest}"
            )
        found[number] = None
    return tuple(found)


@options.group("arena dialogues make clips --to my-set --plan")
def dialogues_command() -> None:
    """Make test sets of dialogues from your own videos, and review them."""


@dialogues_command.member(
    "arena dialogues make clips --to my-set --plan",
    "arena dialogues make clips --to my-set --examiner openai:gpt-4o --max-usd 10",
    "arena dialogues make clips --to my-set --abilities memory_recall,answer_refusal --per-video 2",
    "arena dialogues make clips --to my-set --scored 4",
    name="make",
    codes=ending.exit_codes("calls failed, or the examiner became unusable"),
)
@options.FOLDER
@options.TO_FOLDER
@options.listed(
    "--abilities ABILITY[,..]",
    "Abilities, separated by commas: object_reference, memory_recall, content_summary, "
    "answer_refusal, topic_shifting, proactive_interaction.  [default: all]",
)
@options.whole(
    "--per-video",
    "Dialogues of each ability about each video, at most.",
    least=1,
    most=12,
    default=1,
)
@options.string("--turns FROM-TO", "Rounds of a dialogue.", default="5-8")
@options.whole(
    "--scored N",
    "Ask for N scored rounds in each dialogue; a summary has one.  [default: as many as the "
    "examiner thinks fit]",
    least=1,
    most=7,
)
@options.making(
    "Model that watches, writes and checks",
    at_most="Accept the dialogues that there are although calls failed.",
    plan="Say what calls it would take and cost; make nothing.",
)
def make_dialogues_command(folder: Path, to: Path, *, plan: bool, **typed: Any) -> int:
    """Make a set of dialogues about the videos of FOLDER.

    The examiner captions the shots of each video, puts them together to scenes, names objects, and
    rates what each part is good for. Then it writes dialogues of several rounds with reference
    answers and checklists. Each scored round is tried out: it must be answered by who knows the
    dialogue and sees other frames, and by nobody who lacks the history or the video. What fails is
    repaired once, else dropped with the reason. Each answer refusal has a twin about what is there.

    Paid calls are kept if the command is interrupted; repeat it to continue.
    """
    from videoautoarena.graph.dialogue_checks import TURNS
    from videoautoarena.runs.api.making import make_dialogues

    typed["turns"] = options.span("--turns", typed["turns"], TURNS)
    job = make_dialogues.job(folder, to, **typed)
    if plan:
        planned = ending.run_async(job.plan(ending.audience()))
        options.print_found(planned)
        _say_failures(planned)
        return 0
    tally, made, _ = ending.played(job)
    return 0 if made is None else _dialogues_ending(to, made, tally)


def _dialogues_ending(to: Path, made: MadeDialogues, tally: JobTally) -> int:
    """Print what was made and say how that ended; return the exit code."""
    from videoautoarena.runs.console.progress.costs import possibly_paid_lines

    # Where there is no set, a person is told why below.
    if options.is_json() or made.bench is not None:
        options.print_found(made)
    for path, why in made.unusable:
        say(safe(f"not used: {path} {why[:300]}"))
    _say_failures(made)
    for line in possibly_paid_lines(tally.lost, ()):
        say(line)
    left = tally.total - tally.done
    code = ending.early_end(tally, f"{tally.in_words}, {left} of {tally.total} videos left")
    if code is not None:
        return code
    if made.bench is None:
        say(
            f"{tally.in_words}; to repeat what failed, add --retry-failed; to go on without it, "
            "--at-most"
        )
        return EXIT_VOIDS
    ending.say_made(to, "copies of videos")
    return 0


def _say_failures(made: MadeDialogues) -> None:
    for path, why in made.failures[:3]:
        say(safe(f"failed, {path}: {why[:300]}"))


@dialogues_command.member(
    "arena dialogues review my-set --to review.csv",
    "arena dialogues review my-set --from review.csv --reviewer first --to reviewed",
    "arena dialogues review my-set --drop-easy 0.9 --to harder",
)
@options.BENCH
@options.path(
    "--to",
    "CSV file to write; with --from or --drop-easy the folder to create.  "
    "[default: BENCH-review.csv beside BENCH]",
)
@options.path("--from FILE", "Reviewed CSV file to make a new set from.", "sheet")
@options.string("--reviewer NAME", "Who reviewed the file, for the new set.")
@options.string(
    "--drop-easy SCORE",
    "Also stop scoring rounds on which every model with results reaches SCORE, 0 to 1.",
    "easy",
    type=options.FloatRange(0, 1),
)
@options.OVERWRITE
@options.AS_JSON
def review_command(bench: Path, *, to: Path | None, force: bool, **how: Any) -> None:
    """Write a dialogue set as CSV for people to review, or make a new set of what they kept.

    In the file, write keep or drop as decision, or corrections. With --from it becomes a new set:
    dropped rounds are no longer scored and stay as history, and each changed round says what it
    was before.
    """
    _check(to=to, force=force, **how)
    if to is None or (how["sheet"] is None and how["easy"] is None):
        from videoautoarena.runs.making.dialogues.review_sheet import write_sheet

        sheeted = write_sheet(bench, to, force=force)
        options.print_found(sheeted)
        return
    from videoautoarena.runs.bench.format.schema import VIDEOS
    from videoautoarena.runs.making.dialogues.review import ReviewOptions, review

    made = review(ReviewOptions(bench, to, **how))
    options.print_found(made)
    ending.say_made(to, "copies of videos" if (to / VIDEOS).is_dir() else "")


def _check(
    *, sheet: Path | None, easy: float | None, reviewer: str | None, to: Path | None, force: bool
) -> None:
    """Raise WrongArgument for options that do not belong together."""
    from videoautoarena.memory.records.errors import WrongArgument

    if reviewer is not None and sheet is None:
        raise WrongArgument("--reviewer needs --from FILE")
    if sheet is not None and reviewer is None:
        raise WrongArgument("--from needs --reviewer NAME, who reviewed the file")
    if (makes_set := sheet is not None or easy is not None) and to is None:
        raise WrongArgument("a new set needs --to FOLDER")
    if force and makes_set:
        raise WrongArgument("--force is for the CSV file; a set needs a new folder")
