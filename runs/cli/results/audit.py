"""Judging the judge: `audit`, `rejudge` and `labels`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from videoautoarena.runs.cli.program import ending, options
from videoautoarena.runs.formats.terminal import safe, say

if TYPE_CHECKING:
    from videoautoarena.memory.store.evidence import TrialKind
    from videoautoarena.runs.analysis.audit.rejudge import RejudgeReport
    from videoautoarena.runs.analysis.audit.report import AuditReport

EXIT_CODES = ending.exit_codes("more than 5 % of the judgings failed, or a judge became unusable")


def read_cases(text: str) -> int | None:
    """Return a number of cases, from 1; None for "all"."""
    if text == "all":
        return None
    try:
        count = int(text.replace("_", "").replace(",", ""))
    except ValueError:
        count = 0
    if count < 1:
        raise click.BadParameter(f"{text!r} is neither a number from 1 nor 'all'")
    return count


def judging_options(cases: str) -> options.Option:
    """Return the options of how many cases are judged, and at what cost."""
    return options.together(
        options.string(
            "--cases N|all",
            "Number of cases of each kind, sampled with the run's seed.",
            reads=read_cases,
            default=cases,
        ),
        options.config_option(" that declares the judge"),
        options.MOVED,
        options.TRUST,
        options.paid("Repeat failed judgings.", options.LEAVE),
    )


@options.command(
    "arena audit arena-out --json | jq '.findings[].sentence'",
    "arena audit arena-out --trials --plan",
    "arena audit arena-out --trials attack --judge openai:gpt-4o --cases 200 --max-usd 5",
    codes=EXIT_CODES,
)
@options.OUT
@options.string(
    "--trials [KINDS]",
    "Run trials first, which call the judge: repeat (the same case again), attack (answers "
    "that address the judge), constant (answers without content), truth (clips with a "
    "known right answer).  [all four if none is named]",
    reads=lambda text: "all" if text == "all" else [kind.strip() for kind in text.split(",")],
    # With flag_value, this lets click take the option with and without a value.
    is_flag=False,
    flag_value="all",
)
@options.listed("--judge M[,M2..]", "Judges to examine.  [default: the run's judges]")
@judging_options("100")
@options.AS_JSON
def audit_command(
    out: Path,
    *,
    trials: Sequence[TrialKind] | Literal["all"] | None,
    plan: bool,
    **typed: Any,
) -> int:
    """Report on the judges of OUT: position and length bias, ties, panel agreement, canaries.

    Without --trials, the report uses only what the run has stored, and no model is called. Trials
    change no battle. Their results are stored in the run and appear in every later audit.
    """
    from videoautoarena.runs.analysis.audit.report import audit as audited
    from videoautoarena.runs.api.analyses import audit
    from videoautoarena.runs.views.results.audit import audit_report

    def show(found: AuditReport) -> None:
        options.print_viewed(found.to_json(), lambda: audit_report(found))

    if trials is not None:
        return ending.finished(audit.job(out, trials=trials, **typed), show, plan=plan)
    options.refuse_typed("needs --trials", lambda name: name not in ("out", "as_json"))
    show(audited(out))
    return 0


@options.command(
    "arena rejudge arena-out --judge openai:gpt-4o --cases 200 --plan",
    "arena rejudge arena-out --judge strict --config arena.toml --max-usd 5",
    codes=EXIT_CODES,
)
@options.OUT
@options.listed(
    "--judge M[,M2..]",
    "Judges to use: provider:model, or a name from arena.toml or the run.",
    required=True,
)
@judging_options("all")
@options.flag("--allow-self-judging", "Allow a contestant to judge its own battles.")
@options.AS_JSON
def rejudge_command(out: Path, *, plan: bool, **typed: Any) -> int:
    """Judge the answers of the run in OUT with another judge and report the agreement.

    No battle of the run changes. Each judge is compared with the run separately.
    """
    from videoautoarena.runs.api.analyses import rejudge
    from videoautoarena.runs.views.results.audit import rejudged_reports

    def show(found: RejudgeReport) -> None:
        if options.is_json():
            options.print_json(found.to_json())
        else:
            options.print_views(rejudged_reports(found))

    return ending.finished(rejudge.job(out, **typed), show, plan=plan)


@options.group("arena labels sample arena-out --n 200 --to labels.csv")
def labels_command() -> None:
    """Collect human labels and compare the judge with them."""


@labels_command.member("arena labels import labels.csv arena-out --labeller anna")
@options.FILE
@options.OUT
@options.string("--labeller", "Labeller of rows that name none.")
@options.AS_JSON
def import_(file: Path, out: Path, labeller: str | None) -> None:
    """Import human labels from FILE into the run in OUT, all or none.

    FILE is CSV, TSV, JSON lines or Parquet with the columns battle, labeller and verdict (a, b,
    tie, tie_good or tie_bad), and optionally the four judging standards by name.
    """
    from videoautoarena.runs.analysis.audit.label_import import import_labels

    found = import_labels(out, file, labeller=labeller)
    say(f"to compare the judge with them: arena labels show {safe(str(out))}")
    options.print_line(found._asdict(), found.as_line())


@labels_command.member("arena labels sample arena-out --n 200 --to labels.csv")
@options.OUT
@options.path("--to", "File to write (.csv, .tsv or .jsonl).", required=True)
@options.whole("--n", "Number of battles to draw.", "number", least=1, default=200)
@options.seed()
@options.choice(
    "--by",
    ["pair", "video", "category", "duration"],
    "Stratify the sample: equally many battles of each pair of models, video, category or "
    "duration.",
    is_open=True,
)
@options.flag("--rest", "Draw nothing; write the sampled battles that have no label yet.")
@options.AS_JSON
def sample(out: Path, to: Path, *, rest: bool, **drawn: Any) -> None:
    """Draw a random sample of battles for people to label; model names are hidden."""
    from videoautoarena.runs.analysis.audit.label_sample import draw_sample, write_rest

    found = write_rest(out, to) if rest else draw_sample(out, to, **drawn)
    say("fill in labeller and verdict (a, b, tie_good, tie_bad or tie)")
    say(f"then: arena labels import {safe(str(to))} {safe(str(out))}")
    options.print_line(found._asdict(), found.as_line(to))


@labels_command.member("arena labels show arena-out")
@options.OUT
@options.AS_JSON
def show(out: Path) -> None:
    """Show the number of labels by labeller, and how far the judge agrees with them."""
    from videoautoarena.runs.analysis.audit.human_agreement import show_labels
    from videoautoarena.runs.run.rundir.reader import open_run
    from videoautoarena.runs.views.results.audit import labels_report

    with open_run(out) as run:
        shown = show_labels(run)
    options.print_viewed(shown.to_json(), lambda: labels_report(shown))
