"""Writes down what a process touches: files it opens, variables it reads, addresses it calls."""

import json
import os
import sys

LOG = "WATCHED_INTO"
"""The variable that names the log; whatever a watched process starts is watched, too."""
_FILES = frozenset({"open", "os.listdir", "os.scandir", "sqlite3.connect"})


def watch(log):
    """Write down from now on, in lines of JSON, all that this process does; for good."""
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(what, value):
        os.write(out, json.dumps([what, value]).encode() + b"\n")

    def hear(event, args):
        place = args[0] if args else None
        if event in _FILES and isinstance(place, (str, bytes, os.PathLike)):
            note("opened", os.path.abspath(os.fsdecode(place)))
        elif event == "socket.connect":
            note("called", str(args[1]))

    class Watched(type(os.environ)):
        """The environment; a copy of all of it, as a child is given, is no reading."""

        def __iter__(self):
            names = list(super().__iter__())
            copying[:] = reversed(names)
            return iter(names)

        def __getitem__(self, name):
            if copying and copying[-1] == name:
                copying.pop()
            else:
                copying.clear()
                note("read", name)
            return super().__getitem__(name)

    copying = []
    os.environ.__class__ = Watched
    sys.addaudithook(hear)
