"""Names files that are no captures by their first bytes, and says what makes captures of them."""

from __future__ import annotations

import re
import shlex

_EDITCAP, _NONE = "convert it: editcap -F pcapng FILE out.pcapng", "it has no packets; give a pcap or pcapng file"
_AGAIN = "write the packets with -w, and give that file"
_XXD = "convert it: xxd -r -p FILE out.pcap"
_ETL = "convert it: etl2pcapng FILE out.pcapng, or pktmon etl2pcap FILE if pktmon wrote it"
_KINDS: tuple[tuple[bytes, str, str], ...] = (
    (rb"GMBU|RTSS", "in the format of Network Monitor", _EDITCAP),
    (rb"snoop\x00", "in the format of snoop", _EDITCAP),
    (
        rb"(?s)TRSNIFF data|XCP\x00|VL\x00\x00|\x7fver|\x05VNF|TR\x00d|iptrace|\xaa{4}|[\x01\x07]\x10[^\x00]\x00.\x05",
        "in the format of a network analyzer",
        _EDITCAP,
    ),
    (rb"(?s).{54}[\x00-\x05]\x00.{18}[\x01-\x1f]\xc0", "an event trace (ETL)", _ETL),
    (rb"(?s)ElfFile\x00|.{4}LfLe", "an event log of Windows", _NONE),
    (rb"L\x00\x00\x00\x01\x14\x02\x00", "a shortcut of Windows", "give the file that it points to"),
    (rb"MDMP|PAGEDU", "a dump of memory", _NONE),
    (rb"\x89PNG|\xff\xd8\xff|GIF8|%PDF", "a picture or a document", _NONE),
    (rb"SQLite format 3\x00", "an SQLite database", _NONE),
    (rb"(?s)PK\x03\x04.*?raw/", "an archive of Fiddler (SAZ)", "it has HTTP alone"),
    (rb"(?s)PK\x03\x04.{26}(?P<first>[\x20-\x7e]*)", "a zip archive", "unpack it: unzip FILE"),
    (rb"MSCF", "a cabinet of Windows", "unpack it: expand FILE -F:* . or cabextract FILE"),
    (rb"Rar!\x1a\x07", "a rar archive", "unpack it: unrar x FILE"),
    (rb"\x04\x22\x4d\x18", "a file packed by lz4", "unpack it: lz4 -d FILE out.pcap"),
    (rb"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it: 7z x FILE"),
    (rb"(?s).{257}ustar", "a tar archive", "unpack it: tar -xf FILE"),
    (rb"\xfd7zXZ\x00", "a file packed by xz", "unpack it: unxz FILE"),
    (rb"BZh[1-9]", "a file packed by bzip2", "unpack it: bunzip2 FILE"),
    (rb"version https://git-lfs", "a pointer of Git LFS", "fetch the file: git lfs pull"),
    (rb"\xff\xfe|\xef\xbb\xbf|\xef\xbf\xbd", "text, or a capture that a shell's redirection made text", _AGAIN),
    (rb"\r\n\r\r\r\n|\n\r\n", "a pcapng file that was transferred as text", "transfer it again, as binary"),
    (rb"(?i)\s*<(!doctype html|html|head)", "an HTML page, perhaps the error of a download", "download the file again"),
    # Possessive: else a file of comments is parted in every way, each twice as long as the one before.
    (rb"(?s)(?:<\?xml[^>]*>|\s|(?><!--.*?-->))*+<(pdml|psml)", "packets as XML of tshark", _AGAIN),
    (rb'(?s)\s*[\[{].*?"layers"', "packets as JSON of tshark", _AGAIN),
    (rb'(?s)\s*\{\s*"log"\s*:', "an HTTP archive (HAR)", _NONE),
    (rb"Frame \d+: \d+ bytes", "the text that tshark prints", _AGAIN),
    (
        rb"(?i)\s*(d4c3b2a1|a1b2c3d4|4d3cb2a1|a1b23c4d|0a0d0d0a)",
        "a capture as hexadecimal",
        "convert it: xxd -r -p FILE out.pcap",
    ),
    (rb"\s*\d+ +\d+\.\d+ +\S+ +(\xe2\x86\x92|->|\?) ", "the text that tshark prints", _AGAIN),
    (rb"(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\.\d+ (\S+ +(In|Out|B|M|P) +)?(IP6?|ARP)\b", "what tcpdump prints", _AGAIN),
    (rb"\s*0{4,8}:?\s+([0-9a-fA-F]{2} ?){4}", "a hex dump", "convert it: text2pcap FILE out.pcap"),
    (rb"1MOyo|obLD1|Cg0NC", "a capture as base64", "convert it: base64 -d FILE > out.pcap"),
    (rb"\s*[\[{<]|[\t\r\n\x20-\x7e]{8}", "text", _NONE),
)
"""First bytes of a file, its format, and what to do with it; the first that fits counts."""
_INSIDE = re.compile(
    rb"(?s)\xd4\xc3\xb2\xa1\x02\x00\x04\x00|\xa1\xb2\xc3\xd4\x00\x02\x00\x04|\x4d\x3c\xb2\xa1\x02\x00\x04\x00"
    rb"|\n\r\r\n....(\x4d\x3c\x2b\x1a|\x1a\x2b\x3c\x4d)"
)


def what_it_is(head: bytes, name: str) -> str:
    """Return what a file is and what to do, a clause. head: its first bytes, as far as they are there."""
    if len(head) < 4:
        return f"it ends behind {len(head)} of the four bytes that a capture begins with; copy it again"
    name = shlex.quote(name)
    inside = _INSIDE.search(head)
    for pattern, what, advice in _KINDS:
        found = re.match(pattern, head)
        if found and not (inside and advice is _NONE):
            first = found.groupdict().get("first")
            inner = f" with {first[: head[26]].decode('ascii')}" if first else ""
            return f"it is {what}{inner}; {advice.replace('FILE', name)}"
    if inside:
        at = inside.start()
        return f"a capture begins {at} bytes behind its beginning; cut them off: tail -c +{at + 1} {name} > out.pcap"
    return f"it starts with {head[:4].hex(' ')}; give a pcap or pcapng file"
