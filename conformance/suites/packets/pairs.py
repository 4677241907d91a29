"""All pairs: few rows that hold every two options of every two factors together at least once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

Choice = tuple[str, str]  # factor, option
Row = dict[str, str]
Forbids = Callable[[Choice, Choice], bool]


def pairs_of(factors: Mapping[str, Sequence[str]], forbids: Forbids) -> Iterator[frozenset[Choice]]:
    """Every pair of options of two factors that may stand together."""
    for one, other in combinations(factors, 2):
        for a in factors[one]:
            for b in factors[other]:
                if not forbids((one, a), (other, b)):
                    yield frozenset(((one, a), (other, b)))


def pairs_in(row: Row) -> Iterator[frozenset[Choice]]:
    """Every pair a row holds."""
    return (frozenset(pair) for pair in combinations(row.items(), 2))


def all_pairs(factors: Mapping[str, Sequence[str]], forbids: Forbids) -> list[Row]:
    """Rows with an option of every factor, which hold each pair that may stand together; the same ones every time.

    factors: names to options, the first of which is the plain one. forbids: whether two options exclude each other, in
    either order of its arguments. Raises ValueError where what is forbidden leaves a factor nothing to choose.
    """
    left = dict.fromkeys(pairs_of(factors, forbids))
    rows: list[Row] = []
    while left:
        row = dict(next(iter(left)))
        # The factors with most options first: they have most pairs to bring along.
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
    """The row with as many plain options as it can have for `still` to be true of it; one pass, one try a factor."""
    for factor, options in factors.items():
        plainer = {**row, factor: options[0]}
        if row[factor] != options[0] and still(plainer):
            row = plainer
    return row
