"""Making a bench: `freeze` from a run, `import` from what others publish."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from videoautoarena.runs.cli.program import options
from videoautoarena.runs.cli.program.ending import exit_codes
from videoautoarena.runs.cli.sets.selecting import (
    ASKING,
    Before,
    refuse_idle,
    refuse_nameless,
    take_asking,
)
from videoautoarena.runs.text.publishing import say_before_publishing
from videoautoarena.runs.text.terminal import print_result, print_results, safe, say

if TYPE_CHECKING:
    from videoautoarena.runs.interop.battles import Format
    from videoautoarena.runs.interop.task_sets import TakenTasks


_PARTS = ("duration", "category", "topic")


@click.command(
    "freeze",
    epilog="""\b
Examples:
  arena freeze arena-out --to my-bench --size 200 --length-matched
  arena freeze arena-out --to hard --hard --most 100 --plan

\b
"""
    + exit_codes("nothing is written: more answers than --max-void allows have no verdict"),
)
@options.OUT
@click.option("--to", required=True, type=options.PATH, help="Folder to create.")
@click.option("--size", type=click.IntRange(1), help="Number of questions to draw.  [default: all]")
@click.option(
    "--by",
    help="What to balance the draw over, separated by commas: duration, category, topic, language, "
    "question-category once questions are tagged, columns of videos.csv.  "
    "[default: duration,category,topic]",
)
@click.option("--per-video", type=click.IntRange(1), help="Maximum number of questions per video.")
@click.option(
    "--only-licence",
    multiple=True,
    metavar="NAME",
    help="Take only questions about videos under this licence, by videos.csv, such as CC-BY-4.0; "
    "several are separated by commas or the option is repeated.",
)
@click.option("--language", help="Take only questions asked in this language, such as de.")
@click.option(
    "--turns",
    type=click.IntRange(1),
    help="Take only the first so many questions of each user; 1 takes single-turn questions.",
)
@options.flag("--distinct", "Keep one of several near-duplicate questions.")
@options.flag("--leak-filter", "Leave out questions that can be won without frames.")
@options.flag(
    "--length-matched", "Take equally many questions won by the longer and by the shorter answer."
)
@options.flag("--separating", "Prefer questions that separate models.")
@options.flag(
    "--hard",
    "Take questions whose answers were both called bad and at which most models fail: those that "
    "did not play them are asked.",
)
@click.option("--most", type=click.IntRange(1), help="With --hard: take the hardest N at most.")
@click.option(
    "--embeddings",
    help="Embedding model for topics: provider:model. One that takes pictures is shown frames, "
    "too.  [default: TF-IDF]",
)
@click.option(
    "--name-topics",
    metavar="M",
    help="Model that names topics, from some questions of each: provider:model, or a name of the "
    "run.  [default: the three weightiest words stand for each]",
)
@click.option("--seed", type=int, help="Seed of the draw.  [default: the run's]")
@click.option("--licence", help="Licence of the bench, for its card.")
@options.flag("--with-videos", "Copy the videos into the bench.")
@click.option(
    "--videos",
    type=options.PATH,
    help="Folder of the videos.  [default: where the run found them]",
)
@options.flag("--parquet", "Also write Parquet and a README for Hugging Face datasets.")
@ASKING
@options.AS_JSON
def freeze_command(out: Path, to: Path, as_json: bool, by: str | None, **asked: Any) -> int:
    """Turn the run in OUT into a bench folder: questions, selected and rejected answers.

    All battles with a winner are taken, unless options ask for fewer. Where people labelled a
    battle, the majority of them decides who won, otherwise the judges do. Only --hard, and
    --embeddings that take pictures, ask models, through the run's journal: nothing is paid twice.
    """
    from videoautoarena.runs.bench.freeze.freeze import Extras, freeze, refuse_vain
    from videoautoarena.runs.bench.freeze.selection import Selection

    beside = ("licence", "with_videos", "videos", "parquet")
    namer = asked.pop("name_topics")
    extras = Extras(**{name: asked.pop(name) for name in beside})
    plan, quiet, max_void = (asked[name] for name in ("plan", "quiet", "max_void"))
    asking = take_asking(asked, extras.videos)
    licences = tuple(name for typed in asked.pop("only_licence") for name in _names(typed))
    selection = Selection(**asked, by=_dimensions(by), only_licence=licences)
    selection.check()
    check = partial(refuse_vain, out, to, selection, extras)
    before = Before(out, selection, asking, max_void, quiet, check)
    if namer is not None:
        refuse_nameless(selection)
    if not before.is_needed:
        refuse_idle(click.get_current_context())
    elif plan:
        return before.print_plan(as_json=as_json)
    told = before.ask() if before.is_needed else None
    if isinstance(told, int):
        return told
    if namer is not None:
        extras = before.named(namer, to, extras, told)
    frozen = freeze(out, to, selection, extras, told)
    if extras.with_videos:
        say_before_publishing(f"copies of videos are in {safe(str(to))}")
    options.print_report(frozen.as_json(), frozen.as_lines(), as_json=as_json)
    return 0


def _dimensions(by: str | None) -> tuple[str, ...]:
    if by is None:
        return _PARTS
    return _names(by)


def _names(typed: str) -> tuple[str, ...]:
    """Return names that stand between commas, each once; one with a comma is quoted as in CSV."""
    try:
        names = next(csv.reader([typed], skipinitialspace=True), None) or [""]
    except csv.Error:
        raise click.UsageError(
            "names between commas stand in one line; quote none over two"
        ) from None
    return tuple(dict.fromkeys(name.strip() for name in names))


@click.group(
    "import",
    cls=options.ListingGroup,
    epilog="Example: arena import videoautobench bench.json --to my-bench",
)
def import_command() -> None:
    """Import published test sets, judgments and answers."""


@import_command.command(
    "videoautobench", epilog="Example: arena import videoautobench bench.json --to my-bench"
)
@click.argument("file", type=options.PATH)
@click.option("--to", required=True, type=options.PATH, help="Folder of the bench, new or empty.")
@click.option("--licence", help="Licence of the published file, such as CC-BY-NC-SA-4.0.")
@options.AS_JSON
def videoautobench(file: Path, to: Path, licence: str | None, as_json: bool) -> None:
    """Convert FILE, a published VideoAutoBench file, to a bench without loss.

    FILE is a JSON object of questions by qid: video_id, persona, question, selected answer,
    rejected answer. Other keys are kept. arena bench export writes the same file again.
    """
    from videoautoarena.runs.interop.videoautobench import import_videoautobench

    taken = import_videoautobench(file, to, licence=licence)
    if taken.extra:
        say(f"{taken.extra} of {taken.questions} questions have additional keys, which are kept")
    say(f"to score results on it: arena bench score {safe(str(to))}")
    print_result(json.dumps(taken.as_json()) if as_json else taken.as_line())


def _say_tasks(taken: TakenTasks, beside: dict[str, Any], *, as_json: bool) -> None:
    for line in taken.shortcuts.as_lines():
        say(line)
    say(f"to see every probe: arena bench probe {safe(str(taken.folder))}")
    print_result(json.dumps(taken.as_json() | beside) if as_json else taken.as_line())


@import_command.command("mlvu", epilog="Example: arena import mlvu MLVU/json --to mlvu-dev")
@click.argument("folder", type=options.PATH)
@click.option("--to", required=True, type=options.PATH, help="Folder of the set, new or empty.")
@click.option("--split", type=click.Choice(["dev", "test"]),
              help="Part of MLVU that the files are.  [default: test where they have question ids]"
              )  # fmt: skip
@click.option("--licence", help="Licence of the published files, such as CC-BY-NC-SA-4.0.")
@options.AS_JSON
def mlvu(folder: Path, to: Path, split: str | None, licence: str | None, as_json: bool) -> None:
    """Convert MLVU's published JSON files in FOLDER to a task set without loss.

    Every .json file in FOLDER is read: those of the dev set, or the questions of the test set,
    which have no answers. Nothing is corrected; defects and what the options give away are printed.
    """
    from videoautoarena.runs.interop.mlvu import import_mlvu

    _say_tasks(import_mlvu(folder, to, split=split, licence=licence), {}, as_json=as_json)


@import_command.command(
    "longvideobench",
    epilog="Example: arena import longvideobench LongVideoBench --to lvb --subtitles lvb-srt",
)
@click.argument("source", type=options.PATH)
@click.option("--to", required=True, type=options.PATH, help="Folder of the set, new or empty.")
@click.option("--split", type=click.Choice(["val", "test"]),
              help="Part that the files are.  [default: val where they have right answers]"
              )  # fmt: skip
@click.option("--subtitles", type=options.PATH, metavar="DIR",
              help="Folder to write the subtitles of the clips to, as .srt files.")  # fmt: skip
@click.option("--licence", help="Licence of the published files, such as CC-BY-NC-SA-4.0.")
@options.AS_JSON
def longvideobench(source: Path, to: Path, *, as_json: bool, **given: Any) -> None:
    """Convert LongVideoBench's published files to a task set without loss.

    SOURCE is lvb_val.json or lvb_test_wo_gt.json, or a folder with either. Nothing is corrected;
    defects and what the options give away are printed. With --subtitles, the JSON files in the
    folder subtitles beside them become .srt files on the clock of each clip.
    """
    from videoautoarena.runs.interop.longvideobench import import_longvideobench, subtitles_beside

    taken, spoken = import_longvideobench(source, to, **given)
    if spoken is not None:
        for line in spoken.as_lines():
            say(line)
    elif (there := subtitles_beside(source)).is_dir():
        say(f"subtitles in {safe(str(there))} are not used; pass --subtitles DIR to write them")
    _say_tasks(taken, {"subtitles": spoken and spoken.as_json()}, as_json=as_json)


@import_command.command(
    "mt-video-bench", epilog="Example: arena import mt-video-bench MT-Video-Bench --to dialogues"
)
@click.argument("source", type=options.PATH)
@click.option("--to", required=True, type=options.PATH, help="Folder of the set, new or empty.")
@click.option("--videos", type=options.PATH,
              help="Folder of videos, where a file VIDEO_EVENT is taken for the clip of an event."
              )  # fmt: skip
@click.option("--licence", help="Licence of the published files, such as CC-BY-NC-SA-4.0.")
@options.AS_JSON
def mt_video_bench(source: Path, to: Path, *, as_json: bool, **given: Any) -> None:
    """Convert MT-Video-Bench's published files to a set of dialogues without loss.

    SOURCE is the folder with mtqa and checklist, whose abilities become one set, or one file of
    mtqa. Nothing is corrected. arena bench export writes the same files again.
    """
    from videoautoarena.runs.interop.mt_video_bench import import_mt_video_bench

    taken = import_mt_video_bench(source, to, **given)
    for line in taken.notes():
        say(line)
    print_result(json.dumps(taken.as_json()) if as_json else taken.as_line())


@import_command.command(
    "videoautobench-judgments",
    epilog="Example: arena import videoautobench-judgments judged/selected judged/rejected "
    "--bench my-bench --model aria",
)
@click.argument("selected", type=options.PATH)
@click.argument("rejected", type=options.PATH)
@click.option("--bench", required=True, type=options.PATH, help="Bench that was judged.")
@click.option("--model", required=True, help="Model whose answers were judged.")
@click.option("--judge", default="gpt-4o", show_default=True, help="Judge that gave the judgments.")
@options.flag(
    "--allow-differing", "Also import judgments of another question or video, and count them."
)
@options.flag("--force", "Replace this judge's existing results for this model.")
@options.AS_JSON
def judgments(
    selected: Path,
    rejected: Path,
    bench: Path,
    model: str,
    judge: str,
    allow_differing: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Import a model's published judgments against SELECTED and REJECTED answers.

    Both are folders, nested or not, of one-line <qid>.jsonl files. The reference answer is A, so
    [[B>A]] after the last [Overall Judge] is a win. A judgment that cannot be read is void.
    """
    from videoautoarena.runs.bench.format.reader import open_bench
    from videoautoarena.runs.interop.judgments import import_judgments

    taken = import_judgments(
        selected,
        rejected,
        open_bench(bench),
        model,
        judge=judge,
        allow_differing=allow_differing,
        force=force,
    )
    say(f"to score them: arena bench score {safe(str(bench))}")
    if as_json:
        print_result(json.dumps(taken.as_json()))
    else:
        print_results(taken.as_lines())


@import_command.command(
    "videoautobench-submission",
    epilog="Example: arena import videoautobench-submission aria.json --bench my-bench "
    "--model aria",
)
@click.argument("file", type=options.PATH)
@click.option("--bench", required=True, type=options.PATH, help="Bench that was answered.")
@click.option("--model", required=True, help="Model that answered.")
@options.flag("--allow-differing", "Also import answers to a question with different text.")
@options.flag("--force", "Replace this model's existing answers.")
@options.AS_JSON
def submission(
    file: Path, bench: Path, model: str, allow_differing: bool, force: bool, as_json: bool
) -> None:
    """Import a model's answers from FILE, a JSON object keyed by qid, to be judged later."""
    from videoautoarena.runs.bench.format.reader import open_bench
    from videoautoarena.runs.interop.videoautobench import import_submission

    taken = import_submission(
        file, open_bench(bench), model, allow_differing=allow_differing, force=force
    )
    print_result(json.dumps(taken.as_json()) if as_json else taken.as_line())


@import_command.command(
    "battles", epilog="Example: arena import battles battle.history.json --to battles.jsonl"
)
@click.argument("files", type=options.PATH, nargs=-1, required=True)
@click.option("--to", required=True, type=options.PATH, help="File to write (.jsonl).")
@click.option("--format", "form", type=click.Choice(["videoautoarena", "fastchat", "arena-hard"]),
              help="Format of the battles.  [default: recognised by their keys]")  # fmt: skip
@click.option("--baseline", help="Baseline model of arena-hard, if the file does not name it.")
@options.OVERWRITE
@options.AS_JSON
def battles(
    files: tuple[Path, ...],
    to: Path,
    form: str | None,
    baseline: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Convert published battles in FILES to JSON lines for arena rate.

    FILES are VideoAutoArena histories, Chatbot Arena or FastChat battles, or arena-hard judgments,
    as JSON or JSON lines. A verdict that cannot be read is void.
    """
    from videoautoarena.runs.interop.battles import import_battles

    found = import_battles(
        files, to, form=cast("Format | None", form), baseline=baseline, force=force
    )
    say(f"to rate them: arena rate {safe(str(to))}")
    print_result(json.dumps(found.as_json()) if as_json else found.as_line())


@import_command.command(
    "arena-hard", epilog="Example: arena import arena-hard data --bench my-bench"
)
@click.argument("folder", type=options.PATH)
@click.option(
    "--bench", required=True, type=options.PATH, help="Bench whose questions were judged."
)
@click.option("--baseline", help="Baseline model, if a line does not name it.")
@options.flag("--allow-differing", "Also import judgments of a question with different text.")
@options.flag("--force", "Replace existing results of the same judges and models.")
@options.AS_JSON
def arena_hard(
    folder: Path,
    bench: Path,
    baseline: str | None,
    allow_differing: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Import arena-hard judgments against a baseline from FOLDER.

    Both versions of the format are read. FOLDER holds model_judgment/JUDGE/MODEL.jsonl and may
    hold model_answer and question.jsonl. Question ids must be those of the bench. A judgment
    without a readable verdict is void.
    """
    from videoautoarena.runs.bench.format.reader import open_bench
    from videoautoarena.runs.interop.arena_hard import import_arena_hard

    taken = import_arena_hard(
        folder, open_bench(bench), baseline=baseline, allow_differing=allow_differing, force=force
    )
    say(f"to score them: arena bench score {safe(str(bench))}")
    if as_json:
        print_result(json.dumps(taken.as_json()))
    else:
        print_results(taken.as_lines())
