"""Writes the first inputs of the fuzz corpus: python tests/wire/make_fuzz_corpus.py [FOLDER].

One valid input of each kind; what fuzzing found later lies beside them and is kept.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bounded import packets, sizes_of_transfer_buffers
from fuzzing import LISTS, NAMES, SECTIONS

from conformance.files import resource
from conformance.judge.packets.signatures import SIGNERS_CERTIFICATE
from conformance.judge.structures.judge import PLAIN
from conformance.suites.packets.combinations import message_of, rows
from conformance.suites.packets.messages import packet_of
from conformance.wire import dissect
from conformance.wire.structures import encode

CAPTURES = (
    *("consistent-session.pcapng", "linux-cooked.pcap", "raw-ip.pcap", "cut-record.pcap", "vlan.pcap"),
    *("fragments.pcapng", "ipv6-extensions.pcapng", "resynchronisation.pcapng", "pcapng-gzip.pcapng.gz"),
)
LIST = "MultiQueueFormatHeader.Destination.FormatNameList"


def inputs() -> dict[str, dict[str, bytes]]:
    """Target to name to input."""
    whole = packets()
    every = [packet_of(message_of(row)) for row in rows()[:12]]
    lists = [dissect(data).fields.get(LIST, b"") for data in every]
    buffers = {number.name.split("-")[2]: number.data for number in sizes_of_transfer_buffers()}
    names = {f"list-{at}": bytes([4]) + bytes(one) for at, one in enumerate(lists) if isinstance(one, bytes) and one}
    assert LISTS and names
    return {
        "packets": {**whole, **{f"combination-{at}": data for at, data in enumerate(every)}},
        "datagrams": {"ping": whole["Ping"]},
        "layers": {**{kind: data for kind, data in whole.items() if kind != "Ping"}, SECTIONS[-1]: b"\x00" * 24},
        "streams": {"two": whole["full"] + whole["remote"], "junk": b"\x10abcLIOR" * 3 + whole["SessionAck"]},
        "names": names,
        "structures": {name: bytes([at]) + encode(name, PLAIN[name]) for at, name in enumerate(NAMES)},
        "transfer-buffers": {f"kind-{kind}": data for kind, data in buffers.items()},
        "certificates": {
            "rsa": SIGNERS_CERTIFICATE,
            "empty-sequence": b"\x30\x00",
            "long-form": b"\x30\x84\xff\xff\xff\xff",
        },
        "captures": {name: resource(f"fixtures/captures/{name}").read_bytes() for name in CAPTURES},
    }


def write(folder: Path) -> None:
    for target, given in inputs().items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for name, data in given.items():
            (folder / target / name).write_bytes(data)


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2] / "fixtures" / "fuzz"))
