"""How battles are rated, as a caller of `import videoautoarena` says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict, get_type_hints

from videoautoarena.memory.records.errors import WrongArgument

if TYPE_CHECKING:
    from videoautoarena.runs.rating.method import Fit, Intervals, Method, Ties, Unwanted


class RatingOptions(TypedDict, total=False):
    """How battles are rated: the options of `arena leaderboard` and `arena rate`."""

    ties: Ties
    """`half` (usual): half a win to both; `davidson`: how likely ties are is fitted."""
    intervals: Intervals
    """`clustered` (usual): by video; `bootstrap`: videos drawn again; `battle`: independent."""
    style: bool
    """Control for answer style (length, markup, named details)."""
    seats: bool
    """Control for position bias."""
    anchor: str | None
    """`MODEL`, which then stands at 1000, or `MODEL=RATING`."""
    simultaneous: bool
    """Simultaneous confidence ranges for ranks."""
    elo: bool
    """Online Elo beside the ratings."""
    pairs: bool
    """Who met whom how often, and who is better with which probability."""
    fragility: bool
    """How few battles hold the first place."""
    seed: int
    """Of the bootstrap and of the order of online Elo, from 0."""
    without: tuple[Unwanted, ...]
    """Decided battles that are left out before the fit: `ties`, `refusals`."""
    reweight: bool
    """Weight battles by inverse pairing probability; only of a run."""
    fit: Fit
    """`firth` (usual): bias-reduced; `mle`: plain maximum likelihood."""


def read_options(given: Mapping[str, Any]) -> Method:
    """Return the method that options ask for.

    Raises:
        WrongArgument: an option that there is not, or a value that it cannot have.
    """
    from pydantic import TypeAdapter, ValidationError

    from videoautoarena.runs.rating.method import Method

    if unknown := sorted(set(given) - set(RatingOptions.__annotations__)):
        there = ", ".join(RatingOptions.__annotations__)
        raise WrongArgument(f"{unknown[0]} is no option of rating; there are {there}")
    kinds = get_type_hints(Method)
    for name, value in given.items():
        try:
            TypeAdapter(kinds[name]).validate_python(value, strict=True)
        except ValidationError as wrong:
            why = wrong.errors(include_url=False)[0]["msg"]
            raise WrongArgument(f"{name} cannot be {value!r}: {why}") from None
    method = Method(**given)
    if method.seed < 0:
        raise WrongArgument(f"seed cannot be {method.seed}: it is a whole number from 0")
    return method
