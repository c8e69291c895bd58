"""Newton steps up a likelihood, plain or penalised, none of them downhill, on one BLAS thread."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.linalg  # noqa: F401  its BLAS must be loaded before the controller looks for it
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from videoautoarena.scoring.fitting.counts import Floats


def one_blas_thread() -> AbstractContextManager[Any]:
    """Hold every BLAS of this process to one thread inside the `with` block."""
    # With two threads on a busy machine a fit of 200 models took 1.5 to 4 s instead of .016.
    limits: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limits


@cache
def _controller() -> ThreadpoolController:
    # Finding the loaded libraries takes milliseconds, longer than a fit.
    return ThreadpoolController()


Likelihood = Literal["firth", "mle"]
"""Bias-reduced by Firth's penalty, or plain maximum likelihood."""
_CAUTIOUS: dict[Likelihood, float] = {"mle": 2.0, "firth": 1e-6}
"""Nats; steps shorter than this are taken without comparing heights, which are rounded."""
# Nats that a penalised step may be long: what it divides by is only near the true curvature.
_LONGEST = 3.0
_KEPT, _FAST = 6, 0.1
"""Steps that are learnt from, and the ratio of a step to the one before above which they are."""
# Share of a height within which a fall may be rounding.
_ROUNDING = 1e-13


class LikelihoodPoint(NamedTuple):
    """The likelihood at some parameters, with its slope and curvature."""

    height: float
    """The log-likelihood with its penalties, up to a constant."""
    gradient: Floats
    curvature: Floats
    """What the gradient is divided by for a step, shape (k, k)."""


class _StepMemory(NamedTuple):
    """The last steps taken, and how the next step changed with each: Anderson's acceleration.

    Source: Walker and Ni (2011), SIAM J. Numer. Anal. 49.
    """

    moves: list[Floats]
    turns: list[Floats]

    def keep(self, move: Floats, turn: Floats) -> None:
        """Add a step, and forget the oldest one."""
        for kept, new in ((self.moves, move), (self.turns, turn)):
            kept.append(new)
            del kept[:-_KEPT]

    def leap(self, step: Floats) -> Floats | None:
        """Return the step to where the kept steps put the end; None where they tell of none."""
        if not self.moves:
            return None
        turns = np.array(self.turns).T
        moves = np.array(self.moves).T
        mix = np.linalg.lstsq(turns, step, rcond=1e-10)[0]
        far = np.asarray(step - (moves + turns) @ mix, dtype=np.float64)
        return far if np.abs(far).max() < _LONGEST else None


def climb(
    look: Callable[[Floats], LikelihoodPoint],
    start: Floats,
    *,
    likelihood: Likelihood,
    steps: int,
    tolerance: float,
) -> Floats:
    """Return the parameters at the top, reached where none changes by more than `tolerance`.

    `look` returns the likelihood at parameters and may raise ArithmeticError where floats end. A
    plain likelihood has its exact curvature, and steps of any length are tried; a penalised one has
    a near one, so steps are bounded and old steps are learnt from.

    Raises:
        ArithmeticError: the parameters run away, or do not settle.
    """
    phi = start
    here = look(start)
    memory = _StepMemory([], [])
    step = _solve(here)
    size = np.inf
    for _ in range(steps):
        # The last step is solved for already, so it is taken.
        if float(np.abs(step).max()) < tolerance:
            return np.asarray(phi + step, dtype=np.float64)
        # Where steps shrink tenfold each time, learning from old ones would only cost time.
        is_slow = likelihood == "firth" and float(np.abs(step).max()) > _FAST * size
        leap = memory.leap(step) if is_slow else None
        there = None if leap is None else _try(look, phi + leap)
        if leap is not None and there is not None and there.height >= _floor(here):
            reached = phi + leap
        else:
            reached, there = _climb(look, phi, step=step, here=here, likelihood=likelihood)
        turned = _solve(there)
        memory.keep(reached - phi, turned - step)
        size = float(np.abs(step).max())
        phi = reached
        here = there
        step = turned
    raise ArithmeticError("strengths did not settle; some model was never beaten or never won")


def factorise(matrix: Floats) -> Floats:
    """Return the upper Cholesky factor; ArithmeticError where there is none."""
    factor, failed = dpotrf(matrix)
    if failed:
        raise ArithmeticError(
            "strengths or terms run away; some model was never beaten or never won"
        )
    return np.asarray(factor, dtype=np.float64)


def invert(factor: Floats) -> Floats:
    """Return the inverse of the matrix whose factor it is."""
    # LAPACK fills the upper triangle alone.
    upper = dpotri(factor)[0]
    return np.asarray(np.triu(upper) + np.triu(upper, 1).T, dtype=np.float64)


def _climb(
    look: Callable[[Floats], LikelihoodPoint],
    phi: Floats,
    *,
    step: Floats,
    here: LikelihoodPoint,
    likelihood: Likelihood,
) -> tuple[Floats, LikelihoodPoint]:
    """Take the step, halved for as long as it leads downhill."""
    size = float(np.abs(step).max())
    share = min(1.0, _LONGEST / size) if likelihood == "firth" else 1.0
    while True:
        reached = phi + share * step
        last = share * size < _CAUTIOUS[likelihood]
        there = look(reached) if last else _try(look, reached)
        if there is not None and (last or there.height >= _floor(here)):
            return reached, there
        share /= 2.0


def _floor(here: LikelihoodPoint) -> float:
    return here.height - _ROUNDING * abs(here.height)


def _solve(here: LikelihoodPoint) -> Floats:
    return np.asarray(dpotrs(factorise(here.curvature), here.gradient)[0], dtype=np.float64)


def _try(look: Callable[[Floats], LikelihoodPoint], phi: Floats) -> LikelihoodPoint | None:
    """Return the likelihood at these parameters; None where they are too far apart for floats."""
    try:
        return look(phi)
    except ArithmeticError:
        return None
