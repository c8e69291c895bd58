"""What commands that hold trials have in common: options, progress, last lines, exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from videoautoarena.runs.cli.ending import (
    GOING_ON,
    capped,
    exit_codes,
    gone_words,
    run_async,
    seconds_of,
)
from videoautoarena.runs.cli.main import EXIT_CAP, EXIT_GONE, EXIT_INTERRUPTED, EXIT_VOIDS
from videoautoarena.runs.cli.simulate import names
from videoautoarena.runs.text.terminal import print_result, print_results, safe, say

if TYPE_CHECKING:
    from videoautoarena.memory.store.evidence import TrialKind
    from videoautoarena.runs.trials.runner import Asked
    from videoautoarena.runs.trials.trial import Tally

    _ParamType = click.ParamType[Any]
else:
    # Generic since click 8.4 only, and a subscript would end the older ones.
    _ParamType = click.ParamType

Command = Callable[..., Any]
EXIT_CODES = exit_codes("more than 5 % of the judgings failed, or a judge became unusable")
MOST_FAILED = 0.05
"""Share of judgings that may fail before the exit code says so, as of voids in a run."""
ALL = "all"


class Cases(_ParamType):
    """A number of cases from 1, or the word "all"."""

    name = "n|all"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or "all"."""
        if value == ALL or isinstance(value, int):
            return value
        try:
            count = int(str(value).replace("_", "").replace(",", ""))
        except ValueError:
            count = 0
        if count < 1:
            self.fail(f"{value!r} is neither a number from 1 nor 'all'", param, ctx)
        return count


def judging_options(default_cases: str) -> Callable[[Command], Command]:
    """Return what adds the options that say who judges, how many cases, and at what cost."""

    def add(command: Command) -> Command:
        for option in reversed(_options(default_cases)):
            command = option(command)
        return command

    return add


def _options(default_cases: str) -> tuple[Callable[[Command], Command], ...]:
    return (
        click.option(
            "--cases",
            type=Cases(),
            metavar="N|all",
            help="Number of cases of each kind, sampled with the run's seed.  "
            f"[default: {default_cases}]",
        ),
        click.option(
            "--config",
            type=click.Path(path_type=Path),
            help="Configuration file that declares the judge.  [default: ./arena.toml if it "
            "exists]",
        ),
        *GOING_ON,
        click.option("--retry-failed", is_flag=True, help="Repeat failed judgings."),
        click.option(
            "--allow-offline-judge",
            is_flag=True,
            help="Allow the offline judge to judge answers of real models.",
        ),
        click.option("--plan", is_flag=True, help="Estimate calls and cost; send nothing."),
        click.option("--quiet", "-q", is_flag=True, help="Show no progress."),
        capped,
    )


@dataclass(frozen=True)
class Held:
    """What came of trials, as far as a command must know."""

    code: int
    is_plan: bool = False
    """Nothing was held; the plan is printed."""


def asked_for(kinds: tuple[TrialKind, ...], typed: dict[str, Any]) -> Asked:
    """Return what was typed; where a judge that competes does no harm nobody has to allow it."""
    from videoautoarena.agents.limits.budget import Caps
    from videoautoarena.runs.trials.runner import CASES, Asked
    from videoautoarena.runs.trials.trial import Leave

    given = typed.get("cases")
    return Asked(
        kinds=kinds,
        judges=typed.get("judge") or (),
        cases=None if given == ALL else given or CASES,
        config=typed.get("config"),
        videos=typed.get("videos"),
        concurrency=typed["concurrency"],
        patience_s=seconds_of(typed["patience"]),
        caps=Caps(typed.get("max_usd"), typed.get("max_tokens")),
        retry_failed=typed["retry_failed"],
        leave=Leave(typed["allow_offline_judge"], typed.get("allow_self_judging", True)),
    )


def run_trials(out: Path, asked: Asked, *, plan: bool, quiet: bool, as_json: bool) -> Held:
    """Hold trials, or print what they would take; say how they went."""
    from videoautoarena.runs.console.events import Listeners, nobody
    from videoautoarena.runs.trials.runner import hold_trials, plan_trials, showing

    if plan:
        planned = run_async(plan_trials(out, asked))
        if as_json:
            print_result(json.dumps(planned.as_json(), indent=2))
        else:
            print_results(planned.as_lines())
        return Held(0, is_plan=True)
    with showing(say, is_quiet=quiet) as on_held:
        tally = run_async(
            hold_trials(out, asked, listeners=Listeners(say, nobody), on_held=on_held)
        )
    return Held(_ending(tally))


def _ending(tally: Tally) -> int:
    """Say how trials went and what to type next; return the exit code."""
    from videoautoarena.runs.trials.runner import in_words

    for reason, count in tally.failures.most_common(3):
        say(safe(f"failed, {count}: {reason[:300]}"))
    left = tally.asked - tally.known - tally.held
    if tally.hopeless:
        say(safe(f"stopped, because {tally.hopeless[:300]}"))
        say(
            f"{in_words(tally)}, {left} left; fix this, then repeat the command with --retry-failed"
        )
        return EXIT_VOIDS
    if tally.is_capped:
        say(f"budget cap reached: {in_words(tally)}, {left} left; nothing is lost")
        say("to continue: repeat the command with a higher --max-usd or --max-tokens")
        return EXIT_CAP
    if tally.gone is not None:
        say(f"{gone_words(tally.gone)}: {in_words(tally)}, {left} left; nothing is lost")
        say("to continue, repeat the command")
        return EXIT_GONE
    if tally.is_interrupted:
        say(f"interrupted: {in_words(tally)}, {left} left; to continue, repeat the command")
        return EXIT_INTERRUPTED
    if tally.failed > MOST_FAILED * max(1, tally.held):
        say("to repeat what failed: add --retry-failed")
        return EXIT_VOIDS
    return 0


judge_option = click.option(
    "--judge",
    callback=names,
    metavar="M[,M2..]",
    help="Judges to examine.  [default: the run's judges]",
)
