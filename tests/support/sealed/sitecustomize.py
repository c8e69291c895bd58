"""Every Python that starts with this folder on PYTHONPATH is sealed before its first line."""

import os
import sys

import sealed_sockets  # noqa: F401
import watching


class _NoPandas:
    """Finds no pandas: only sqlite_utils asks for it of what we need, where it happens to lie.

    Here it lies beside a package of the tests, and would add a third to the start of every command
    that a test runs. A None among the modules would do, but scikit-learn takes it for pandas.
    """

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)


sys.meta_path.insert(0, _NoPandas())
if watching.LOG in os.environ:
    watching.watch(os.environ[watching.LOG])
