"""Says which packets are odd: they were decoded without trouble, and still hold what no header explains.

Another understanding of their bytes may explain them better (`hypotheses`). The tree is run here and emitted as
compiled code, which leaves odd packets to this path.
"""

from __future__ import annotations

from conformance.judge.expr import Expr, Has, Not, both, either, eq, ne
from conformance.wire.base_header import SIGNATURE
from conformance.wire.multi_queue_format_header import ADMINISTRATION_ID, DESTINATION_ID, RESPONSE_ID, SIGNATURE_ID
from conformance.wire.soap_headers import BODY_SECTION_ID, HEADER_SECTION_ID

CAUSE = "Packet.Cause"
"""The requirement that explains an odd packet; empty for any other packet."""
_LEFT, _Q, _S = "Packet.Unexplained", "MultiQueueFormatHeader.", "SoapHeader."


# Facts on a text, and their values for one that does not end at its first NUL.
ENDS = (("Inner", True), ("Terminated", False))
QUEUES = ("DestinationQueue", "AdminQueue", "ResponseQueue")


def _marked(key: str, number: int) -> Expr:
    return both(Has(key), ne(key, number))


ODD: Expr = both(
    eq("BaseHeader.Signature", SIGNATURE),
    Has("UserHeader.Flags"),
    either(
        both(ne(_LEFT, 0), Not(Has("ExtensionHeader.Flags"))),
        *(eq(f"UserHeader.{queue}.DirectFormatName.{fact}", odd) for queue in QUEUES for fact, odd in ENDS),
        _marked(f"{_S}HeaderSectionID", HEADER_SECTION_ID),
        _marked(f"{_S}BodySectionID", BODY_SECTION_ID),
        _marked(f"{_Q}Destination.HeaderID", DESTINATION_ID),
        _marked(f"{_Q}Administration.HeaderID", ADMINISTRATION_ID),
        _marked(f"{_Q}Response.HeaderID", RESPONSE_ID),
        _marked(f"{_Q}Signature.ID", SIGNATURE_ID),
    ),
)


def is_no_cause(requirement: str) -> Expr:
    """The requirement is not the one that explains the packet."""
    return ne(CAUSE, requirement)
