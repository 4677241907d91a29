"""How fast captures become tables by the clock: kinds of ingest, sizes and cores side by side; where the time goes.

python benchmarks/pipeline.py [--sizes 2,8] [--cores 1,2] [--only rules,packets,pairs,server,skewed] [--rounds 1]
    [--most server=2,skewed=1] [--before CHECKOUT] [--work FOLDER] [--json OUT.json]

Kinds: `rules` judges the rules of packets alone, `packets` writes every packet's row besides, both of captures that are
files of their own (`corpus`). The others judge the rules of connections too, each of one set as `tcpdump -C` rotates it
(`rotated`): `pairs` of hosts, many hosts with one `server`, and `skewed`, where one pair has nine tenths of all bytes;
in a hundredth of the connections something deviates. A kind is measured at all sizes up to --most, or at --most.

Captures are written once, and a smaller size is the first files of the largest. Every measurement is one ingest into a
new lake, in a session of Spark that has already ingested small captures. Sessions on one core and on two take turns,
and those of another checkout with --before (at --before-size alone, for what was slow). Medians of the rounds count.
Core-seconds are those of all processes. Progress goes to standard error. The figures of a kind are written into --json
as soon as there are any, and those of other kinds stay as they are there: after an end before time, ask for the rest
with --only.

`python -m tools.scale_page OUT.json` writes what follows from the figures into docs/scale.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
NOW, BEFORE = "now", "before"
SETS = {"rules": "files", "packets": "files", "pairs": "pairs", "server": "server", "skewed": "skewed"}
"""What each kind reads."""
WARM_PACKETS = 4_000
WARM_BYTES = 8e6
BASE_GB = 1.0
"""What sets of sessions are copied from, at most."""


@dataclass(slots=True)
class Session:
    """A session of Spark in a process of its own, see `pipeline_session`."""

    cores: int
    code: str
    process: subprocess.Popen[str]
    begun: dict[str, Any]

    @classmethod
    def start(cls, cores: int, code: str, root: Path, asked: dict[str, Any]) -> Session:
        """Start it with the code of a checkout."""
        environment = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
        process = subprocess.Popen(
            [sys.executable, str(HERE / "pipeline_session.py"), json.dumps({**asked, "cores": cores})],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        made = cls(cores, code, process, {})
        made.begun = made.answer()
        if Path(made.begun["root"]).resolve() != root.resolve():
            sys.exit(f"The code in {root} was to be measured, and it is that in {made.begun['root']}.")
        for one in made.begun["starts"]:
            turns = f"session {one['session']:.1f} s, cold {one['cold']:.1f} s, warm {one['warm']:.1f} s"
            tell(f"{code}, {many(cores, 'core')}, {one['kind']}: {turns}")
        return made

    def ask(self, kind: str, files: Sequence[Path]) -> dict[str, Any]:
        """Ingest files and return the figures."""
        assert self.process.stdin is not None
        print(json.dumps({"kind": kind, "files": list(map(str, files))}), file=self.process.stdin, flush=True)
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """Return the next line of the session."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                found: dict[str, Any] = json.loads(line)
                return found
        sys.exit(f"The session on {many(self.cores, 'core')} ended with {self.process.wait()}.")

    def end(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)


@dataclass(slots=True)
class Measuring:
    """Everything that is measured. lines: of each measurement. sets: the captures that are there."""

    asked: argparse.Namespace
    work: Path
    sessions: dict[tuple[str, int], Session] = field(default_factory=dict)
    lines: list[dict[str, Any]] = field(default_factory=list)
    sets: dict[str, list[Path]] = field(default_factory=dict)

    def kind(self, kind: str) -> None:
        """Measure one kind at all its sizes."""
        asked = self.asked
        sizes = sizes_of(kind, asked)
        files = self._set(SETS[kind], max(sizes))
        for size in sizes:
            codes = [NOW, BEFORE] if asked.before is not None and size == asked.before_size else [NOW]
            chosen = first_of(files, size * 1e9)
            for number in range(asked.rounds):
                for code in codes:
                    for cores in asked.cores:
                        found = self._session(code, cores).ask(kind, chosen)
                        line = {"kind": kind, "size": size, "cores": cores, "code": code, "round": number, **found}
                        self.lines.append({**line, "load": round(os.getloadavg()[0], 1)})
                        tell(told(line))

    def done_with(self, name: str) -> None:
        """Remove the captures of a set."""
        if name in self.sets:
            shutil.rmtree(self.work / name)
            del self.sets[name]

    def end(self) -> None:
        """End all sessions."""
        for one in self.sessions.values():
            one.end()

    def _session(self, code: str, cores: int) -> Session:
        if (code, cores) not in self.sessions:
            small = {kind: list(map(str, self._small(kind))) for kind in self.asked.only}
            asked = {"work": str(self.work), "format": self.asked.format, "small": small}
            root = ROOT if code == NOW else self.asked.before
            self.sessions[code, cores] = Session.start(cores, code, root, asked)
        return self.sessions[code, cores]

    def _small(self, kind: str) -> list[Path]:
        """Return small captures that make every worker warm."""
        folder = self.work / f"small-{SETS[kind]}"
        if SETS[kind] != "files":
            from rotated import rotated

            if not folder.exists():
                rotated(folder, SETS[kind], WARM_BYTES, base=WARM_BYTES, file=WARM_BYTES / 4, deviating=0.01)
        elif not folder.exists():
            from corpus import write_corpus

            folder.mkdir()
            for number in range(max(self.asked.cores)):
                write_corpus(folder / f"{number}-small.pcap", WARM_PACKETS, seed=2 + number)
        return sorted(folder.iterdir())

    def _set(self, name: str, size: float) -> list[Path]:
        """Return the files of a set of so many GB; written once."""
        if name not in self.sets:
            began = time.perf_counter()
            self.sets[name] = _written(self.work, name, size, self.asked)
            total = sum(path.stat().st_size for path in self.sets[name]) / 1e9
            seconds = time.perf_counter() - began
            tell(f"{name}: {len(self.sets[name])} files, {total:.2f} GB, written in {seconds:.0f} s")
        return self.sets[name]


def _written(work: Path, name: str, size: float, asked: argparse.Namespace) -> list[Path]:
    from corpus import write_corpus
    from rotated import rotated, spread

    if name == "files":
        base = work / "base.pcap"
        write_corpus(base, max(2_000, int(min(asked.file, *asked.sizes) * 1e9 / 900)), seed=1)
        return spread(base, work / name, size * 1e9)
    return rotated(
        work / name, name, size * 1e9, base=min(BASE_GB, size / 4) * 1e9,
        file=min(asked.rotation * 1e6, min(sizes_of(name, asked)) * 1e9 / 4), deviating=asked.deviating,
    )  # fmt: skip


def sizes_of(kind: str, asked: argparse.Namespace) -> list[float]:
    """Return the sizes that a kind is measured at: those up to its most, or that."""
    most = asked.most.get(kind, max(asked.sizes))
    sizes = [size for size in asked.sizes if size <= most] or [most]
    if asked.before is not None:
        sizes = sorted({*sizes, asked.before_size})
    return sizes


def first_of(files: Sequence[Path], size: float) -> list[Path]:
    """Return the first files that have together so many bytes, to a twentieth of a file."""
    out: list[Path] = []
    total = 0.0
    for path in files:
        one = path.stat().st_size
        if out and total + one / 20 > size:
            break
        out.append(path)
        total += one
    return out


def told(line: dict[str, Any]) -> str:
    """Return one measurement in words."""
    rate = line["packets"] / line["seconds"]
    words = f"{line['seconds']:.1f} s ({line['spent']:.1f} core-seconds), {rate:,.0f} packets/s"
    where = f"; in order, since {line['in_order'][0]}" if line["in_order"] else ""
    memory = f"{line['peak'] >> 20} MiB at most"
    return (
        f"{line['code']}, {many(line['cores'], 'core')}, {line['kind']}, {line['size']:g} GB: {words}, {memory}{where}"
    )


def summed(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the medians over the rounds of the same thing, each."""
    results = []
    keys = ("kind", "size", "cores", "code")
    for key in dict.fromkeys(tuple(one[name] for name in keys) for one in lines):
        same = [one for one in lines if tuple(one[name] for name in keys) == key]
        seconds = sorted(one["seconds"] for one in same)
        results.append(
            {
                "kind": key[0],
                "gigabytes": key[1],
                "cores": key[2],
                "code": key[3],
                "measured": today(),
                "seconds": middle(seconds),
                "least": round(seconds[0], 3),
                "most": round(seconds[-1], 3),
                "spent": middle(one["spent"] for one in same),
                **{stages: _stages(stages, same) for stages in ("stages", "stages_spent")},
                **{name: same[0][name] for name in ("files", "packets", "bytes", "ranges", "lake", "in_order")},
                **{name: max(one[name] for one in same) for name in ("peak", "own", "java", "load")},
                "outcomes": _outcomes(same[0]["counts"]),
                "digests": sorted({one["digest"] for one in same}),
            }
        )
    return results


def _stages(name: str, same: Sequence[dict[str, Any]]) -> dict[str, float]:
    names = dict.fromkeys(stage for one in same for stage in one[name])
    return {stage: middle(one[name].get(stage, 0.0) for one in same) for stage in names}


def _outcomes(counts: Iterable[Sequence[Any]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for _, outcome, count in counts:
        found[outcome] = found.get(outcome, 0) + count
    return found


def differing(lines: Sequence[dict[str, Any]]) -> list[str]:
    """Return the verdicts that the measurements of the same captures count differently, in words."""
    out = []
    groups: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for one in lines:
        if one["code"] == NOW:
            groups.setdefault((one["kind"], one["size"]), []).append(one)
    for (kind, size), same in groups.items():
        tables = [{(requirement, outcome): count for requirement, outcome, count in one["counts"]} for one in same]
        for key in sorted({key for table in tables for key in table}):
            found = [table.get(key, 0) for table in tables]
            if len(set(found)) > 1:
                each = ", ".join(
                    f"{count:,} on {many(one['cores'], 'core')}" for count, one in zip(found, same, strict=True)
                )
                out.append(f"{kind}, {size:g} GB, {key[0]} {key[1]}: {each}")
    return out


def whole(measuring: Measuring, earlier: dict[str, Any]) -> dict[str, Any]:
    """Return all figures. earlier: those that were in the file; the ones of other kinds stay."""
    asked, lines = measuring.asked, measuring.lines
    here = next((one.begun for (code, _), one in measuring.sessions.items() if code == NOW), {})
    kinds = {one["kind"] for one in lines}
    kept = [one for one in earlier.get("results", []) if one["kind"] not in kinds and "digests" in one]
    starts = [
        start for (code, _), one in measuring.sessions.items() if code == NOW for start in one.begun["starts"]
    ]  # fmt: skip
    return {
        "mqconform": here.get("version", ""),
        "measured": today(),
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "python": platform.python_version(),
        },
        "rounds": asked.rounds,
        "file_gigabytes": min(asked.file, *asked.sizes),
        "rotated_megabytes": asked.rotation,
        "deviating": asked.deviating,
        "format": asked.format,
        "start": starts,
        "results": [*kept, *summed(lines)],
        "differing": [
            *(one for one in earlier.get("differing", []) if one.partition(",")[0] not in kinds),
            *differing(lines),
        ],
    }  # fmt: skip


def middle(values: Iterable[float]) -> float:
    """Return the median, to a millisecond."""
    found = list(values)
    return round(statistics.median(found), 3) if found else 0.0


def many(count: int, word: str) -> str:
    """Return a number with its word."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def today() -> str:
    """Return the day."""
    return time.strftime("%Y-%m-%d", time.gmtime())


_BEGAN = time.monotonic()


def tell(text: str) -> None:
    """Tell how far the work has come."""
    minutes, seconds = divmod(int(time.monotonic() - _BEGAN), 60)
    print(f"[{minutes:2}:{seconds:02}] {text}", file=sys.stderr, flush=True)


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def report(result: dict[str, Any]) -> None:
    """Print the figures as a table."""
    print(
        f"{'kind':<8} {'GB':>5} {'cores':>5} {'code':<6} {'seconds':>9} {'packets/s':>12} {'MB/s':>8} {'core-s':>7}"
        f" {'peak MiB':>8} {'own MiB':>8}  stages"
    )
    for one in result["results"]:
        stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in one["stages"].items() if seconds >= 0.05)
        print(
            f"{one['kind']:<8} {one['gigabytes']:>5g} {one['cores']:>5} {one['code']:<6} {one['seconds']:>9.2f} "
            f"{one['packets'] / one['seconds']:>12,.0f} {one['bytes'] / one['seconds'] / 1e6:>8.1f} "
            f"{one['spent']:>7.1f} {one['peak'] >> 20:>8} {one['own'] >> 20:>8}  {stages}"
        )
    for line in result["differing"]:
        print(f"not equal: {line}")


def main() -> None:
    """Measure, write --json and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=_numbers, default=[2, 8], help="GB")
    parser.add_argument("--cores", type=lambda text: [int(one) for one in text.split(",")], default=[1, 2])
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(SETS), help="kinds")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--most", type=_most, default={"server": 2.0, "skewed": 1.0}, help="GB of a kind, at most")
    parser.add_argument("--file", type=float, default=0.2, help="GB of a file of its own")
    parser.add_argument("--rotation", type=float, default=100, help="MB of a file of a rotated set")
    parser.add_argument("--deviating", type=float, default=0.01, help="the share of connections that deviate")
    parser.add_argument("--before", type=Path, help="another checkout, measured too")
    parser.add_argument("--before-size", type=float, default=0.2, help="GB that it is measured with")
    parser.add_argument("--format", default="delta", help="of the lakes")
    parser.add_argument("--work", type=Path, help="a folder with room for three times the largest size")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    unknown = set(asked.only) - set(SETS)
    if unknown:
        parser.error(f"no such kind: {', '.join(sorted(unknown))}")
    asked.only = [kind for kind in SETS if kind in asked.only]
    sys.path[:0] = [str(HERE), str(ROOT / "fixtures")]
    if asked.work is not None:
        Path(asked.work).mkdir(parents=True, exist_ok=True)
    earlier = json.loads(asked.json.read_text(encoding="utf-8")) if asked.json and asked.json.exists() else {}
    with tempfile.TemporaryDirectory(prefix="mqconform-", dir=asked.work) as folder:
        measuring = Measuring(asked, Path(folder))
        make = partial(whole, measuring, earlier)
        try:
            for at, kind in enumerate(asked.only):
                measuring.kind(kind)
                if SETS[kind] not in {SETS[one] for one in asked.only[at + 1 :]}:
                    measuring.done_with(SETS[kind])
                keep(asked.json, make)
        finally:
            measuring.end()
    tell("done")
    report(make())


def keep(path: Path | None, make: Callable[[], dict[str, Any]]) -> None:
    """Write the figures so far."""
    if path is not None:
        path.write_text(json.dumps(make(), indent=1) + "\n", encoding="utf-8")


def _numbers(text: str) -> list[float]:
    return sorted(float(one) if "." in one else int(one) for one in text.split(","))


def _most(text: str) -> dict[str, float]:
    return {kind: float(size) for kind, size in (one.split("=") for one in text.split(",") if one)}


if __name__ == "__main__":
    main()
