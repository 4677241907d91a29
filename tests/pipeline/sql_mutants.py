"""Texts near to queries and attacks: some of their parts left out, doubled, moved or replaced, from a seed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from sql_attacks import ANSWERED, ATTACKS

_PART = re.compile(r"\s+|'(?:[^'\\]|\\.)*'|`[^`]*`|\w+|/\*|\*/|--|\|>|::|.", re.DOTALL)
_FILE = "text.`/f`"
POOL = (
    "from", "select", "join", "cross join", "table", "lateral", "lateral view", "where", "group by", "order by", "on",
    "using", "union", "union all", "except", "minus", "values", "with", "as", "in", "exists", "is distinct from",
    "is not distinct from", "distinct", "is", "window", "w", "pivot", "unpivot", "tablesample (1 rows)", "having",
    "limit", "extract(", "trim(", "substring(", "reflect(", "abs(", "range(", "explode(", "(", ")", ",", ".", ";",
    "*", "|>", "--", "/*", "*/", "/*+", "::", ":", "->", "1", "1.", ".5", "1a", "'a'", "r'\\'", "x", "`x`", "verdicts",
    "captures", _FILE, f", {_FILE}", f"({_FILE})", f"({_FILE} y)", f"from {_FILE}", f"join {_FILE}", "elsewhere",
    "outer", "by", "all", "end", "case", "when", "then", "null", "year", "both", "for", "over", "rows", "map", "reduce",
    "insert into", "identifier('x')", "stream", "recursive", "as of", "version as of 1", "count(x)", "\n", "[",
)  # fmt: skip


def mutants(seed: int, many: int) -> Iterator[str]:
    """Yield so many texts."""
    chance = random.Random(seed)
    whole = [text.format(file="/f", folder="/g") for text in (*ATTACKS, *ANSWERED)]
    for _ in range(many):
        parts = [part for part in _PART.findall(chance.choice(whole)) if part.strip()]
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(parts) + 1)
            kind = chance.randrange(5)
            if kind == 0 and parts:
                del parts[min(at, len(parts) - 1)]
            elif kind == 1 and parts:
                parts[min(at, len(parts) - 1)] = chance.choice(POOL)
            elif kind == 2 and parts:
                parts.insert(at, chance.choice(parts))
            elif kind == 3:
                other = _PART.findall(chance.choice(whole))
                start = chance.randrange(len(other))
                parts[at:at] = [part for part in other[start : start + chance.randint(1, 8)] if part.strip()]
            else:
                parts.insert(at, chance.choice(POOL))
        yield (" " if chance.random() < 0.9 else chance.choice(["", "  ", "\n"])).join(parts)
