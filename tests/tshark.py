"""What tshark makes of a capture with the generated dissector: each packet's fields, their places and the verdicts."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from conformance.capture import Endpoint, Frame
from conformance.capture.events import Transport
from conformance.captures.packet_rules import PacketRules
from conformance.judge.sessions.context import Notes, Seen
from conformance.judge.sessions.packets import judge_alone
from conformance.report.wireshark import displayed, filter_name
from conformance.spec.catalogue import assignment
from conformance.verdict import Verdict
from conformance.wire import Packet, dissect

PROFILE = "msmq-4.0"
OUTCOMES = ("pass", "fail", "warn", "reading", "inconclusive")
KEYS = {filter_name(key): key for key in displayed()}
ELEMENT = re.compile(r"(.+List)\.(\d+)\.(\w+)")
"""A field of an element of a list; in Wireshark it goes without the number."""

USER0 = 147
"""The link type of a record that is one packet and nothing else."""
AS_PACKET = ("-o", 'uat:user_dlts:"User 0 (DLT=147)","msmq_packet","0","","0",""')


@dataclass
class Dissected:
    """One packet. flow: source and destination. values: as tshark shows them; raw: the bytes, in hex; both by key.

    spans: offset in the packet and length.
    """

    frame: int
    flow: tuple[str, str]
    size: int
    kind: str = ""
    placement: str = ""
    unexplained: int = 0
    trouble: int = 0
    values: dict[str, str] = field(default_factory=dict)
    raw: dict[str, str] = field(default_factory=dict)
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    elements: list[tuple[tuple[int, int], str, str, str]] = field(default_factory=list)
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)


def program() -> str:
    """tshark's path. Without it: a skip, and a failure where CI is true."""
    found = shutil.which("tshark")
    if found is None:
        reason = "no tshark on this machine (Debian: apt-get install tshark)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def run(lua: Path, capture: Path, *options: str) -> str:
    """tshark's output on stdout; a Lua error fails the test."""
    command = [program(), "-n", "-X", f"lua_script:{lua}", "-r", str(capture), "-o", "tcp.reassemble_out_of_order:TRUE"]
    environment = os.environ | {"HOME": str(lua.parent), "XDG_CONFIG_HOME": str(lua.parent)}
    done = subprocess.run([*command, *options], capture_output=True, timeout=180, env=environment, check=False)
    output, errors = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    assert done.returncode in (0, 2), errors  # 2: the capture is cut in the middle of a record
    assert "Lua" not in errors and "Lua Error" not in output, errors + output[-2000:]
    return output


def dissect_capture(lua: Path, capture: Path, *options: str) -> list[Dissected]:
    """Each MSMQ packet tshark found, in its order."""
    text = run(lua, capture, "-T", "pdml", "-o", "msmq.passes:TRUE", *options)
    found = []
    for frame in ET.fromstring(text).iter("packet"):
        shown = {one.get("name", ""): one.get("show", "") for one in frame.iter("field")}
        ends = [
            (address(shown, "src"), shown.get("tcp.srcport", shown.get("udp.srcport", ""))),
            (address(shown, "dst"), shown.get("tcp.dstport", shown.get("udp.dstport", ""))),
        ]
        flow = (":".join(ends[0]), ":".join(ends[1]))
        found += [_packet(int(shown["num"]), flow, one) for one in frame.iter("proto") if one.get("name") == "msmq"]
    return found


def address(shown: Mapping[str, str], end: str) -> str:
    """The address of one end, `src` or `dst`, as our endpoints write it."""
    return f"[{shown[f'ipv6.{end}']}]" if f"ipv6.{end}" in shown else shown.get(f"ip.{end}", "")


def judged_by_both(verdicts: Iterable[Verdict], left_out: Iterable[str]) -> Counter[tuple[str, str]]:
    """Our verdicts as tshark counts them, without the rules (by id) that only we have."""
    skipped = frozenset(left_out)
    return Counter(
        (one.outcome.value, one.requirement) for one in verdicts if (one.rule or one.requirement) not in skipped
    )


def alone(data: bytes, readings: str, *, transport: Transport = "tcp", complete: bool = True) -> list[Verdict]:
    """Our verdicts by the rules on single fields of MS-MQQB, which are for whole packets. complete: this is one."""
    end = Endpoint("192.0.2.1", 1801)
    connection = None if transport == "udp" else 1
    frame = Frame(1, 1, 0, end, end, transport, data, connection, "initiator" if connection else None)
    notes = Notes(assignment(readings))
    if complete:
        judge_alone(Seen(frame, dissect(data, transport="udp" if connection is None else "buffer")), notes)
    found = PacketRules(PROFILE, assignment("windows")).levelled(notes.verdicts)
    return [one for one in found if isinstance(one, Verdict)]


def _packet(frame: int, flow: tuple[str, str], proto: ET.Element) -> Dissected:
    out = Dissected(frame, flow, int(proto.get("size", "0")))
    start = int(proto.get("pos", "0"))
    for one in proto.iter("field"):
        name, show = one.get("name", ""), one.get("show", "")
        short = name.removeprefix("msmq.")
        if name in KEYS:
            key = KEYS[name]
            span = (int(one.get("pos", "0")) - start, int(one.get("size", "0")))
            if "List." in key:
                out.elements.append((span, key, show, one.get("value", "")))
                continue
            out.values[key], out.raw[key], out.spans[key] = show, one.get("value", ""), span
        elif short in OUTCOMES:
            out.verdicts[short, show] += 1
        elif short == "kind":
            out.kind = show
        elif short == "session_header_placement":
            out.placement = show
        elif short == "unexplained":
            out.unexplained = int(show)
        elif short == "trouble":
            out.trouble += 1
    return out


def differences(packet: Packet, theirs: Dissected) -> list[str]:
    """Where tshark's fields and ours are not the same; empty when they are."""
    fields: Mapping[str, object] = packet.fields
    ours = {key: value for key, value in fields.items() if key in set(KEYS.values())}
    facts = (".Terminated", ".Inner", ".Odd", ".Complete")
    ours = {key: value for key, value in ours.items() if not key.endswith(facts)}
    out = [f"only we have {key}" for key in ours if key not in theirs.values]
    out += [f"only tshark has {key}" for key in theirs.values if key not in ours]
    for key, value in ours.items():
        if key not in theirs.values:
            continue
        if not same(value, theirs.values[key], theirs.raw[key]):
            out.append(f"{key}: we read {value!r}, tshark {theirs.values[key]!r}")
        if packet.span(key) != theirs.spans[key]:
            out.append(f"{key}: we read it at {packet.span(key)}, tshark at {theirs.spans[key]}")
    inside = [
        (packet.spans[key], f"{found[1]}.{found[3]}", value)
        for key, value in fields.items()
        if (found := ELEMENT.fullmatch(key)) is not None
    ]
    if [one[:2] for one in sorted(inside)] != [one[:2] for one in sorted(theirs.elements)]:
        out.append(f"elements of a list: we read {sorted(inside)}, tshark {sorted(theirs.elements)}")
    elif not all(same(mine[2], *one[2:]) for mine, one in zip(sorted(inside), sorted(theirs.elements), strict=True)):
        out.append(f"values in a list: we read {sorted(inside)}, tshark {sorted(theirs.elements)}")
    if fields["Packet.Kind"] != theirs.kind:
        out.append(f"a {fields['Packet.Kind']} is a {theirs.kind} there")
    if fields.get("Packet.SessionHeaderPlacement", "") != theirs.placement:
        out.append("the SessionHeader's place differs")
    if len(packet.trouble) != theirs.trouble:
        out.append(f"{theirs.trouble} troubles there, here {packet.trouble}")
    return out


def same(value: object, shown: str, raw: str) -> bool:
    """Whether tshark shows this value."""
    match value:
        case int():
            return int(shown, 0) == value
        case bytes():
            return raw == value.hex()
    return shown == visible(str(value))


def visible(text: str) -> str:
    """A text as the dissector shows it: pictures for control characters, U+FFFD for what is no character."""
    pictures = {**{code: 0x2400 + code for code in range(32)}, 127: 0x2421, 0xFFFE: 0xFFFD, 0xFFFF: 0xFFFD}
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return "".join("\ufffd" if 0xD800 <= ord(one) < 0xE000 else one for one in text).translate(pictures)


def one_packet_records(path: Path, packets: Iterable[bytes]) -> Path:
    """A pcap file in which each record is one packet."""
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 20, USER0)
    for at, data in enumerate(packets):
        out += struct.pack("<IIII", at, 0, len(data), len(data)) + data
    path.write_bytes(out)
    return path
