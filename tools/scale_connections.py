"""Compute what more cores do for the connections of one stream, from measurements of `benchmarks/connections.py`.

The walk over a stream is one core's; facts and judging are spread over all. So the time on n cores is the walk, and the
rest divided by n, as long as no group of connections is larger than a core's share.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

BEGIN: Final = "<!-- connections: made by `python -m tools.scale_page` -->"
END: Final = "<!-- end of connections -->"
CORES: Final = (1, 2, 8, 64, 512)
_EVEN, _SKEWED = "even", "skewed"
_SERVERS: Final = {
    "served": "all of them with one server",
    "sending": "one server sends to all others, in transactions",
}
"""The corpora with a server, and what they are."""


def seconds(found: Mapping[str, Any], cores: int) -> float:
    """Return the seconds on so many cores of what was measured in parts."""
    spent = {name: sum(each) for name, each in found["spent"].items()}
    return float(spent["walk"] + (spent["facts"] + spent["judge"]) / cores)


def section(figures: Mapping[str, Any]) -> str:
    """Return the computed part as Markdown."""
    order, parts = figures[f"{_EVEN}, in order"], figures[f"{_EVEN}, in parts"]
    alone, count = sum(order["spent"]["in order"]), parts["packets"]
    out = [
        f"Measured {figures['measured']} in one process, in core-seconds: {count:,} packets "
        f"({order['bytes'] / 1e6:,.0f} MB) between {figures['pairs']} pairs of hosts, in a rotated set of four files. "
        "Those on more than one core are computed.",
        "",
        "| stage | core-seconds | of a million packets | spread over |",
        "|---|---|---|---|",
        f"| one core judges in order | {alone:.2f} | {alone / count * 1e6:.2f} | one core |",
    ]
    where = {"walk": "one core a stream", "facts": "ranges", "judge": "groups of connections"}
    for name, over in where.items():
        spent = sum(parts["spent"][name])
        out.append(f"| in parts: {name} | {spent:.2f} | {spent / count * 1e6:.2f} | {over} |")
    out += ["", "| cores | seconds | packets/s of one stream | times one core in order |", "|---|---|---|---|"]
    for cores in CORES:
        took = alone if cores == 1 else seconds(parts, cores)
        out.append(f"| {cores} | {took:.2f} | {count / took:,.0f} | {alone / took:.2f} |")
    out += _servers(figures)
    skewed = figures[f"{_SKEWED}, in parts"]
    memory = max(figures[name]["memory"] for name in figures if ", " in name)
    out += [
        "",
        f"The most memory of a process of its own, without the pages of captures that it has mapped, was "
        f"{memory / 2**20:,.0f} MiB. If one pair of hosts has nine tenths of all packets, "
        + (
            f"one core judges the stream ({skewed['in_order'][0]}), after a walk over it; its process had "
            if skewed["in_order"]
            else "the process had "
        )
        + f"{skewed['memory'] / 2**20:,.0f} MiB.",
    ]
    return "\n".join(out)


def _servers(figures: Mapping[str, Any]) -> list[str]:
    """Return the rows of the corpora with a server, as far as they were measured."""
    names = [name for name in _SERVERS if f"{name}, in parts" in figures]
    if not names:
        return []
    out = [
        "",
        "The same number of packets of one server, whose connections are parted by its clients:",
        "",
        "| stream | one core in order, s | walk, s | facts and judge, s | times one core in order, on 2 cores | on 8 |",
        "|---|---|---|---|---|---|",
    ]
    for name in names:
        order, parts = figures[f"{name}, in order"], figures[f"{name}, in parts"]
        alone = sum(order["spent"]["in order"])
        if parts["in_order"]:
            out.append(f"| {_SERVERS[name]} | {alone:.2f} | one core judges it: {parts['in_order'][0]} | | | |")
            continue
        spent = {stage: sum(each) for stage, each in parts["spent"].items()}
        times = " | ".join(f"{alone / seconds(parts, cores):.2f}" for cores in (2, 8))
        rest = spent["facts"] + spent["judge"]
        out.append(f"| {_SERVERS[name]} | {alone:.2f} | {spent['walk']:.2f} | {rest:.2f} | {times} |")
    return out


def with_section(text: str, figures: Mapping[str, Any]) -> str:
    """Return the page with a new computed part. Raises ValueError for a page without the marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError("the page has no marks between which the figures of connections go")
    return f"{before}{BEGIN}\n{section(figures)}\n{END}{after}"
