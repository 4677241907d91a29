"""The envelope of a message that was sent over HTTP, read as XML."""

import pytest

from conformance.judge.packets.message_facts import NAMESPACES, SOAP, envelope_facts, kind_of
from conformance.judge.packets.rules_appended import ENVELOPE, HTTP
from conformance.wire import dissect, encode

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
