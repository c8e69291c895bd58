"""Fits hold BLAS to one thread, and give it back."""

from __future__ import annotations

from threadpoolctl import threadpool_info

from videoautoarena.scoring.fitting import newton


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_has_one_thread_inside_and_its_own_number_after() -> None:
    # Other tests may have loaded a BLAS of their own since the first fit looked for those it uses.
    newton._controller.cache_clear()
    before = blas_threads()
    for _ in range(2):
        with newton.one_blas_thread():
            assert set(blas_threads()) == {1}
        assert blas_threads() == before
