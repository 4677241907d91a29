"""`mqconform replay` for analysts, from end to end: conversations, messages, EVE lines and hints."""

from __future__ import annotations

import json
import struct
from collections import Counter
from pathlib import Path

from encapsulated import NAMED, tcp, written
from tests_cli import mqconform, one_sentence

from conformance.cli.replay import Hinted
from conformance.files import resource
from conformance.judge.hints import known_hints
from conformance.judge.rules import PLAIN
from conformance.verdict import ExitCode
from conformance.wire import dissect, encode, patch

CAPTURES = resource("fixtures/captures")
MICROSOFT = str(CAPTURES / "mqqb-4.1.pcapng")
PAGE = Path(__file__).parents[2] / "docs" / "captures.md"


def test_the_table_the_messages_and_the_lines_are_told(tmp_path: Path) -> None:
    target, eve = tmp_path / "ex", tmp_path / "eve.json"
    made = ("--conversations", "--extract", str(target), "--eve", str(eve), "--out", str(tmp_path / "out"))
    done = mqconform("replay", MICROSOFT, *made)
    assert done.returncode == ExitCode.DEVIATES and done.stderr == "" and "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    head = next(at for at, line in enumerate(lines) if line.split()[:3] == ["stream", "from", "to"])
    assert lines[head + 1].split()[:7] == ["0", "192.0.2.10:49759", "192.0.2.20:1801", "3/3", "2,828/640", "1/0", "3"]
    assert lines[head + 2].split()[0] == "who:"
    assert f"{target}: 1 message with 2,000 bytes extracted" in lines
    count = len(eve.read_text(encoding="ascii").splitlines())
    assert f"{eve}: {count} EVE lines" in lines
    assert sorted(one.name for one in target.iterdir()) == ["000001.bin", "index.json"]
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "hint: example-identifiers" in report and ">Wireshark frame</th>" in report


def test_json_has_all_of_it_and_null_for_what_was_not_asked_for(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    told = json.loads(mqconform("replay", MICROSOFT, "--json", "--conversations", "--out", out).stdout)
    assert [row["stream"] for row in told["conversations"]["rows"]] == [None, 0]
    assert told["extracted"] is None and told["eve"] is None
    assert [one["hints"] for one in told["packets"] if one["hints"]] == [["example-identifiers"]]
    made = ("--extract", str(tmp_path / "ex"), "--eve", str(tmp_path / "eve.json"))
    told = json.loads(mqconform("replay", MICROSOFT, "--json", *made, "--out", out).stdout)
    assert told["conversations"] is None and told["extracted"]["written"] == 1 and told["eve"]["lines"] > 5


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("")
    out = ("--out", str(tmp_path / "out"))
    for made in (("--extract", str(tmp_path / "full")), ("--eve", str(tmp_path / "no" / "eve.json")), ("--eve", "")):
        assert one_sentence(mqconform("replay", MICROSOFT, *made, *out), ExitCode.BAD_INPUT), made
    same = str(tmp_path / "same")
    assert one_sentence(mqconform("replay", MICROSOFT, "--extract", same, "--eve", same, *out), ExitCode.BAD_INPUT)
    assert one_sentence(mqconform("replay", MICROSOFT, "--eve", MICROSOFT, *out), ExitCode.BAD_INPUT)


def test_a_capture_of_a_known_malformation_is_named_and_judged(tmp_path: Path) -> None:
    import build_captures

    values = {**PLAIN, "SRMPEnvelopeHeader.Data": "<e/>", "CompoundMessageHeader.Data": b"POST"}
    packet = patch(dissect(encode("UserMessage", values)), {"SRMPEnvelopeHeader.DataLength": 1 << 31})
    path = tmp_path / "a.pcap"
    path.write_bytes(build_captures.short_session(packet).pcap())
    done = mqconform("replay", str(path), "--out", str(tmp_path / "out"))
    assert done.returncode == ExitCode.DEVIATES
    assert "hint: looks like CVE-2023-21554, QueueJumper (srmp-data-length)" in done.stdout
    assert "hint, no verdict: 1 packet looks like CVE-2023-21554, QueueJumper (srmp-data-length): " in done.stdout
    assert f"first: packet 5 (Wireshark frame 12) of {path}" in done.stdout
    told = json.loads(mqconform("replay", str(path), "--json", "--out", str(tmp_path / "out")).stdout)
    assert [(one["id"], one["packets"], one["first"]["packet"]) for one in told["hints"]] == [
        ("srmp-data-length", 1, 5)
    ]
    assert all(one["sources"] for one in told["hints"])


def test_the_page_lists_the_hints_as_they_are() -> None:
    rows = [f"| `{one.id}` | {', '.join(one.names)} | {one.says} |" for one in known_hints().values()]
    text = PAGE.read_text(encoding="utf-8")
    assert all(row in text for row in rows) and text.count("\n| `") == len(rows)


def test_the_hint_of_the_most_severe_advisory_comes_first() -> None:
    hinted = Hinted(
        Counter({"example-identifiers": 9, "srmp-data-length": 1}), dict.fromkeys(known_hints(), ("a", 1, 1))
    )
    first, _, second, _ = hinted.lines()
    assert first.endswith(" CVSS base score 9.8.") and "example-identifiers" in second and "CVSS" not in second
    assert [one["cvss"] for one in hinted.to_json()] == [9.8, None]


def test_what_is_there_and_not_judged_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    frames = [NAMED["esp"][1], tcp(135, 2), tcp(135, 0x18, bytes(20))]
    written(path, 1, [(bytes(8), frame) for frame in frames])
    esp = "1 record of ESP (IPsec, protocol 50) was not looked into"
    mapper = "seen and not judged: 1 connection begun, 2 records, 20 bytes"
    for columns in ((), ("--columns",)):
        done = mqconform("replay", str(path), *columns, "--out", str(tmp_path / "out"))
        assert done.returncode == ExitCode.NOTHING_JUDGED
        assert done.stdout.count(esp) == 1 and done.stdout.count(mapper) == 1
        assert esp in done.stderr and mapper in done.stderr
        told = json.loads(mqconform("replay", str(path), *columns, "--json", "--out", str(tmp_path / "out")).stdout)
        (capture,) = told["captures"]
        assert (capture["skipped"]["other ports"], capture["tls"]) == (2, 0)
        assert [(one["connections"], one["records"], one["bytes"]) for one in capture["services"]] == [(1, 2, 20)]


def test_tls_on_the_port_of_msmq_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    frames = [tcp(1801, 2), tcp(50000, 0x12, source=1801), tcp(1801, 0x18, b"\x16\3\1\2\0\1" + bytes(507), sequence=8)]
    written(path, 1, [(struct.pack("<II", 10**9, at), frame) for at, frame in enumerate(frames)])
    for columns in ((), ("--columns",)):
        done = mqconform("replay", str(path), *columns, "--out", str(tmp_path / "out"))
        assert "1 packet on port 1801 was TLS, which cannot be judged" in done.stdout
