"""Compute the cores, time and storage for a terabyte a day from measurements of `benchmarks/pipeline.py`.

`python -m tools.scale_page [FIGURES.json] [PAGE.md]` writes them into docs/scale.md, between its marks.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, Final

from conformance.aside import write_text
from tools.scale_connections import with_section
from tools.scale_goals import before, goals, judged_in, of_now, plan

BEGIN: Final = "<!-- figures: made by `python -m tools.scale_page` -->"
END: Final = "<!-- end of figures -->"
DAY_GB: Final = 1_000
"""Gigabytes of captures a day that the page assumes."""
WINDOWS: Final = (24, 8, 1)
"""Hours available to judge a day's captures."""
SPARE: Final = 2
"""Planned capacity relative to the mean: for peaks of traffic, and to make up for a day that was missed."""
_SAYS: Final = {
    "rules": "packet rules",
    "packets": "packet rules, and a row for every packet",
    "sessions": "packet rules and connection rules",
    "pairs": "packet rules and connection rules of a rotated set, pairs of hosts",
    "server": "the same, one server",
    "skewed": "the same, one pair has nine tenths",
}
_ORDER: Final = tuple(_SAYS)
_PLANNED: Final = ("rules", "packets", "sessions", "pairs")
"""The kinds that a day of captures is planned with."""

Figures = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fit:
    """Seconds = fixed + a_gigabyte x gigabytes, by least squares over the sizes that were measured.

    worst: the largest distance of a measurement from that line, as a share of the measurement.
    """

    fixed: float
    a_gigabyte: float
    worst: float

    @classmethod
    def of(cls, points: Sequence[tuple[float, float]]) -> Fit:
        """Fit points of (gigabytes, seconds); a single point gives a line through the origin."""
        count = len(points)
        if not count:
            raise ValueError("no measurements")
        mean_x, mean_y = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
        spread = sum((x - mean_x) ** 2 for x, _ in points)
        slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else mean_y / mean_x
        slope = max(slope, 1e-9)
        fixed = mean_y - slope * mean_x
        worst = max(abs(fixed + slope * x - y) / y for x, y in points if y > 0)
        return cls(fixed, slope, worst)

    def seconds(self, gigabytes: float) -> float:
        """Return the seconds on the line."""
        return max(0.0, self.fixed) + self.a_gigabyte * gigabytes


@dataclass(frozen=True, slots=True)
class Need:
    """The cost of DAY_GB a day for one kind of ingest. fit: on the most cores measured.

    core_seconds: of one gigabyte. gained: how many times faster the most cores are than one. lake: bytes of the lake
    for each byte of captures. packets: for each gigabyte. peak: bytes of the biggest process.
    """

    kind: str
    cores: int
    fit: Fit
    core_seconds: float
    gained: float | None
    lake: float
    packets: float
    peak: int

    def cores_for(self, hours: float) -> int:
        """Return the cores that judge a day's captures within so many hours, with SPARE."""
        return max(1, ceil(SPARE * DAY_GB * self.core_seconds / (hours * 3600)))


def need(figures: Figures, kind: str) -> Need | None:
    """Return the cost of one kind of ingest, None if it was not measured."""
    lines = [one for one in of_now(figures) if one["kind"] == kind]
    if not lines:
        return None
    cores = max(one["cores"] for one in lines)
    points = [(one["bytes"] / 1e9, one["seconds"]) for one in lines if one["cores"] == cores]
    fit = Fit.of(points)
    single = [(one["bytes"] / 1e9, one["seconds"]) for one in lines if one["cores"] == 1]
    alone = Fit.of(single) if single and cores > 1 else None
    biggest = max(lines, key=lambda one: (one["bytes"], one["cores"]))
    return Need(
        kind=kind,
        cores=cores,
        fit=fit,
        core_seconds=fit.a_gigabyte * cores,
        gained=alone.a_gigabyte / fit.a_gigabyte if alone else None,
        lake=biggest["lake"] / biggest["bytes"],
        packets=biggest["packets"] / biggest["bytes"] * 1e9,
        peak=max(one["peak"] for one in lines),
    )


def figures_page(figures: Figures | None) -> str:
    """Return the computed part of the page as Markdown."""
    if figures is None:
        return "Nothing has been measured here yet: run the two commands above."
    needs = [found for kind in _ORDER if (found := need(figures, kind)) is not None]
    machine = figures["machine"]
    out = [
        f"Measured {figures['measured']} with mqconform {figures['mqconform']} on {machine['cores']} cores of "
        f"{machine['processor']}, {machine['memory'] / 2**30:.0f} GiB, Python {machine['python']}; medians of "
        f"{_many(figures['rounds'], 'round')}, {_files(figures)}, everything in the page cache.",
        "",
        *goals(figures),
        "",
        "### Throughput",
        "",
        *_throughput(figures),
        "",
        *_stages(figures),
        "",
        *_linear(needs),
        "",
        *plan(figures),
        "",
        "### One terabyte a day",
        "",
    ]
    if planned := [one for one in needs if one.kind in _PLANNED]:
        out += _day(planned)
    return "\n".join(out)


def _files(figures: Figures) -> str:
    """Return how large the files were."""
    alone = f"files of at most {figures['file_gigabytes']:g} GB"
    rotated = figures.get("rotated_megabytes")
    return f"{alone}, those of rotated sets of {rotated:g} MB" if rotated else alone


def _throughput(figures: Figures) -> list[str]:
    """Return the table of all measurements, those of the code before beside those of the same captures."""
    lines = _sorted(of_now(figures))
    compared = any(before(figures, line) for line in lines)
    columns = ["judged", "GB", "cores", "seconds (least to most)", "core-seconds", "packets/s", "MB/s"]
    columns += ["before, packets/s", "times"] if compared else []
    columns += ["biggest process", "without mapped pages", "connections"]
    out = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for line in lines:
        rate = line["packets"] / line["seconds"]
        cells = [
            _SAYS.get(line["kind"], line["kind"]),
            f"{line['gigabytes']:g}",
            f"{line['cores']}",
            f"{line['seconds']:.1f} ({line['least']:.1f} to {line['most']:.1f})",
            f"{line['spent']:.1f}" if "spent" in line else "",
            f"{rate:,.0f}",
            f"{line['bytes'] / line['seconds'] / 1e6:,.0f}",
        ]
        if compared:
            earlier = before(figures, line)
            old = earlier["packets"] / earlier["seconds"] if earlier is not None else None
            cells += [f"{old:,.0f}", f"{rate / old:.2f}"] if old is not None else ["", ""]
        cells += [
            f"{line['peak'] / 2**20:,.0f} MiB",
            f"{line['own'] / 2**20:,.0f} MiB" if "own" in line else "",
            judged_in(line),
        ]
        out.append(f"| {' | '.join(cells)} |")
    return out


def _day(needs: Sequence[Need]) -> list[str]:
    """Return the lines on a day's captures."""
    mean = DAY_GB * 1e9 / 86_400
    head = " | ".join(f"cores for {_many(hours, 'hour')}" for hours in WINDOWS)
    out = [
        f"{DAY_GB / 1000:g} TB a day are {mean / 1e6:.1f} MB/s on average. The table plans {SPARE} times the "
        "core-seconds measured on the most cores, to leave room for peaks and for a day that was missed.",
        "",
        f"| judged | packets a day | hours on {_many(needs[0].cores, 'core')} | {head} | lake a day | lake a year |",
        "|---|---|---|" + "---|" * (len(WINDOWS) + 2),
    ]
    for one in needs:
        busy = one.fit.seconds(DAY_GB) / 3600
        cells = " | ".join(f"{one.cores_for(hours):,}" for hours in WINDOWS)
        a_day = one.lake * DAY_GB
        out.append(
            f"| {_SAYS[one.kind]} | {one.packets * DAY_GB / 1e9:.2f} x 10⁹ | {busy:.1f} | {cells} | {a_day:,.1f} GB | "
            f"{a_day * 365 / 1000:,.2f} TB |"
        )
    hours = WINDOWS[-1]
    read = DAY_GB * 1e9 / (hours * 3600) / 1e6
    peak = max(one.peak for one in needs)
    out += [
        "",
        f"Memory: {peak / 2**20:,.0f} MiB is the largest size of a process here; each core has one process. "
        f"Storage: to judge a day within {_many(hours, 'hour')}, the workers together read at least {read:,.0f} MB/s.",
    ]
    return out


def page(text: str, figures: Figures | None) -> str:
    """Return the page with a new computed part. Raises ValueError for a page without the marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError("the page has no marks between which figures go")
    return f"{before}{BEGIN}\n{figures_page(figures)}\n{END}{after}"


def _stages(figures: Figures) -> list[str]:
    """Return the table of stages, for the largest size on the most cores of each kind."""
    out = ["### Where the time goes", "", "| judged | GB | cores | stages |", "|---|---|---|---|"]
    for kind in _ORDER:
        lines = [line for line in of_now(figures) if line["kind"] == kind]
        if lines:
            one = max(lines, key=lambda line: (line["bytes"], line["cores"]))
            shares = sorted(one["stages"].items(), key=lambda item: -item[1])
            shares = [(name, seconds) for name, seconds in shares if seconds >= 0.005 * one["seconds"]]
            cells = ", ".join(
                f"`{name}` {seconds:.1f} s ({100 * seconds / one['seconds']:.0f} %)" for name, seconds in shares
            )
            out.append(f"| {_SAYS[kind]} | {one['gigabytes']:g} | {one['cores']} | {cells} |")
    starts = [one for one in figures["start"] if one["cores"] == max(each["cores"] for each in figures["start"])]
    if starts:
        session = max(one["session"] for one in starts)
        cold, warm = max(one["cold"] for one in starts), max(one["warm"] for one in starts)
        out += [
            "",
            f"Starting a Spark session takes {session:.1f} s more, once. The first small ingest of a process takes "
            f"up to {cold:.1f} s (the next {warm:.1f} s).",
        ]
    return out


def _linear(needs: Sequence[Need]) -> list[str]:
    out = ["### How time grows with the input", ""]
    for one in needs:
        gained = f" {one.cores} cores are {one.gained:.2f} times as fast as one." if one.gained is not None else ""
        out.append(
            f"- {_SAYS[one.kind]}: {max(0.0, one.fit.fixed):.1f} s and {one.fit.a_gigabyte:.2f} s per gigabyte on "
            f"{_many(one.cores, 'core')}; no measurement differs by more than {100 * one.fit.worst:.0f} %.{gained}"
        )
    return out


def _sorted(results: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    place = {kind: number for number, kind in enumerate(_ORDER)}
    return sorted(results, key=lambda one: (place.get(one["kind"], len(place)), one["gigabytes"], one["cores"]))


def _many(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def main(arguments: Sequence[str]) -> None:
    """Write the page again. arguments: the figures and the page; by default those of the checkout."""
    root = Path(__file__).parents[1]
    source = Path(arguments[0]) if arguments else root / "benchmarks" / "pipeline.json"
    target = Path(arguments[1]) if len(arguments) > 1 else root / "docs" / "scale.md"
    figures = json.loads(source.read_text(encoding="utf-8")) if source.exists() or arguments else None
    text = page(target.read_text(encoding="utf-8"), figures)
    connections = source.with_name("connections.json")
    if connections.exists():
        text = with_section(text, json.loads(connections.read_text(encoding="utf-8")))
    write_text(target, text)


if __name__ == "__main__":
    main(sys.argv[1:])
