"""One BLAS thread for small matrices: with two, a fit of 200 models took a hundred times longer."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import scipy.linalg  # noqa: F401  its BLAS must be loaded before the controller looks for it
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]


def one_blas_thread() -> AbstractContextManager[Any]:
    """Hold every BLAS of this process to one thread inside the `with` block."""
    limits: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limits


@cache
def _controller() -> ThreadpoolController:
    # Looking for the loaded libraries takes milliseconds, more than a fit.
    return ThreadpoolController()
