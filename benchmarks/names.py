"""How long a queue name takes: our expressions, Lark with LALR where the grammar allows and with Earley, and `abnf`.

python benchmarks/names.py [ROUNDS]

Median microseconds of one run, and how they compare. `abnf` is of the `dev` extra.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median

import abnf
from lark import Lark

from conformance.grammar.names import FORMAT_NAME, MULTIPLE_ELEMENT, LarkText, bulk, parser_of, to_lark
from conformance.grammar.sources import RULES, load
from tools.abnf_text import to_abnf

G = "0123ABCD-4567-89ab-CDEF-0123456789ab"
SINGLE = {
    "direct": "DIRECT=OS:host.example.com\\private$\\orders",
    "direct, TCP": "DIRECT=TCP:10.0.0.1\\orders;JOURNAL",
    "direct, HTTP": "DIRECT=HTTP://host:80/msmq/private$/orders",
    "public": f"PUBLIC={G}",
    "private": f"PRIVATE={G}\\1f",
    "list": f"DL={G}@example.com",
    "multicast": "MULTICAST=234.1.1.1:1801",
}
FIVE = ",".join(SINGLE[name] for name in ("direct", "public", "private", "list", "multicast"))
# A kind of name alone, for a parser that finds no LALR table for all of them together.
ALONE = {"public": "PublicName", "private": "PrivateName", "list": "DistributionListName", "multicast": "Multicast"}
WANTED = {"one": 3.0, "five": 8.0}


def measure(parse: Callable[[str], object], text: str, rounds: int) -> float:
    """Median microseconds of a parse; each sample is of as many as take a while."""
    parse(text)
    started = time.perf_counter()
    parse(text)
    times = max(1, int(0.0005 / max(time.perf_counter() - started, 1e-7)))
    samples = []
    for _ in range(rounds):
        started = time.perf_counter()
        for _ in range(times):
            parse(text)
        samples.append((time.perf_counter() - started) / times * 1e6)
    return median(samples)


def second_parser(start: str) -> Callable[[str], object]:
    """`abnf` with the same grammar."""

    class Names(abnf.Rule):
        pass

    Names.load_grammar(to_abnf(load(), start))
    return Names(start).parse_all


def lark(start: str, parser: str) -> Lark | None:
    """Lark with the same grammar; None where it has no LALR table without conflict."""
    made = to_lark(load(), start)
    if parser == "lalr" and made.parser != "lalr":
        return None
    return parser_of(LarkText(made.text, made.start, parser, made.why))


def main(rounds: int) -> None:
    """Print the table."""
    ours = bulk()
    one, many = RULES[FORMAT_NAME], RULES[MULTIPLE_ELEMENT]
    rows: list[tuple[str, str, Callable[[str], object], str, str]] = [
        *((name, text, ours.format_name, one, ALONE.get(name, one)) for name, text in SINGLE.items()),
        ("five elements", FIVE, ours.multiple, many, many),
    ]
    larks: dict[tuple[str, str], Lark | None] = {}
    seconds: dict[str, Callable[[str], object]] = {}
    print(f"{'':16}{'ours':>10}{'LALR':>12}{'Earley':>14}{'abnf':>14}   microseconds, and times ours")
    for name, text, parse, start, alone in rows:
        for key in ((alone, "lalr"), (start, "earley")):
            if key not in larks:
                larks[key] = lark(*key)
        if start not in seconds:
            seconds[start] = second_parser(start)
        us = measure(parse, text, rounds)
        table, earley = larks[alone, "lalr"], larks[start, "earley"]
        others = [measure(each.parse, text, 5) if each else None for each in (table, earley)]
        others.append(measure(seconds[start], text, 5))
        shown = [f"{each:9.1f} {each / us:4.0f}x" if each is not None else f"{'conflict':>15}" for each in others]
        print(f"{name:16}{us:10.2f}{''.join(shown)}")
        wanted = WANTED["five" if start == many else "one"]
        if us > wanted:
            print(f"{'':16}more than the {wanted} microseconds aimed at")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 51)
