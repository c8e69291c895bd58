"""`arena bench export` and `arena bench score`: what leaves a bench."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("export", epilog="Example: arena bench export my-bench --to bench.json")
@click.argument("bench", type=click.Path(path_type=Path))
@click.option("--to", required=True, type=click.Path(path_type=Path), help="File to write.")
@click.option("--format", "form", type=click.Choice(["videoautobench"]), default="videoautobench",
              show_default=True, help="Whose file it is to be.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the file.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def export(bench: Path, to: Path, form: str, force: bool, as_json: bool) -> None:
    """Write BENCH as others publish theirs; an imported one comes out as it went in."""
    import json

    from memory.records import SCHEMA
    from runs.benches import open_bench
    from runs.console import safe, tell
    from runs.exports import export_videoautobench
    from runs.reading import counted

    number = export_videoautobench(open_bench(bench), to, force=force)
    found = {"schema": SCHEMA, "file": str(to), "format": form, "questions": number}
    line = f"{safe(str(to))}: {counted(number, 'question')} as a {form} file"
    tell(json.dumps(found) if as_json else line)
