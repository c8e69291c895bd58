"""`arena bench export`: what leaves a bench."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from runs.benches import OpenBench


@click.command(
    "export",
    epilog="""\b
Examples:
  arena bench export my-bench --to bench.json
  arena bench export my-bench --format inspect --to logs
  arena bench export my-bench --format arena-hard --to data""",
)
@click.argument("bench", type=click.Path(path_type=Path))
@click.option("--to", required=True, type=click.Path(path_type=Path),
              help="File to write, of inspect and arena-hard a folder.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["videoautobench", "inspect", "arena-hard"]),
              default="videoautobench", show_default=True,
              help="Whose file it is to be; of inspect a log a result.")  # fmt: skip
@click.option("--judge", help="Of inspect and arena-hard: only what this judge said.")
@click.option("--frames", type=click.IntRange(0, 64), default=0, show_default=True, metavar="N",
              help="Of inspect: so many thumbnails of frames in every sample.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the file.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def export(bench: Path, to: Path, form: str, as_json: bool, **given: Any) -> None:
    """Write BENCH as others publish theirs; an imported one comes out as it went in.

    For Inspect's viewer it writes what models came to on it, for arena-hard what they came to
    against an anchor.
    """
    import json

    from memory.records import SCHEMA
    from runs.benches import open_bench
    from runs.console import say, tell

    if form == "videoautobench" and given["judge"] is not None:
        raise click.UsageError("--judge is for --format inspect and arena-hard")
    if form != "inspect" and given["frames"]:
        raise click.UsageError("--frames is for --format inspect")
    written = {"inspect": _logs, "arena-hard": _folder, "videoautobench": _file}[form]
    found, lines = written(open_bench(bench), to, **given)
    for line in lines[1:]:
        say(line)
    tell(json.dumps({"schema": SCHEMA, "format": form, **found}) if as_json else lines[0])


Exported = tuple[dict[str, Any], list[str]]


def _file(bench: OpenBench, to: Path, *, force: bool, **_: Any) -> Exported:
    from runs.console import safe
    from runs.exports import export_videoautobench
    from runs.reading import counted

    number = export_videoautobench(bench, to, force=force)
    line = f"{safe(str(to))}: {counted(number, 'question')} as a videoautobench file"
    return {"file": str(to), "questions": number}, [line]


def _logs(bench: OpenBench, to: Path, **given: Any) -> Exported:
    from runs.commands.export import on_terminal
    from runs.inspect_bench import export_results

    written = export_results(bench, to, **given, tell=on_terminal)
    files = [file.name for file in written.files]
    return {"folder": str(to), "files": files, "samples": written.samples}, written.as_lines()


def _folder(bench: OpenBench, to: Path, *, judge: str | None, force: bool, **_: Any) -> Exported:
    from runs.anchor_exports import export_arena_hard
    from runs.console import safe

    exported = export_arena_hard(bench, to, judge=judge, force=force)
    return exported.as_json(), [safe(exported.as_line())]
