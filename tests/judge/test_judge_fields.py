"""Fields of packets, their presence, lengths and attributes, and SOAP envelopes."""

from typing import Any

import pytest
from cases import all_of
from hypothesis import HealthCheck, given, settings
from nightly import fewer

from conformance.judge.packets.field_compare import (
    PLACES,
    REGIONS,
    REQUIREMENTS,
    Place,
    Region,
    caught,
    compare_fields,
    misplaced,
    moved,
    telling,
    whole,
)
from conformance.judge.packets.judge import judge_packet
from conformance.judge.packets.message_facts import NAMESPACES, SOAP, envelope_facts, kind_of
from conformance.judge.packets.rules_appended import ENVELOPE, HTTP
from conformance.spec.catalogue import catalogue
from conformance.suites.packets.messages import messages_in_a_session, packet_of, user_messages
from conformance.verdict import Outcome
from conformance.wire import dissect, encode, patch, rebuild

ALL_GIVEN = {"time_to_reach_queue": 0, "hash_algorithm": 0, "encryption_algorithm": 0}
FEW = settings(max_examples=fewer(60), deadline=None, database=None, suppress_health_check=list(HealthCheck))


def failing(wanted: Any, data: bytes, message: dict[str, Any] = ALL_GIVEN) -> set[str]:
    verdicts = compare_fields(message, wanted, dissect(data, transport="buffer"))
    return {verdict.requirement for verdict in verdicts if verdict.outcome is not Outcome.PASS}


def judged(wanted: Any, data: bytes) -> set[str]:
    return {one.requirement for one in compare_fields(ALL_GIVEN, wanted, dissect(data, transport="buffer"))}


@all_of("place", [pytest.param(place, id=place.requirement) for place in PLACES])
def test_a_field_that_lies_wrongly_is_seen(place: Place) -> None:
    packet = whole(place.when)
    assert failing(packet, packet.data) == set()
    made = list(misplaced(packet, place))
    assert made
    assert place.requirement in judged(packet, packet.data)
    for data in made:
        assert place.requirement in failing(packet, data)


@pytest.mark.parametrize("region", [pytest.param(region, id=region.requirement) for region in REGIONS])
def test_a_region_that_lies_elsewhere_is_seen(region: Region) -> None:
    packet = whole()
    assert telling(packet, region)
    assert any(region.requirement in failing(packet, data) for data in moved(packet, region))


def test_every_demand_is_caught() -> None:
    assert caught() == set(REQUIREMENTS)
    assert len(REQUIREMENTS) == len(set(REQUIREMENTS))


def test_no_layout_of_these_sections_is_forgotten() -> None:
    sections = (
        "MQMQ-2.2.19.1.",
        "MQMQ-2.2.19.2.",
        "MQMQ-2.2.19.3.",
        "MQMQ-2.2.20.4.",
        "MQMQ-2.2.20.5.",
        "MQMQ-2.2.20.8.",
    )
    wanted = {entry.id for entry in catalogue() if entry.id.startswith(sections) and entry.id.endswith("-layout")}
    assert wanted - set(REQUIREMENTS) == set()


def test_a_wrong_size_is_not_counted_against_what_follows() -> None:
    packet = whole()
    broken = patch(packet, {"MessagePropertiesHeader.LabelLength": 200})
    assert failing(packet, broken) == {
        "MQMQ-2.2.19.3.label-length-layout",
        "MQDMPR-3.1.7.1.32.message-properties-header-label-length",
    }


def test_a_header_less_is_not_counted_against_those_behind() -> None:
    packet = whole()
    data = rebuild(packet, {}, without=("TransactionHeader",))
    broken = failing(packet, data)
    assert {"MQMQ-2.2.20.transaction-header-layout", "MQMQ-2.2.19.2.flags-th-layout"} <= broken
    assert not any("2.2.19.3" in name or "2.2.20.4" in name or "2.2.20.8" in name for name in broken)


def test_another_type_for_the_same_queue_is_no_deviation() -> None:
    guid = "909ea0fc-9078-4445-8f11-394c43cd8907"
    message = {
        "identifier": {"source": guid, "ordinal": 1},
        "destination": "DIRECT=OS:h\\q",
        "response_queue": f"PRIVATE={guid}\\00000007",
    }
    wanted = dissect(packet_of(message))
    assert wanted.fields["UserHeader.Flags.RQ"] == 2
    data = rebuild(
        wanted,
        {
            "UserHeader.Flags.RQ": 6,
            "UserHeader.ResponseQueue.SourceQueueManager": guid,
            "UserHeader.ResponseQueue.PrivateQueueIdentifier": 7,
        },
    )
    assert failing(wanted, data, message) == set()
    other = patch(dissect(data), {"UserHeader.ResponseQueue.PrivateQueueIdentifier": 8})
    assert "MQMQ-2.2.19.2.flags-rq-layout" in failing(wanted, other, message)


def test_room_for_more_than_the_body_is_allowed_up_to_the_packet() -> None:
    packet = whole()
    key = "MessagePropertiesHeader.AllocationBodySize"
    assert failing(packet, patch(packet, {key: 40})) == set()
    for size in (0, 1 << 20):
        assert failing(packet, patch(packet, {key: size})) == {"MQMQ-2.2.19.3.allocation-body-size-layout"}


def test_defaults_nobody_demands_are_left_alone() -> None:
    message = {
        "identifier": {"source": "909ea0fc-9078-4445-8f11-394c43cd8907", "ordinal": 1},
        "destination": "DIRECT=OS:h\\q",
    }
    wanted = dissect(packet_of(message))
    data = patch(wanted, {"BaseHeader.TimeToReachQueue": 345600, "MessagePropertiesHeader.HashAlgorithm": 0x800E})
    assert failing(wanted, data, message) == set()
    assert "MQMQ-2.2.19.1.time-to-reach-queue-layout" in failing(wanted, data)


@FEW
@given(user_messages() | messages_in_a_session())
def test_right_packets_have_every_field_in_place(message: dict[str, Any]) -> None:
    wanted = dissect(packet_of(message))
    assert failing(wanted, wanted.data, message) == set()


def test_the_packet_the_mutations_start_from_breaks_no_other_rule() -> None:
    # A telling value in every field: a direct name has no address of a queue manager, and no list is empty.
    verdicts = judge_packet(whole().data, profile="msmq-4.0", transport="buffer")
    assert {one.requirement for one in verdicts if one.outcome is not Outcome.PASS} == {
        "MQMQ-2.2.19.2.address-direct",
        "MQMQ-2.2.20.1.destination-complete",
    }


S = f'xmlns:s="{NAMESPACES[0]}"'


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (ENVELOPE, "soap"),
        (
            f'<?xml version="1.0" encoding="utf-16"?><s:Envelope {S}><s:Header><a/></s:Header><s:Body/></s:Envelope>',
            "soap",
        ),
        (f'<Envelope xmlns="{NAMESPACES[1]}"> <Header>x</Header> <Body> </Body> <more/></Envelope>', "soap"),
        ("", "no XML"),
        ("<e/>", "no Envelope"),
        (f"<s:Envelope {S}><s:Header/><s:Body/>", "no XML"),
        ("<s:Envelope><s:Header/><s:Body/></s:Envelope>", "no XML"),
        (f'<!DOCTYPE e [<!ENTITY x "y">]><s:Envelope {S}><s:Header/><s:Body/></s:Envelope>', "no XML"),
        ('<s:Envelope xmlns:s="urn:other"><s:Header/><s:Body/></s:Envelope>', "no Envelope"),
        (f"<s:Envelope {S}/>", "no Header"),
        (f"<s:Envelope {S}><s:Body/><s:Header/></s:Envelope>", "no Header"),
        (f"<s:Envelope {S}><s:Header/></s:Envelope>", "no Body"),
        (f"<s:Envelope {S}><s:Header/><other/><s:Body/></s:Envelope>", "no Body"),
        (f"<s:Envelope {S}><s:Header/><s:Body>text</s:Body></s:Envelope>", "Body not empty"),
        (f"<s:Envelope {S}><s:Header/><s:Body><e/></s:Body></s:Envelope>", "Body not empty"),
        ("<\udc00/>", "no XML"),
    ],
)
def test_what_an_envelope_is_not_is_told(text: str, kind: str) -> None:
    assert kind_of(text) == kind


def test_a_text_that_does_not_end_where_it_should_is_not_read() -> None:
    data = "SRMPEnvelopeHeader.Data"
    for text, known in ((ENVELOPE, True), (f"{ENVELOPE}\0\0\0", False), (ENVELOPE.encode("utf-16-le"), False)):
        packet = dissect(encode("UserMessage", HTTP | {data: text}))
        assert (SOAP in envelope_facts(packet)) is known
