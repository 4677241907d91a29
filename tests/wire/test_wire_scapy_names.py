"""The scapy layers of lists, HTTP headers and what is appended; what they show; binding without loading scapy."""

import subprocess
import sys
from typing import Any

import pytest
from scapy.packet import Raw

from conformance.wire import dissect, encode
from conformance.wire.layers import (
    BaseHeader,
    CompoundMessageHeader,
    DeadLetterHeader,
    ExtendedAddressHeader,
    ExtensionHeader,
    MessagePropertiesHeader,
    MQFFormatNameElement,
    MultiQueueFormatHeader,
    SessionHeader,
    SoapHeader,
    SRMPEnvelopeHeader,
    SubqueueHeader,
    UserHeader,
)

GUID = "11ea26c6-b6e6-4997-9595-9150557358d1"
LIST = "MultiQueueFormatHeader.Destination.FormatNameList"
NAMES: list[dict[str, Any]] = [
    {"DirectFormatName": "OS:h\\q"},
    {"SourceQueueManager": GUID, "PrivateQueueIdentifier": 7},
    {"DistributionListIdentifier": GUID},
    {"PublicQueueIdentifier": GUID},
]
VALUES = {f"{LIST}.{at}.{name}": value for at, one in enumerate(NAMES) for name, value in one.items()}
USER = UserHeader(DestinationQueue_DirectFormatName="OS:h\\q")


def stack() -> Any:
    elements = [MQFFormatNameElement(**one) for one in NAMES]
    return BaseHeader() / USER / MessagePropertiesHeader() / MultiQueueFormatHeader(Destination_FormatNameList=elements)


def test_a_list_of_elements_is_built_with_its_sizes_and_counts() -> None:
    direct = {"UserHeader.DestinationQueue.DirectFormatName": "OS:h\\q"}
    assert bytes(stack()) == encode("UserMessage", VALUES | direct)


def test_a_count_a_size_and_a_type_can_be_overridden() -> None:
    packet = stack()
    packet[MultiQueueFormatHeader].Destination_ElementCount = 9
    packet[MultiQueueFormatHeader].Destination_FormatNameList[0].FormatType = 5
    fields = dissect(bytes(packet)).fields
    assert (fields["MultiQueueFormatHeader.Destination.ElementCount"], fields[f"{LIST}.StoppedType"]) == (9, 5)


def test_a_list_that_was_read_shows_as_names() -> None:
    read = BaseHeader(bytes(stack()))
    shown = read.show(dump=True)
    for line in (
        "MQFFormatNameElement",
        "direct (3)",
        "distribution list (6)",
        "'OS:h\\\\q'",
        GUID,
        "destination (0x64)",
    ):
        assert line in shown
    layer = read[MultiQueueFormatHeader]
    assert [one.queue_name() for one in layer.Destination_FormatNameList] == [
        "DIRECT=OS:h\\q",
        f"PRIVATE={GUID}\\00000007",
        f"DL={GUID}",
        f"PUBLIC={GUID}",
    ]
    assert "DIRECT=OS:h\\q" in repr(layer)
    assert bytes(read) == bytes(stack())


@pytest.mark.parametrize("element", NAMES)
def test_an_element_is_read_and_written_alone(element: dict[str, Any]) -> None:
    data = bytes(MQFFormatNameElement(**element))
    read = MQFFormatNameElement(data + b"rest")
    assert {name: read.fields[name] for name in element} == element
    assert bytes(read) == data + b"rest"
    assert read.payload.load == b"rest"


def test_a_name_is_changed_in_a_list_that_was_read() -> None:
    read = BaseHeader(bytes(stack()))
    read[MultiQueueFormatHeader].Destination_FormatNameList[0].DirectFormatName = "OS:longer\\q"
    read[BaseHeader].PacketSize = None
    for computed in ("HeaderSize", "Padding"):
        setattr(read[MultiQueueFormatHeader], f"Destination_{computed}", None)
    again = dissect(bytes(read))
    assert (again.trouble, again.fields["Packet.Unexplained"]) == ((), 0)
    assert again.fields[f"{LIST}.0.DirectFormatName"] == "OS:longer\\q"
    assert again.fields[f"{LIST}.3.PublicQueueIdentifier"] == GUID


def test_bytes_that_are_no_elements_stay_bytes() -> None:
    data = encode("UserMessage", {LIST: b"\4\0garbage!", "MultiQueueFormatHeader.Destination.ElementCount": 1})
    read = BaseHeader(data)
    assert read[MultiQueueFormatHeader].Destination_FormatNameList == b"\4\0garbage!"
    assert bytes(read) == data


@pytest.mark.parametrize("packed", [False, True])
def test_http_headers_are_read_in_either_alignment(packed: bool) -> None:
    values: dict[str, Any] = {"SoapHeader.Header": "ab", "SoapHeader.Body": "ab"}
    values |= {"SRMPEnvelopeHeader.Data": "<e/>", "CompoundMessageHeader.Data": b"POST!"}
    if packed:
        sections = ("SRMPEnvelopeHeader.", "CompoundMessageHeader.", "SoapHeader.Header", "SoapHeader.Body")
        values |= {f"{section}Padding": b"" for section in sections}
    data = encode("UserMessage", values)
    read = BaseHeader(data)
    assert (read[SoapHeader].Body, read[SRMPEnvelopeHeader].Data) == ("ab", "<e/>")
    assert read[CompoundMessageHeader].fields["Data"] == b"POST!"
    read[SoapHeader].Reserved = 0
    assert bytes(read) == data


def test_what_is_appended_follows_the_message() -> None:
    extension = ExtensionHeader() / SubqueueHeader(SubqueueName="sub".encode("utf-16-le").ljust(64, b"\0"))
    extension /= DeadLetterHeader(DeadLetterPathName="OS:h\\d\0".encode("utf-16-le")) / ExtendedAddressHeader(
        AddressType=6
    )
    for session in ([], [SessionHeader()]):
        packet = BaseHeader() / USER / MessagePropertiesHeader() / extension.copy()
        for layer in session:
            packet /= layer
        data = bytes(packet)
        fields = dissect(data).fields
        assert fields["ExtensionHeader.RemainingHeadersSize"] == fields["Packet.ExtensionEnd"] - 12
        read = BaseHeader(data)
        assert read.haslayer(ExtendedAddressHeader)
        assert bool(read.haslayer(SessionHeader)) == bool(session)
        assert not read.haslayer(Raw)
        assert "'sub'" in read.show(dump=True)
        assert "IPv6 (6)" in read.show(dump=True)


def test_values_are_shown_by_name() -> None:
    packet = BaseHeader() / USER / MessagePropertiesHeader(MessageClass=0x8004, BodyType=0x1011, PrivacyLevel=5)
    shown = BaseHeader(bytes(packet)).show(dump=True)
    for line in ("NACK_ACCESS_DENIED (0x8004)", "VT_VECTOR | VT_UI1", "SHA1 (0x8004)", "RC4 (0x6801)", "direct (7)"):
        assert line in shown
    assert "infinite (0xffffffff)" in shown


def test_a_summary_says_where_and_what() -> None:
    said = BaseHeader(bytes(stack())).summary()
    assert "UserHeader to DIRECT=OS:h\\q" in said
    assert "MessagePropertiesHeader NORMAL" in said
    assert f"MultiQueueFormatHeader to DIRECT=OS:h\\q, PRIVATE={GUID}" in said


DISSECTS = """
from scapy.all import IP, TCP, UDP, Raw
frame = IP(bytes(IP() / TCP(dport=1801) / Raw(conformance.wire.encode("SessionAck"))))
assert "SessionHeader" in [layer.__name__ for layer in frame.layers()], frame.layers()
ping = IP(bytes(IP() / UDP(sport=3527, dport=50000) / Raw(conformance.wire.encode("Ping"))))
assert ping.lastlayer().name == "Ping"
"""


@pytest.mark.parametrize(
    "code",
    [
        "import scapy.all, conformance.wire" + DISSECTS,
        "import conformance.wire, scapy.all" + DISSECTS,
        "import conformance.wire\nimport conformance.wire as again\nimport importlib; importlib.reload(again)"
        + DISSECTS,
        "import conformance.wire, sys; assert not any(name.startswith('scapy') for name in sys.modules)",
        "import conformance.judge.packets, sys; assert 'scapy' not in sys.modules",
        "import conformance.cli, sys; assert 'scapy' not in sys.modules",
        "import conformance.wire, sys; assert conformance.wire.layers.TCP_PORT == 1801; assert 'scapy' in sys.modules",
    ],
)
def test_the_layers_are_bound_in_a_fresh_interpreter_and_scapy_is_loaded_only_then(code: str) -> None:
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
