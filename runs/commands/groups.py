"""Groups of commands whose help says whole sentences."""

from __future__ import annotations

import click


class TellingGroup(click.Group):
    """A group that lists each command with its whole first sentence; click cuts them short."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands as the list of `arena --help` has them."""
        commands = [(name, self.commands[name]) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, _first(command)) for name, command in commands])


def _first(command: click.Command) -> str:
    return " ".join((command.help or "").split("\n\n")[0].split())
