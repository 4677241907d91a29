"""Hypothesis strategies of user messages, as values for `encode`. Sizes are small: layouts do not depend on them."""

from typing import Any

from hypothesis import strategies as st

GUID = st.uuids(version=4).map(str)
NAME = st.text(st.characters(codec="utf-16-le", min_codepoint=1), min_size=1, max_size=24)
OCTETS = st.binary(min_size=1, max_size=40)
U16, U32 = st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF)
_M, _U, _T, _S = "MessagePropertiesHeader.", "UserHeader.", "TransactionHeader.", "SecurityHeader."


def _queue(field: str, *, private: int, other: bool) -> st.SearchStrategy[dict[str, Any]]:
    prefix, selector = f"{_U}{field}.", f"{_U}Flags.{field[0]}Q"
    options = [
        st.builds(lambda name: {f"{prefix}DirectFormatName": name, selector: 7}, NAME),
        st.builds(lambda guid: {f"{prefix}PublicQueueIdentifier": guid, selector: 5}, GUID),
        st.builds(lambda number: {f"{prefix}PrivateQueueIdentifier": number, selector: private}, U32),
    ]
    if other:
        options.append(
            st.builds(
                lambda guid, number: {
                    f"{prefix}SourceQueueManager": guid,
                    f"{prefix}PrivateQueueIdentifier": number,
                    selector: 6,
                },
                GUID,
                U32,
            )
        )
        options.append(st.just({selector: 0}))
    return st.one_of(options)


def _some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


@st.composite
def user_messages(draw: st.DrawFn) -> dict[str, Any]:
    """Values of a UserMessage with any mixture of headers."""
    values: dict[str, Any] = {}
    values |= draw(_queue("DestinationQueue", private=3, other=False))
    values |= draw(_queue("AdminQueue", private=2, other=True))
    values |= draw(_queue("ResponseQueue", private=4, other=True))
    values |= draw(
        st.fixed_dictionaries(
            {
                f"{_U}SourceQueueManager": GUID,
                f"{_U}MessageID": U32,
                f"{_U}SentTime": U32,
                f"{_U}Flags.RC": st.integers(0, 29),
                f"{_U}Flags.JN": st.integers(0, 1),
                f"{_M}Flags.PA": st.integers(0, 1),
                f"{_M}CorrelationID": st.binary(min_size=20, max_size=20),
            },
            optional={
                f"{_U}ConnectorType": GUID,
                f"{_M}Label": NAME,
                f"{_M}ExtensionData": OCTETS,
                f"{_M}MessageBody": OCTETS,
                f"{_T}TxSequenceNumber": U32,
                f"{_T}Flags.ID": st.integers(0, (1 << 20) - 1),
                f"{_T}ConnectorQMGuid": GUID,
                f"{_S}SecurityData.SecurityID": OCTETS,
                f"{_S}SecurityData.Signature": OCTETS,
                f"{_S}SecurityData.SenderCert": OCTETS,
                f"{_S}SecurityData.ProviderInfo.ProviderName": NAME,
                "DebugHeader.Queue.QueueIdentifier": GUID,
                "SoapHeader.Header": NAME,
                "MultiQueueFormatHeader.Destination.FormatNameList": OCTETS,
                "SessionHeader.AckSequenceNumber": U16,
            },
        )
    )
    return values
