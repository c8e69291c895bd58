"""`arena labels`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from runs.commands.groups import TellingGroup

if TYPE_CHECKING:
    from runs.labels_sample import Part


@click.group(
    "labels",
    cls=TellingGroup,
    epilog="Example: arena labels sample arena-out --n 200 --to labels.csv",
)
def command() -> None:
    """Let people judge battles, and hold the judge against them."""


@command.command(
    "import", epilog="Example: arena labels import labels.csv arena-out --labeller anna"
)
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--labeller", help="Who labelled the rows that do not say it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def import_(file: Path, out: Path, labeller: str | None, as_json: bool) -> None:
    """Take what people say of battles from FILE into the run in OUT: all of it, or nothing.

    FILE is CSV, TSV, JSON lines or Parquet with battle, labeller and verdict (a, b, tie, tie_good
    or tie_bad), and, where they were asked for, the four standards by their names.
    """
    import json

    from memory.records import SCHEMA
    from runs.console import safe, say, tell
    from runs.labels_import import import_labels

    found = import_labels(out, file, labeller=labeller)
    say(f"how far people and judge agree: arena labels show {safe(str(out))}")
    tell(json.dumps({"schema": SCHEMA, **found._asdict()}) if as_json else found.as_line())


@command.command("sample", epilog="Example: arena labels sample arena-out --n 200 --to labels.csv")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--to", required=True, type=click.Path(path_type=Path),
              help="File to write: .csv, .tsv or .jsonl.")  # fmt: skip
@click.option("--n", "number", type=click.IntRange(1), default=200, show_default=True,
              help="How many battles to draw.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
              help="Another seed draws others.")  # fmt: skip
@click.option("--by", type=click.Choice(["pair", "video", "category", "duration"]),
              help="Draw as many of every pair of models, or of every such part, as there are of "
              "any other.")  # fmt: skip
@click.option("--rest", is_flag=True, help="Draw nothing; write what was drawn and has no label.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def sample(
    out: Path, to: Path, number: int, seed: int, by: str | None, rest: bool, as_json: bool
) -> None:
    """Draw battles of the run in OUT at random for people to label; models are not named."""
    import json

    from memory.records import SCHEMA
    from runs.console import safe, say, tell
    from runs.labels_sample import draw_sample, write_rest

    if rest:
        found = write_rest(out, to)
    else:
        found = draw_sample(out, to, number=number, seed=seed, by=cast("Part | None", by))
    say("a person fills in labeller and verdict: a, b, tie_good, tie_bad or tie")
    say(f"then: arena labels import {safe(str(to))} {safe(str(out))}")
    tell(json.dumps({"schema": SCHEMA, **found._asdict()}) if as_json else found.as_line(to))


@command.command("show", epilog="Example: arena labels show arena-out")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def show(out: Path, as_json: bool) -> None:
    """Tell how many labels the run in OUT has, by whom, and how far its judge agrees."""
    import json

    from runs.console import out as console
    from runs.labels_show import render_labels, show_labels
    from runs.reading import open_run

    with open_run(out) as run:
        shown = show_labels(run)
    if as_json:
        click.echo(json.dumps(shown, indent=2))
    else:
        console().print(render_labels(shown))
