"""All-pairs combinations: few rows that together hold every pair of options of two factors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

Choice = tuple[str, str]  # factor, option
Row = dict[str, str]
Forbids = Callable[[Choice, Choice], bool]


def pairs_of(factors: Mapping[str, Sequence[str]], forbids: Forbids) -> Iterator[frozenset[Choice]]:
    """Yield every permitted pair of options of two factors."""
    for one, other in combinations(factors, 2):
        for a in factors[one]:
            for b in factors[other]:
                if not forbids((one, a), (other, b)):
                    yield frozenset(((one, a), (other, b)))


def pairs_in(row: Row) -> Iterator[frozenset[Choice]]:
    """Yield every pair that a row holds."""
    return (frozenset(pair) for pair in combinations(row.items(), 2))


def all_pairs(factors: Mapping[str, Sequence[str]], forbids: Forbids) -> list[Row]:
    """Return rows with an option of every factor that together hold each permitted pair; deterministic.

    factors: names to options, the plain option first. forbids: returns True if two options, in either order, exclude
    each other. Raises ValueError if that leaves a factor without an option.
    """
    left = dict.fromkeys(pairs_of(factors, forbids))
    rows: list[Row] = []
    while left:
        row = dict(next(iter(left)))
        # Factors with most options first, because they have the most pairs to cover.
        for factor in sorted((name for name in factors if name not in row), key=lambda name: -len(factors[name])):
            allowed = [
                option
                for option in factors[factor]
                if not any(forbids((factor, option), chosen) for chosen in row.items())
            ]
            if not allowed:
                raise ValueError(f"no option of {factor} goes with {row}")
            row[factor] = max(
                allowed, key=lambda option: sum(frozenset(((factor, option), one)) in left for one in row.items())
            )
        for pair in pairs_in(row):
            left.pop(pair, None)
        rows.append({factor: row[factor] for factor in factors})
    return rows


def simplest(row: Row, factors: Mapping[str, Sequence[str]], still: Callable[[Row], bool]) -> Row:
    """Make as many options plain as possible while `still` accepts the row, in one pass with one try a factor."""
    for factor, options in factors.items():
        plainer = {**row, factor: options[0]}
        if row[factor] != options[0] and still(plainer):
            row = plainer
    return row
