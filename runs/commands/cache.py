"""`arena cache`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runs.commands.groups import TellingGroup

if TYPE_CHECKING:
    from runs.cache import Wish


@click.group("cache", cls=TellingGroup, invoke_without_command=True, epilog="Example: arena cache")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Tell what the frames that were decoded take on disk, by video."""
    if context.invoked_subcommand is not None:
        return
    import json
    import time

    from runs.cache import held
    from runs.console import tell, tell_lines

    found = held()
    if as_json:
        tell(json.dumps(found.as_json(), indent=2))
        return
    tell_lines(found.as_lines(time.time()))


@command.command("clear", epilog="Example: arena cache clear --older-than 30d --yes")
@click.argument("videos", nargs=-1)
@click.option("--older-than", metavar="AGE", help="Only what was not used for so long: 30d, 12h.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def clear(videos: tuple[str, ...], older_than: str | None, yes: bool, as_json: bool) -> None:
    """Remove frames from the cache, of VIDEOS by id or of all; they can be decoded again."""
    import json

    from memory.records import SCHEMA
    from runs.cache import Wish, seconds_of, told_bytes, wished
    from runs.cache import clear as remove
    from runs.console import say, tell
    from runs.reading import counted

    wish = Wish(videos, None if older_than is None else seconds_of(older_than))
    entries = wished(wish)
    size = told_bytes(sum(entry.size_bytes for entry in entries))
    if (
        entries
        and not yes
        and not _agreed(f"{_meant(wish)}: {counted(len(entries), 'file')}, {size}")
    ):
        say("nothing was removed")
        raise click.exceptions.Exit(1)
    gone = remove(entries)
    freed = sum(entry.size_bytes for entry in gone)
    if as_json:
        tell(json.dumps({"schema": SCHEMA, "removed": len(gone), "bytes": freed}))
        return
    tell(f"removed {counted(len(gone), 'file')}, {told_bytes(freed)}")


def _meant(wish: Wish) -> str:
    those = "frames of these videos" if wish.videos else "all frames"
    return f"remove {those} that were not used lately" if wish.older_s else f"remove {those}"


def _agreed(what: str) -> bool:
    """Ask whether to go on; where nobody can be asked, say what to type instead.

    Raises:
        BadInput: nobody can be asked.
    """
    import sys

    from memory.errors import BadInput

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(f"would {what}; pass --yes to do it")
    return click.confirm(f"{what}?", err=True)
