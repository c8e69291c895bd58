"""Every Python that starts with this folder on PYTHONPATH is sealed before its first line."""

import sys

import sealed_sockets  # noqa: F401

# Of our own packages only sqlite_utils asks for it, where it happens to lie: here beside a package
# of the tests. It would add a third to the start of every command that a test runs.
sys.modules["pandas"] = None
