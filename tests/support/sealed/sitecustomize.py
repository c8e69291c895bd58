"""Every Python that starts with this folder on PYTHONPATH is sealed before its first line."""

import sealed_sockets  # noqa: F401
