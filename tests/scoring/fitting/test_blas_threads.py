"""Fits hold BLAS to one thread, and give it back."""

from __future__ import annotations

from threadpoolctl import threadpool_info

from videoautoarena.scoring.fitting.newton import one_blas_thread


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_has_one_thread_inside_and_its_own_number_after() -> None:
    before = blas_threads()
    with one_blas_thread():
        assert set(blas_threads()) == {1}
    assert blas_threads() == before
