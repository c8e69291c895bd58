"""`arena freeze`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

if TYPE_CHECKING:
    from runs.wishes import Dimension

_PARTS = ("duration", "category", "topic")


@click.command(
    "freeze", epilog="Example: arena freeze arena-out --to my-bench --size 200 --length-matched"
)
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--to", required=True, type=click.Path(path_type=Path), help="The folder to make.")
@click.option("--size", type=click.IntRange(1), help="Draw so many questions.  [default: all]")
@click.option(
    "--by",
    help="What to draw evenly over, with commas.  [default: duration,category,topic]",
)
@click.option("--per-video", type=click.IntRange(1), help="At most so many about one video.")
@click.option("--distinct", is_flag=True, help="One of questions that say nearly the same.")
@click.option("--leak-filter", is_flag=True, help="None that was won without a frame.")
@click.option(
    "--length-matched", is_flag=True, help="As many won by the longer as by the shorter answer."
)
@click.option("--separating", is_flag=True, help="Rather those that tell models apart.")
@click.option("--embeddings", help="Model that makes topics: provider:model.  [default: words]")
@click.option("--seed", type=int, help="Of the draw.  [default: the run's]")
@click.option("--licence", help="Licence of the bench, for its card.")
@click.option("--with-videos", is_flag=True, help="Copy the videos into the bench.")
@click.option(
    "--videos",
    type=click.Path(path_type=Path),
    help="Where they are.  [default: where they lay]",
)
@click.option("--parquet", is_flag=True, help="Write Parquet and a README for datasets, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(out: Path, to: Path, as_json: bool, by: str | None, **asked: Any) -> None:
    """Turn the run in OUT into a bench folder: questions, selected and rejected answers.

    All battles with a winner, unless options ask for less. Where people labelled a battle, most of
    them say who won, else the judges.
    """
    import json

    from runs.console import tell_lines
    from runs.freeze import Extras, freeze
    from runs.wishes import Wishes

    beside = ("licence", "with_videos", "videos", "parquet")
    extras = Extras(**{name: asked.pop(name) for name in beside})
    wishes = Wishes(**asked, by=_dimensions(by))
    wishes.check()
    frozen = freeze(out, to, wishes, extras)
    if as_json:
        click.echo(json.dumps(frozen.as_json(), indent=2))
    else:
        tell_lines(frozen.as_lines())


def _dimensions(by: str | None) -> tuple[Dimension, ...]:
    from memory.errors import WrongArgument

    names = _PARTS if by is None else tuple(dict.fromkeys(by.split(",")))
    for name in names:
        if name not in _PARTS:
            raise WrongArgument(f"--by {name!r} is none of {', '.join(_PARTS)}")
    return cast("tuple[Dimension, ...]", names)
