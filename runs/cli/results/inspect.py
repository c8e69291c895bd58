"""Looking into a run: `status`, `battles`, `show`, `export`, and pages of it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from videoautoarena.runs.cli.program import options
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.exchange.interop.exports import BATTLE_EXPORTS
from videoautoarena.runs.formats.terminal import print_result, safe, say, say_before_publishing
from videoautoarena.runs.formats.words import in_series

if TYPE_CHECKING:
    from videoautoarena.runs.exchange.training.rows import TrainingKind
    from videoautoarena.runs.rating.leaderboard import LeaderboardRow
    from videoautoarena.runs.run.battles.export import What
    from videoautoarena.runs.run.battles.listing import ListForm
    from videoautoarena.runs.run.rundir.reader import RunReader
    from videoautoarena.runs.serve.annotate.session import LabellingSession
    from videoautoarena.runs.views.page.report import WrittenReport
    from videoautoarena.runs.views.page.set_page import WrittenSet


@options.command("arena status arena-out")
@options.OUT
@options.flag("--follow", "Keep showing it until the run ends or Ctrl-C is pressed.", "-f")
@options.flag("--plain", "With --follow: print lines instead of the live console.")
@options.AS_JSON
def status_command(out: Path, follow: bool, plain: bool) -> None:
    """Show the progress of the run in OUT and the command to type next.

    Of a bench, or a set that is made, OUT is its folder: its calls, their cost, and batches out.
    """
    if follow and options.is_json():
        raise click.UsageError("--follow and --json contradict each other; give one")
    if follow:
        _stay(out, plain=plain)
        return

    from videoautoarena.runs.console.progress.set_status import set_status_of
    from videoautoarena.runs.console.progress.status import status_of
    from videoautoarena.runs.run.rundir.reader import holds_a_run

    found = None if holds_a_run(out) else set_status_of(out)
    status = status_of(out) if found is None else found
    options.print_report(status.to_json(), status.as_lines())


def _stay(out: Path, *, plain: bool) -> None:
    from videoautoarena.runs.cli.program.ending import run_async
    from videoautoarena.runs.console.progress.follow import follow
    from videoautoarena.runs.console.progress.listeners import audience

    with audience(plain=plain) as listeners:
        end = run_async(follow(out, listeners))
    click.echo(safe(end), err=True)


VERDICTS = (
    *("win", "a", "b", "tie", "tie_good", "tie_bad", "split"),
    *("void", "forfeit", "forfeit_a", "forfeit_b"),
)


@options.command(
    "arena battles arena-out --lost-by hawk --sort surprise",
    "arena battles arena-out --pair hawk,owl --verdict tie",
    'arena battles arena-out --contains "red car" --jsonl | jq -r .id',
)
@options.OUT
@options.listed("--pair A,B", "Only battles between these two models, in either order.")
@options.string(
    "--lost-by MODEL",
    "Only battles that were decided against this model; a forfeit is no loss.",
)
@options.choice(
    "--verdict",
    VERDICTS,
    "Only battles that ended so; can be repeated. win is a or b, tie is every tie of the "
    "leaderboard (a plain one, tie_good, tie_bad, split), forfeit is either one.",
    "verdicts",
    is_open=True,
    multiple=True,
)
@options.string(
    "--contains TEXT",
    "Only battles with this text in the question, an answer, the judges' words or the reason, "
    "in upper or lower case; no pattern.",
)
@options.choice(
    "--sort",
    ["played", "surprise", "hardest"],
    "Order: as played, the outcome that the ratings made least likely first, or the hardest "
    "question first.",
)
@options.choice(
    "--format",
    ["table", "csv", "json", "jsonl"],
    "Output format.  [default: table]",
    "form",
    is_open=True,
)
@options.flag("--jsonl", "Print one JSON object per line, with all fields.")
@options.flag("--json", "Print one JSON array.", "as_json")
def battles_command(
    out: Path,
    *,
    pair: tuple[str, ...],
    form: str | None,
    jsonl: bool,
    as_json: bool,
    **typed: Any,
) -> None:
    """List battles of the run in OUT: who met, who won, what was asked, and why the judge said so.

    All of them, or those for which all that is given holds. A model may be given by its short name.
    """
    from videoautoarena.runs.run.battles.listing import Selection, listing

    if pair and len(pair) != 2:
        raise click.UsageError(f"--pair takes two models, as in hawk,owl, not {len(pair)}")
    selection = Selection(pair=(pair[0], pair[1]) if pair else None, **typed)
    chosen = cast("ListForm", _one_form(form, jsonl=jsonl, as_json=as_json))
    columns = shutil.get_terminal_size().columns
    for line in listing(out, chosen, columns, selection=selection, rate=_rated):
        click.echo(line)


def _rated(run: RunReader) -> Sequence[LeaderboardRow]:
    """Return the rows of a run's plain leaderboard."""
    from videoautoarena.runs.rating.fit import rater_of
    from videoautoarena.runs.rating.table import build

    rater = rater_of(run.manifest)
    return build(run.battles, run.manifest["models"], rater=rater).models


def _one_form(form: str | None, *, jsonl: bool, as_json: bool) -> str:
    """Return the form that the three options ask for; --jsonl beats --json."""
    short = "jsonl" if jsonl else "json" if as_json else None
    if form and short and form != short:
        raise click.UsageError(f"--{short} and --format {form} contradict each other; give one")
    return form or short or "table"


@options.command("arena show arena-out", "arena show arena-out 3f2a9c01b7de-p1-r2")
@options.OUT
@click.argument("battle", required=False)
@options.AS_JSON
def show_command(out: Path, battle: str | None) -> None:
    """Show one BATTLE of the run in OUT in full; the beginning of its id is enough.

    Without BATTLE the most telling one is opened, in brief: one that the first of the leaderboard
    lost, else one that it won against the second, the most surprising by the ratings first.
    """
    show_battle(out, battle)


def show_battle(out: Path, battle: str | None = None) -> None:
    """Print a battle of the run in `out`, or the most telling one if none is named."""
    from videoautoarena.runs.run.battles.detail import show, show_most_telling
    from videoautoarena.runs.run.battles.detail_text import page

    shown = show_most_telling(out, _rated) if battle is None else show(out, battle)
    columns = shutil.get_terminal_size().columns
    options.print_text(shown.as_json(), lambda: page(shown, columns))


FORMS = ["arena", *BATTLE_EXPORTS, "inspect", "jsonl", "parquet"]
TRAINING = ("preferences", "conversations")


@options.command(
    "arena export arena-out --to calls.jsonl",
    "arena export arena-out --what costs | jq '.models[] | [.model, .cost_usd]'",
    "arena export arena-out --what battles --format inspect --to logs",
    "arena export arena-out --what preferences --format parquet --to pairs.parquet",
)
@options.OUT
@options.choice(
    "--what",
    [
        *("calls", "battles", "labels", "trials", "setup", "videos", "users", "costs", "rounds"),
        *("standards", *TRAINING),
    ],
    "What to export. Battles include superseded ones; labels have the format that arena "
    "labels import reads; setup and costs are one object each; standards holds the verdicts by "
    "standard of each battle; preferences are pairs of a chosen and a rejected answer; "
    "conversations are chats of the best models.",
)
@options.choice(
    "--format",
    FORMS,
    f"Format of exported battles. {in_series(BATTLE_EXPORTS)} hold decided battles only; "
    "inspect holds one log per model, with all battles that count. Preferences and conversations "
    "are jsonl or parquet.",
    "form",
)
@options.whole("--top K", "With conversations: number of models, by rating.  [default: 3]", least=1)
@options.path("--to", "File to write; with inspect, a folder.  [default: stdout]")
@options.THUMBNAILS
@options.OVERWRITE
def export_command(
    out: Path, what: str, form: str, top: int | None, to: Path | None, frames: int, force: bool
) -> None:
    """Export the calls of the run in OUT as JSON lines, or what else it holds.

    Of a bench or a set of tasks OUT is its file of calls, BENCH/results/calls.sqlite or
    SET/results/making.sqlite.
    """
    from videoautoarena.runs.run.battles.export import export, lines_of, opened

    if top is not None and what != "conversations":
        raise click.UsageError("--top needs --what conversations")
    if what in TRAINING and form not in (*BATTLE_EXPORTS, "inspect") and not frames:
        _train(out, to, what, form, top=top, force=force)
        return
    if form in ("jsonl", "parquet"):
        raise click.UsageError(f"--format {form} needs --what preferences or conversations")
    if form != "arena" and what != "battles":
        raise click.UsageError(f"--format {form} needs --what battles")
    if frames and form != "inspect":
        raise click.UsageError("--frames needs --format inspect")
    if form == "inspect":
        _logs(out, to, frames=frames, force=force)
        return
    kind = cast("What", what)
    written = BATTLE_EXPORTS.get(form)
    if to is None:
        with opened(out, kind) as run:
            for line in lines_of(run, kind, written).lines:
                click.echo(line)
        return
    count = export(out, to, what=kind, force=force, on_count=on_terminal, written=written)
    say(f"{count:,} {what} written to {safe(str(to))}")


def _logs(out: Path, to: Path | None, *, frames: int, force: bool) -> None:
    from videoautoarena.runs.exchange.interop.inspect_export import export_run

    if to is None:
        raise click.UsageError("--format inspect writes a folder of logs; name it with --to")
    written = export_run(out, to, frames=frames, force=force, on_progress=on_terminal)
    for line in written.as_lines():
        say(line)
    if frames:
        say_before_publishing(f"frames of videos are in {safe(str(to))}")


def _train(
    out: Path, to: Path | None, what: str, form: str, *, top: int | None, force: bool
) -> None:
    from videoautoarena.runs.exchange.training.write import (
        REPORT_EVERY,
        TrainingOrder,
        export_rows,
        line_of,
        rows_of,
    )

    wanted = TrainingOrder(
        cast("TrainingKind", what), "parquet" if form == "parquet" else "jsonl", top
    )
    if to is None:
        if form == "parquet":
            raise click.UsageError("--format parquet writes a file; name it with --to")
        with rows_of(out, wanted) as (summary, rows):
            for row in rows:
                click.echo(line_of(row))
    else:
        summary = export_rows(out, to, wanted, force=force, on_count=_on_row)
        # Ends the line on which rows were counted.
        if summary.rows >= REPORT_EVERY and sys.stderr.isatty():
            click.echo(err=True)
        say(f"{summary.rows:,} {what} written to {safe(str(to))}")
    for line in summary.as_lines():
        say(line)


def _on_row(number: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{number:,} rows", err=True, nl=False)


def on_terminal(number: int, total: int) -> None:
    """Show progress on one line of a terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r{number:,} of {total:,}", err=True, nl=number == total)


@options.command(
    "arena report arena-out",
    "arena report arena-out --to report.html --thumbs 0",
    "arena report my-tasks --to tasks.html",
)
@options.OUT
@options.path(
    "--to",
    "File to write.  [default: OUT/report.html; of a task set OUT/results/report.html]",
)
@options.whole(
    "--thumbs N",
    "Least number of frame thumbnails per video; 0 leaves all pictures out.  [default: 16]",
    least=0,
    most=128,
)
@options.MOVED
@options.flag("--topics", "Also show models by topic, as arena topics finds them.")
@options.flag("--split", "Put battles and pictures into a folder beside the file.")
@options.OPEN
@options.flag("--force", "Overwrite an existing file of another name than the default.")
@options.AS_JSON
def report_command(
    out: Path,
    *,
    to: Path | None,
    thumbs: int | None,
    videos: Path | None,
    topics: bool,
    split: bool,
    opens: bool,
    force: bool,
) -> None:
    """Write the run or set in OUT as one HTML page that anyone can open, offline.

    Without --to an earlier report is replaced.

    Of a task set with results it shows scores by task and position, what frames and dollars buy,
    and what the options give away; of dialogues scores by ability, and each reply by its checklist.
    """
    from videoautoarena.runs.bench.kinds.scorings import is_bench

    written: WrittenReport | WrittenSet
    if is_bench(out):
        if split or topics or thumbs is not None or videos is not None:
            options_of_runs = "--thumbs, --videos, --topics and --split are of battles"
            raise click.UsageError(f"{options_of_runs}; a task set has none")
        from videoautoarena.runs.views.page.set_page import write_set_report

        written = write_set_report(out, to, force=force)
    else:
        from videoautoarena.runs.console.progress.listeners import progress
        from videoautoarena.runs.run.rundir.reader import run_file
        from videoautoarena.runs.views.page.report import (
            THUMBS,
            ReportOptions,
            report_file,
            write_report,
        )

        # First, so that what is no run is said before anything about the file to write.
        run_file(out)
        least = THUMBS if thumbs is None else thumbs
        order = ReportOptions(out, report_file(out, to, force=force), least, split, videos, topics)
        with progress(say) as on_progress:
            written = run_async(write_report(order, on_progress, say))
        if written.pictures_bytes:
            say_before_publishing(f"frames of videos are in {safe(str(written.to))}")
    if opens:
        click.launch(str(written.to.resolve()))
    if options.is_json():
        options.print_json(written.to_json())
        return
    for line in written.as_lines():
        print_result(line)
    if not is_bench(out) and (note := getattr(written, "note", None)):
        say(note)


@options.command(
    "arena view arena-out --open",
    "arena view all-my-runs --port 8080",
    codes="The exit code is 0 when Ctrl-C ends it.",
)
@options.OUT
@options.MOVED
@options.PORT
@options.OPEN
def view_command(out: Path, *, videos: Path | None, port: int | None, opens: bool) -> None:
    """Show the run in OUT as a page in a browser, also while it is played.

    Where OUT is a folder of runs, they are listed, up to three folders deep. The page is served on
    this machine alone, and the link opens it in one browser. Nothing is written. Ctrl-C ends it.
    """
    from videoautoarena.runs.serve.server.serve import refuse_without_web

    # Before the import that needs it, which would end in a trace.
    refuse_without_web()
    from videoautoarena.runs.serve.view.app import view

    run_async(view(out, port, films=videos, opens=opens))


@options.command(
    "arena annotate arena-out --open",
    "arena annotate arena-out --n 300 --labeller anna --labeller ben",
    "arena annotate arena-out --n 0 --against questions.csv",
    codes="The exit code is 0 when Ctrl-C ends it.",
)
@options.OUT
@options.whole(
    "--n",
    "Number of battles for each labeller, those of earlier sessions included.",
    "number",
    least=0,
    default=200,
)
@options.string(
    "--labeller NAME",
    "Name of a labeller, who gets a link of their own; can be repeated.  [default: labeller]",
    "labellers",
    multiple=True,
)
@options.path(
    "--against FILE",
    "File of questions to rank with those of the run: CSV, TSV, JSON lines or Parquet; can be "
    "repeated.",
    multiple=True,
)
@options.MOVED
@options.PORT
@options.OPEN
def annotate_command(out: Path, *, labellers: tuple[str, ...], opens: bool, **typed: Any) -> None:
    """Let people label battles of the run in OUT in a browser, without knowing whose they are.

    The battles are a random sample that is recorded in the run, those of earlier draws first. Each
    vote is in the run before the next battle is shown. The page is served on this machine alone,
    and each link opens it in one browser. Ctrl-C ends it; the same command goes on later.
    """
    from videoautoarena.runs.serve.server.serve import refuse_without_web

    refuse_without_web()
    from videoautoarena.runs.serve.annotate.session import LABELLER, AnnotateRequest, annotate
    from videoautoarena.runs.serve.server.serve import announce

    asked = AnnotateRequest(out, labellers=labellers or (LABELLER,), **typed)

    def begun(session: LabellingSession) -> None:
        for note in session.notes:
            say(note)
        announce(session.links, opens=opens)

    ended = run_async(annotate(asked, begun))
    for line in ended.as_lines():
        say(line)
    say(f"to compare the judge with the labels: arena labels show {safe(str(out))}")
