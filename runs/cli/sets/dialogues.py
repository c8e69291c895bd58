"""Sets of dialogues: `dialogues make`, `dialogues review`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from videoautoarena.runs.cli.program import ending, options
from videoautoarena.runs.cli.program.main import EXIT_VOIDS
from videoautoarena.runs.formats.terminal import safe, say

if TYPE_CHECKING:
    from videoautoarena.runs.bench.format.schema import Ability
    from videoautoarena.runs.making.dialogues.dialogue_set import DialogueOrder, MadeDialogues
    from videoautoarena.runs.making.dialogues.making import DialogueTally


def _abilities(names: tuple[str, ...]) -> tuple[Ability, ...]:
    from videoautoarena.memory.records.errors import WrongArgument
    from videoautoarena.runs.bench.format.schema import ABILITIES

    known = {str(one): one for one in ABILITIES}
    for name in names:
        if name not in known:
            raise WrongArgument(f"--abilities {name!r} is none of {', '.join(known)}")
    return tuple(dict.fromkeys(known[name] for name in names)) or ABILITIES


@options.group("arena dialogues make clips --to my-set --plan")
def dialogues_command() -> None:
    """Make test sets of dialogues from your own videos, and review them."""


@dialogues_command.member(
    "arena dialogues make clips --to my-set --plan",
    "arena dialogues make clips --to my-set --examiner openai:gpt-4o --max-usd 10",
    "arena dialogues make clips --to my-set --abilities memory_recall,answer_refusal --per-video 2",
    codes=ending.exit_codes("calls failed, or the examiner became unusable"),
)
@options.FOLDER
@options.TO_FOLDER
@options.listed(
    "--abilities ABILITY[,..]",
    "Abilities, separated by commas: object_reference, memory_recall, content_summary, "
    "answer_refusal, topic_shifting, proactive_interaction.  [default: all]",
    reads=_abilities,
)
@options.whole(
    "--per-video",
    "Dialogues of each ability about each video, at most.",
    least=1,
    most=12,
    default=1,
)
@options.string("--turns FROM-TO", "Rounds of a dialogue.", default="5-8")
@options.making(
    "Model that watches, writes and checks",
    at_most="Accept the dialogues that there are although calls failed.",
    plan="Say what calls it would take and cost; make nothing.",
)
def make_command(folder: Path, to: Path, *, plan: bool, as_json: bool, **typed: Any) -> int:
    """Make a set of dialogues about the videos of FOLDER.

    The examiner captions the shots of each video, puts them together to scenes, names objects, and
    rates what each part is good for. Then it writes dialogues of several rounds with reference
    answers and checklists. Each scored round is tried out: it must be answered by who knows the
    dialogue and sees other frames, and by nobody who lacks the history or the video. What fails is
    repaired once, else dropped with the reason. Each answer refusal has a twin about what is there.

    Paid calls are kept if the command is interrupted; repeat it to continue.
    """
    from videoautoarena.graph.dialogue_checks import TURNS
    from videoautoarena.runs.making.dialogues.dialogue_set import DialogueOrder
    from videoautoarena.runs.making.dialogues.make import make_dialogues, plan_dialogues
    from videoautoarena.runs.making.dialogues.making import DialogueWish

    typed["turns"] = options.span("--turns", typed["turns"], TURNS)
    wish = options.take(DialogueWish, typed)
    order = DialogueOrder(folder, to, wish=wish, **typed)
    if plan:
        planned = ending.run_async(plan_dialogues(order, say))
        options.print_report(planned.as_json(), planned.as_lines(), as_json=as_json)
        _say_failures(planned)
        return 0
    made, tally = ending.run_async(make_dialogues(order, say))
    if as_json or made.bench is not None:
        options.print_report(made.as_json(), made.as_lines(), as_json=as_json)
    return _ending(order, made, tally)


def _ending(order: DialogueOrder, made: MadeDialogues, tally: DialogueTally) -> int:
    """Say how making went and what to type next; return the exit code."""
    from videoautoarena.runs.console.progress.costs import possibly_paid_lines

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
    ending.say_made(order.to, "copies of videos")
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
    type=click.FloatRange(0, 1),
)
@options.OVERWRITE
@options.AS_JSON
def review_command(bench: Path, *, to: Path | None, force: bool, as_json: bool, **how: Any) -> None:
    """Write a dialogue set as CSV for people to review, or make a new set of what they kept.

    In the file, write keep or drop as decision, or corrections. With --from it becomes a new set:
    dropped rounds are no longer scored and stay as history, and each changed round says what it
    was before.
    """
    _check(to=to, force=force, **how)
    if to is None or (how["sheet"] is None and how["easy"] is None):
        from videoautoarena.runs.making.dialogues.review_sheet import write_sheet

        sheeted = write_sheet(bench, to, force=force)
        options.print_report(sheeted.as_json(), sheeted.as_lines(), as_json=as_json)
        return
    from videoautoarena.runs.bench.format.schema import VIDEOS
    from videoautoarena.runs.making.dialogues.review import Wish, review

    made = review(Wish(bench, to, **how))
    options.print_report(made.as_json(), made.as_lines(), as_json=as_json)
    ending.say_made(to, "copies of videos" if (to / VIDEOS).is_dir() else "")


def _check(
    *, sheet: Path | None, easy: float | None, reviewer: str | None, to: Path | None, force: bool
) -> None:
    """Raise WrongArgument for options that do not belong together."""
    from videoautoarena.memory.records.errors import WrongArgument

    if easy is not None and easy != easy:
        raise WrongArgument("--drop-easy must be a number from 0 to 1")
    if reviewer is not None and sheet is None:
        raise WrongArgument("--reviewer needs --from FILE")
    if sheet is not None and reviewer is None:
        raise WrongArgument("--from needs --reviewer NAME, who reviewed the file")
    if (makes_set := sheet is not None or easy is not None) and to is None:
        raise WrongArgument("a new set needs --to FOLDER")
    if force and makes_set:
        raise WrongArgument("--force is for the CSV file; a set needs a new folder")
