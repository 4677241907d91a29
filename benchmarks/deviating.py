"""Measure what a packet that deviates costs: captures in which a share of the packets has one thing changed.

python benchmarks/deviating.py [--packets N] [--shares 0,0.01,0.05] [--kinds value,odd,undecodable]
    [--rounds N] [--work FOLDER] [--json OUT.json]

The changes are those of `packet_mutations`, made in messages of the generated corpus, each with a body of its own, so
that no two deviating packets are alike. Kinds: `value` is decoded whole, and something in it is wrong; `odd` is decoded
and holds what no header explains; `undecodable` is not decoded whole. Each capture is judged by `pipeline ingest
--no-sessions` and by `replay --columns --packets-only` (without its report), in this process and warm. A line of JSON
for each: CPU seconds of the quickest round, packets a CPU second, and the milliseconds that one deviating packet adds
to the same capture without any.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from corpus import Corpus
from corpus_messages import MANAGERS, QUEUES, Template, _message, _queue, guid, templates
from packet_mutations import _fields, _headers, _parts

from conformance.judge.expr import evaluate
from conformance.judge.packets.odd import ODD
from conformance.wire import Packet, dissect, encode

KINDS = ("value", "odd", "undecodable")
_SESSION = 16  # Bytes of a SessionHeader, which PacketSize does not count.
_MOST = 40  # Changes taken of one message.


def kind_of(packet: Packet) -> str:
    """Tell which kind a changed packet is of."""
    return "undecodable" if packet.trouble else "odd" if evaluate(ODD, packet.fields) else "value"


def framed(data: bytes) -> bool:
    """Tell whether a stream still shows where the packet ends."""
    return int.from_bytes(data[8:12], "little") == len(data) - _SESSION * (data[2] >> 4 & 1)


def deviating(seed: int, kinds: tuple[str, ...]) -> Iterator[bytes]:
    """Yield packets without end, each changed in one place, no two alike."""
    random_ = random.Random(seed)
    managers = [guid(random_) for _ in range(MANAGERS)]
    queues = [_queue(random_, number) for number in range(QUEUES)]
    while True:
        packet = dissect(encode("UserMessage", _message(random_, managers, queues), placement="after"))
        changed = [*_fields("", packet), *_headers("", packet), *_parts("", packet)]
        for one in random_.sample(changed, min(_MOST, len(changed))):
            if one.data != packet.data and framed(one.data) and kind_of(dissect(one.data)) in kinds:
                yield one.data


def write(
    path: Path, packets: int, count: int, kinds: tuple[str, ...], *, seed: int = 1, connections: int = 500
) -> None:
    """Write a capture of so many packets, `count` of them deviating, spread over all of it."""
    made = templates(seed, broken=0.0)
    weights = [0.0 if one.broken else one.weight for one in made]
    random_ = random.Random(seed + 2)
    wrong = deviating(seed + 3, kinds)
    places = set(random_.sample(range(packets), count))
    with path.open("wb") as out:
        corpus = Corpus(out, seed, connections, False, 0.0)
        for at in range(packets):
            connection = corpus.connections[random_.randrange(connections)]
            if at in places:
                corpus.message(connection, Template(next(wrong), None, None, False, 0.0))
            else:
                corpus.message(connection, random_.choices(made, weights)[0])
        corpus.close()


def ingested(path: Path, work: Path) -> float:
    """Return the CPU seconds of an ingest without the rules of connections."""
    from conformance.pipeline.ingest import Options, ingest
    from conformance.pipeline.lake import Lake
    from conformance.pipeline.work import Here

    shutil.rmtree(work / "lake", ignore_errors=True)
    lake = Lake.open(work / "lake", create=True, format="folder")
    began = time.process_time()
    ingest(lake, [str(path)], Options(sessions=False), Here())
    return time.process_time() - began


def replayed(path: Path, work: Path) -> float:
    """Return the CPU seconds of a replay of the packets alone."""
    from conformance.captures.columns import judge_range
    from conformance.spec.catalogue import assignment

    began = time.process_time()
    judge_range(
        path, profile="msmq-4.0", readings=assignment("windows"), sessions=False, on_packet=lambda packet: packet.line()
    )
    return time.process_time() - began


WAYS: dict[str, Callable[[Path, Path], float]] = {"ingest": ingested, "replay": replayed}


def measured(
    packets: int, counts: list[int], kinds: list[tuple[str, ...]], rounds: int, work: Path
) -> Iterator[dict[str, Any]]:
    """Yield the figures, one for each way, kind and count. The capture without deviating packets is measured first."""
    path = work / "some.pcap"
    least: dict[str, float] = {}
    for chosen in kinds:
        for count in counts:
            if not count and least:
                continue
            write(path, packets, count, chosen)
            for way, run in WAYS.items():
                run(path, work)
                took = min(run(path, work) for _ in range(rounds))
                figures: dict[str, Any] = {"way": way, "packets": packets, "deviating": count}
                figures |= {"cpu_s": round(took, 3), "packets_per_cpu_s": round(packets / took)}
                if count:
                    figures |= {"kinds": "+".join(chosen), "ms_each": round(1000 * (took - least[way]) / count, 3)}
                else:
                    least[way] = took
                yield figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packets", type=int, default=200_000)
    parser.add_argument("--shares", default="0,0.01,0.05")
    parser.add_argument("--kinds", default="value,odd,undecodable,value+odd+undecodable")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    counts = sorted({0, *(int(given.packets * float(share)) for share in given.shares.split(","))})
    kinds = [tuple(one.split("+")) for one in given.kinds.split(",")]
    with tempfile.TemporaryDirectory(dir=given.work) as work:
        found = []
        for one in measured(given.packets, counts, kinds, given.rounds, Path(work)):
            found.append(one)
            print(json.dumps(one), flush=True)
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
