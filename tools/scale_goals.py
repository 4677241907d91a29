"""Say which goals the figures of `benchmarks/pipeline.py` reach, and compute what more cores do for one rotated set.

A set is walked over by one core; then its packets come together by connections and are judged, spread over all cores.
What no core shares with others is taken as the clock told it, and the core-seconds of the rest are divided evenly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

NOW: Final = "now"
BEFORE: Final = "before"
SET: Final = "pairs"
"""The kind of ingest that the goals are about."""
SKEWED: Final = "skewed"
GAIN: Final = 1.8
"""How many times faster two cores are to be than one."""
RATE: Final = 700_000
"""Packets a second on two cores."""
MEMORY: Final = 700_000_000
"""Bytes of a process, at most."""
MANY: Final = (1, 2, 8, 64, 512)
"""Cores to compute for."""
TOGETHER: Final = "grouped"
"""The stage that is spread over all cores."""

Figures = Mapping[str, Any]
Line = Mapping[str, Any]


def of_now(figures: Figures) -> list[Line]:
    """Return the measurements of this code."""
    return [one for one in figures["results"] if one.get("code", NOW) == NOW]


def before(figures: Figures, line: Line) -> Line | None:
    """Return the measurement of the code before of the same captures, if there is one."""
    same = ("kind", "gigabytes", "cores")
    found = (one for one in figures["results"] if one.get("code") == BEFORE)
    return next((one for one in found if all(one[name] == line[name] for name in same)), None)


def judged_in(line: Line) -> str:
    """Return how the connections of a set were judged; nothing for files that are judged by their packets."""
    if "digests" not in line or line["kind"] in ("rules", "packets"):
        return ""
    if line["in_order"]:
        return f"in order: {line['in_order'][0]}"
    return f"in parts, {line['ranges']:,} ranges" if line["ranges"] else "in order"


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages of a set in parts. alone: seconds that one core takes and the others wait. shared: core-seconds."""

    line: Line
    alone: float
    shared: float

    @classmethod
    def of(cls, line: Line) -> Stages:
        """Take them from a measurement."""
        return cls(line, line["seconds"] - line["stages"][TOGETHER], line["stages_spent"][TOGETHER])

    def seconds(self, cores: int) -> float:
        """Return the seconds on so many cores."""
        return self.alone + self.shared / cores


def goals(figures: Figures) -> list[str]:
    """Return the lines on what was to be reached."""
    out = ["### Goals", ""]
    lines = [one for one in of_now(figures) if "digests" in one]
    if not lines:
        return [*out, "None of them was measured by the clock on a rotated set."]
    out += ["| goal | measured | |", "|---|---|---|"]
    pair = _pair(lines)
    if pair is not None:
        one, two = pair
        gain, rate = one["seconds"] / two["seconds"], two["packets"] / two["seconds"]
        where = f"one rotated set of {two['gigabytes']:g} GB"
        took = f"{gain:.2f} times: {one['seconds']:.1f} s on one, {two['seconds']:.1f} s on two"
        share = f"{100 * figures['deviating']:g} % of connections deviating"
        out += [
            f"| {where}: two cores are {GAIN:g} times as fast as one | {took} | {_said(gain, GAIN, '.2f')} |",
            f"| {where}, {share}: {RATE:,} packets/s on two cores | {rate:,.0f} packets/s "
            f"| {_said(rate, RATE, ',.0f')} |",
        ]
    big = max(lines, key=lambda line: int(line["peak"]))
    own = max(int(line["own"]) for line in lines)
    out.append(
        f"| no process has more than {MEMORY / 1e6:,.0f} MB | {big['peak'] / 1e6:,.0f} MB with the pages of captures "
        f"that it has mapped, {own / 1e6:,.0f} MB without | {_within(big['peak'])} |"
    )
    skewed = [line for line in lines if line["kind"] == SKEWED]
    if skewed:
        most = max(skewed, key=lambda line: (line["gigabytes"], line["peak"]))
        out.append(
            f"| also where one pair of hosts has nine tenths of {most['gigabytes']:g} GB "
            f"| {most['peak'] / 1e6:,.0f} MB; {judged_in(most)} | {_within(most['peak'])} |"
        )
    unequal = figures.get("differing", [])
    kinds = len({(line["kind"], line["gigabytes"]) for line in lines})
    words = "reached" if not unequal else "not reached: " + "; ".join(unequal)
    out.append(
        f"| all cores and rounds count the same verdicts | {kinds - _many_of(unequal)} of {kinds} captures | {words} |"
    )
    return out


def _pair(lines: Sequence[Line]) -> tuple[Line, Line] | None:
    """Return the largest set on one core and on two."""
    sizes = [one["gigabytes"] for one in lines if one["kind"] == SET and one["cores"] == 2]
    if not sizes:
        return None
    found = {one["cores"]: one for one in lines if one["kind"] == SET and one["gigabytes"] == max(sizes)}
    return (found[1], found[2]) if 1 in found else None


def _many_of(unequal: Sequence[str]) -> int:
    return len({tuple(one.split(", ")[:2]) for one in unequal})


def _said(found: float, wanted: float, form: str) -> str:
    return "reached" if found >= wanted else f"not reached: {found:{form}} of {wanted:{form}}"


def _within(peak: int) -> str:
    return "reached" if peak < MEMORY else f"not reached: {peak / 1e6:,.0f} of {MEMORY / 1e6:,.0f} MB"


def plan(figures: Figures) -> list[str]:
    """Return the lines on more cores for one set, computed from the stages of the largest that was judged in parts."""
    out = ["### More cores for one rotated set", ""]
    parted = [one for one in of_now(figures) if one["kind"] == SET and one["cores"] > 1 and one.get("ranges")]
    parted = [one for one in parted if TOGETHER in one["stages"]]
    if not parted:
        return [*out, "No set was judged in parts by the clock, so that nothing can be computed."]
    line = max(parted, key=lambda one: (one["gigabytes"], one["cores"]))
    stages = Stages.of(line)
    single = [
        one["seconds"]
        for one in of_now(figures)
        if one["cores"] == 1 and (one["kind"], one["gigabytes"]) == (line["kind"], line["gigabytes"])
    ]
    measured = {line["cores"]: line["seconds"], **({1: single[0]} if single else {})}
    out += [
        f"Of {line['gigabytes']:g} GB on {line['cores']} cores, one core alone took {stages.alone:.1f} s (the walk, "
        f"and putting together what the parts have found), and what is spread took {stages.shared:.1f} core-seconds:",
        "",
        "| cores | computed, s | measured, s | packets/s of one set |",
        "|---|---|---|---|",
    ]
    for cores in MANY:
        took = measured.get(cores)
        told = f"{took:.1f}{' (in order)' if cores == 1 else ''}" if took is not None else ""
        seconds = stages.seconds(cores)
        out.append(f"| {cores} | {seconds:.1f} | {told} | {line['packets'] / (took or seconds):,.0f} |")
    bound = line["packets"] / stages.alone
    a_core = line["packets"] / (stages.shared + stages.alone)
    out += [
        "",
        f"So one set has {bound:,.0f} packets/s at most, however many cores there are, and needs as many groups of "
        f"connections as cores. Several sets are walked over at once: {a_core:,.0f} packets/s for each core, so that "
        + ", ".join(f"{cores} cores with as many sets judge {cores * a_core:,.0f} packets/s" for cores in MANY[2:])
        + ", if storage and network are fast enough.",
    ]
    return out
