"""Every Python that starts with this folder on PYTHONPATH is sealed before its first line."""

import os

import sealed_sockets  # noqa: F401
import watching

if watching.LOG in os.environ:
    watching.watch(os.environ[watching.LOG])
