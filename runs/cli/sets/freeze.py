"""Making a bench: `freeze` from a run, `import` from what others publish."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from videoautoarena.runs.cli.program import ending, options
from videoautoarena.runs.cli.program.main import EXIT_VOIDS
from videoautoarena.runs.formats.terminal import safe, say, say_before_publishing

if TYPE_CHECKING:
    from videoautoarena.runs.bench.format.reader import OpenBench
    from videoautoarena.runs.exchange.interop.task_sets import TaskSetImport


AGAIN = "to ask again where a call failed: add --retry-failed"
ASKING = options.together(
    options.config_option(", for models that are asked"),
    options.paid(
        "Ask again where a call failed.", options.max_void("the answers asked for"), options.TRUST
    ),
)
"""Options that only matter if models are asked."""


def _names(typed: str) -> tuple[str, ...]:
    """Return names separated by commas, each once; a name with a comma is quoted as in CSV."""
    try:
        # Without it a quote behind a comma and a blank would be part of the name.
        names = next(csv.reader([typed], skipinitialspace=True), None) or [""]
    except csv.Error:
        raise click.UsageError(
            "names between commas stand in one line; quote none over two"
        ) from None
    return tuple(dict.fromkeys(name.strip() for name in names))


@options.command(
    "arena freeze arena-out --to my-bench --size 200 --length-matched",
    "arena freeze arena-out --to hard --hard --most 100 --plan",
    codes=ending.exit_codes(
        "nothing is written: more answers than --max-void allows have no verdict"
    ),
)
@options.OUT
@options.TO_FOLDER
@options.whole("--size", "Number of questions to draw.  [default: all]", least=1)
@options.string(
    "--by",
    "What to balance the draw over, separated by commas: duration, category, topic, language, "
    "question-category once questions are tagged, columns of videos.csv.",
    reads=_names,
    default="duration,category,topic",
)
@options.whole("--per-video", "Maximum number of questions per video.", least=1)
@options.string(
    "--only-licence NAME",
    "Take only questions about videos under this licence, by videos.csv, such as CC-BY-4.0; "
    "several are separated by commas or the option is repeated.",
    reads=lambda typed: tuple(name for names in typed for name in _names(names)),
    multiple=True,
)
@options.string("--language", "Take only questions asked in this language, such as de.")
@options.whole(
    "--turns",
    "Take only the first so many questions of each user; 1 takes single-turn questions.",
    least=1,
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
@options.whole("--most", "With --hard: take the hardest N at most.", least=1)
@options.string(
    "--embeddings",
    "Embedding model for topics: provider:model. One that takes pictures is shown frames, "
    "too.  [default: TF-IDF]",
)
@options.string(
    "--name-topics M",
    "Model that names topics, from some questions of each: provider:model, or a name of the "
    "run.  [default: the three weightiest words stand for each]",
)
@options.whole("--seed", "Seed of the draw.  [default: the run's]")
@options.string("--licence", "Licence of the bench, for its card.")
@options.flag("--with-videos", "Copy the videos into the bench.")
@options.path("--videos", "Folder of the videos.  [default: where the run found them]")
@options.flag("--parquet", "Also write Parquet and a README for Hugging Face datasets.")
@ASKING
@options.AS_JSON
def freeze_command(out: Path, to: Path, *, plan: bool, **typed: Any) -> int:
    """Turn the run in OUT into a bench folder: questions, selected and rejected answers.

    All battles with a winner are taken, unless options ask for fewer. Where people labelled a
    battle, the majority of them decides who won, otherwise the judges do. Only --hard,
    --name-topics, and --embeddings that take pictures, ask models, through the run's journal:
    nothing is paid twice.
    """
    from videoautoarena.runs.api.freezing import freeze

    job = freeze.job(out, to, **typed)
    if not job.is_planned:
        asks = "or --embeddings that take pictures"
        options.refuse_typed(f"needs --hard, {asks}", {"max_void", "plan"}.__contains__)
        if typed["name_topics"] is None:
            needs = f"needs --hard, --name-topics, {asks}"
            options.refuse_typed(needs, options.OF_CALLS.__contains__)
    if plan:
        return ending.print_plan(job)
    tally, frozen, lack = ending.played(job)
    if frozen is None:
        left = f"{tally.so_far}, no bench is written"
        code = ending.early_end(tally, left)
        if code is None:
            say(lack)
            say(AGAIN)
        return code or EXIT_VOIDS
    if typed["with_videos"]:
        say_before_publishing(f"copies of videos are in {safe(str(to))}")
    options.print_found(frozen)
    if not options.is_json():
        from videoautoarena.runs.bench.freeze.freeze import playing_command

        say(f"to play it: {playing_command(out, to, typed['videos'], typed['with_videos'])}")
    return 0


@options.group("arena import videoautobench bench.json --to my-bench")
def import_command() -> None:
    """Import published test sets, judgments and answers."""


_TO_BENCH = options.path("--to", "Folder of the bench, new or empty.", required=True)
_TO_SET = options.path("--to", "Folder of the set, new or empty.", required=True)
_LICENCE = options.string("--licence", "Licence of the published files, such as CC-BY-NC-SA-4.0.")


@import_command.member("arena import videoautobench bench.json --to my-bench")
@options.FILE
@_TO_BENCH
@options.string("--licence", "Licence of the published file, such as CC-BY-NC-SA-4.0.")
@options.AS_JSON
def videoautobench(file: Path, to: Path, licence: str | None) -> None:
    """Convert FILE, a published VideoAutoBench file, to a bench without loss.

    FILE is a JSON object of questions by qid: video_id, persona, question, selected answer,
    rejected answer. Other keys are kept. arena bench export writes the same file again.
    """
    from videoautoarena.runs.exchange.interop.videoautobench import import_videoautobench

    taken = import_videoautobench(file, to, licence=licence)
    if taken.extra:
        say(f"{taken.extra} of {taken.questions} questions have additional keys, which are kept")
    say(f"to score results on it: arena bench score {safe(str(to))}")
    options.print_line(taken.as_json(), taken.as_line())


def _say_tasks(taken: TaskSetImport, beside: dict[str, Any]) -> None:
    for line in (*taken.shortcuts.as_lines(), *taken.shortcuts.explained()):
        say(line)
    say(f"to see every probe: arena bench probe {safe(str(taken.folder))}")
    options.print_line(taken.as_json() | beside, taken.as_line())
    for line in taken.next_lines():
        say(line)


@import_command.member("arena import mlvu MLVU/json --to mlvu-dev")
@options.FOLDER
@_TO_SET
@options.choice(
    "--split",
    ["dev", "test"],
    "Part of MLVU that the files are.  [default: test where they have question ids]",
    is_open=True,
)
@_LICENCE
@options.AS_JSON
def mlvu(folder: Path, to: Path, **given: Any) -> None:
    """Convert MLVU's published JSON files in FOLDER to a task set without loss.

    FOLDER may be one file; of a folder every .json file is read: those of the dev set, or the
    questions of the test set, which have no answers. Nothing is corrected; defects and what the
    options give away are printed.
    """
    from videoautoarena.runs.exchange.interop.mlvu import import_mlvu

    _say_tasks(import_mlvu(folder, to, **given), {})


@import_command.member("arena import longvideobench LongVideoBench --to lvb --subtitles lvb-srt")
@click.argument("source", type=options.PATH)
@_TO_SET
@options.choice(
    "--split",
    ["val", "test"],
    "Part that the files are.  [default: val where they have right answers]",
    is_open=True,
)
@options.path("--subtitles DIR", "Folder to write the subtitles of the clips to, as .srt files.")
@_LICENCE
@options.AS_JSON
def longvideobench(source: Path, to: Path, **given: Any) -> None:
    """Convert LongVideoBench's published files to a task set without loss.

    SOURCE is lvb_val.json or lvb_test_wo_gt.json, or a folder with either. Nothing is corrected;
    defects and what the options give away are printed. With --subtitles, the JSON files in the
    folder subtitles beside them become .srt files on the clock of each clip.
    """
    from videoautoarena.runs.exchange.interop.longvideobench import (
        import_longvideobench,
        subtitles_beside,
    )

    taken, spoken = import_longvideobench(source, to, **given)
    if spoken is not None:
        for line in spoken.as_lines():
            say(line)
    elif (there := subtitles_beside(source)).is_dir():
        say(f"subtitles in {safe(str(there))} are not used; pass --subtitles DIR to write them")
    _say_tasks(taken, {"subtitles": spoken and spoken.as_json()})


@import_command.member("arena import mt-video-bench MT-Video-Bench --to dialogues")
@click.argument("source", type=options.PATH)
@_TO_SET
@options.path(
    "--videos",
    "Folder of videos, where a file VIDEO_EVENT is taken for the clip of an event.",
)
@_LICENCE
@options.AS_JSON
def mt_video_bench(source: Path, to: Path, **given: Any) -> None:
    """Convert MT-Video-Bench's published files to a set of dialogues without loss.

    SOURCE is the folder with mtqa and checklist, whose abilities become one set, or one file of
    mtqa. Nothing is corrected. arena bench export writes the same files again.
    """
    from videoautoarena.runs.exchange.interop.mt_video_bench import import_mt_video_bench

    taken = import_mt_video_bench(source, to, **given)
    for line in taken.notes():
        say(line)
    options.print_line(taken.as_json(), taken.as_line())


@import_command.member(
    "arena import videoautobench-judgments judged/selected judged/rejected --bench my-bench "
    "--model aria"
)
@click.argument("selected", type=options.PATH)
@click.argument("rejected", type=options.PATH)
@options.opened_bench("Bench that was judged.")
@options.string("--model", "Model whose answers were judged.", required=True)
@options.string("--judge", "Judge that gave the judgments.", default="gpt-4o")
@options.flag(
    "--allow-differing", "Also import judgments of another question or video, and count them."
)
@options.flag("--force", "Replace this judge's existing results for this model.")
@options.AS_JSON
def videoautobench_judgments(
    selected: Path, rejected: Path, *, bench: OpenBench, model: str, **given: Any
) -> None:
    """Import a model's published judgments against SELECTED and REJECTED answers.

    Both are folders, nested or not, of one-line <qid>.jsonl files. The reference answer is A, so
    [[B>A]] after the last [Overall Judge] is a win. A judgment that cannot be read is void.
    """
    from videoautoarena.runs.exchange.interop.judgments import import_judgments

    taken = import_judgments(selected, rejected, bench, model, **given)
    say(f"to score them: arena bench score {safe(str(bench.folder))}")
    options.print_found(taken)


@import_command.member(
    "arena import videoautobench-submission aria.json --bench my-bench --model aria"
)
@options.FILE
@options.opened_bench("Bench that was answered.")
@options.string("--model", "Model that answered.", required=True)
@options.flag("--allow-differing", "Also import answers to a question with different text.")
@options.flag("--force", "Replace this model's existing answers.")
@options.AS_JSON
def videoautobench_submission(file: Path, *, bench: OpenBench, model: str, **given: Any) -> None:
    """Import a model's answers from FILE, a JSON object keyed by qid, to be judged later."""
    from videoautoarena.runs.exchange.interop.videoautobench import import_submission

    taken = import_submission(file, bench, model, **given)
    options.print_line(taken.as_json(), taken.as_line())


@import_command.member("arena import battles battle.history.json --to battles.jsonl")
@click.argument("files", type=options.PATH, nargs=-1, required=True)
@options.path("--to", "File to write (.jsonl).", required=True)
@options.choice(
    "--format",
    ["videoautoarena", "fastchat", "arena-hard"],
    "Format of the battles.  [default: recognised by their keys]",
    "form",
    is_open=True,
)
@options.string("--baseline", "Baseline model of arena-hard, if the file does not name it.")
@options.OVERWRITE
@options.AS_JSON
def battles(files: tuple[Path, ...], to: Path, **given: Any) -> None:
    """Convert published battles in FILES to JSON lines for arena rate.

    FILES are VideoAutoArena histories, Chatbot Arena or FastChat battles, or arena-hard judgments,
    as JSON or JSON lines. A verdict that cannot be read is void.
    """
    from videoautoarena.runs.exchange.interop.battles import import_battles

    found = import_battles(files, to, **given)
    say(f"to rate them: arena rate {safe(str(to))}")
    options.print_line(found.as_json(), found.as_line())


@import_command.member("arena import arena-hard data --bench my-bench")
@options.FOLDER
@options.opened_bench("Bench whose questions were judged.")
@options.string("--baseline", "Baseline model, if a line does not name it.")
@options.flag("--allow-differing", "Also import judgments of a question with different text.")
@options.flag("--force", "Replace existing results of the same judges and models.")
@options.AS_JSON
def arena_hard(folder: Path, *, bench: OpenBench, **given: Any) -> None:
    """Import arena-hard judgments against a baseline from FOLDER.

    Both versions of the format are read. FOLDER holds model_judgment/JUDGE/MODEL.jsonl and may
    hold model_answer and question.jsonl. Question ids must be those of the bench. A judgment
    without a readable verdict is void.
    """
    from videoautoarena.runs.exchange.interop.arena_hard import import_arena_hard

    taken = import_arena_hard(folder, bench, **given)
    say(f"to score them: arena bench score {safe(str(bench.folder))}")
    options.print_found(taken)
