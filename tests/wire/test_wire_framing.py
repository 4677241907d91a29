"""Where one packet of a stream ends."""

import pytest

from conformance.wire import encode, frame_length, settle

PLAIN = encode("UserMessage", {"UserHeader.DestinationQueue.DirectFormatName": "OS:a\\q"})
WITH_SESSION = {"UserHeader.DestinationQueue.DirectFormatName": "OS:a\\q", "SessionHeader.WindowSize": 64}


def test_an_ordinary_packet_has_one_length() -> None:
    assert frame_length(PLAIN[:16]).lengths == (len(PLAIN),)


def test_a_session_ack_is_as_long_as_it_says() -> None:
    assert frame_length(encode("SessionAck")[:16]).lengths == (36,)


@pytest.mark.parametrize("placement", ["after", "inside"])
@pytest.mark.parametrize("behind", [b"", PLAIN, PLAIN[:8]])
def test_a_session_header_behind_a_message_is_found_by_what_follows(placement: str, behind: bytes) -> None:
    data = encode("UserMessage", WITH_SESSION, placement=placement)
    lengths = frame_length(data).lengths
    assert len(lengths) == 2
    assert settle(lengths, data + behind, 0, final=True) == len(data)


def test_more_bytes_are_awaited_while_the_end_is_not_certain() -> None:
    data = encode("UserMessage", WITH_SESSION, placement="inside")
    assert settle(frame_length(data).lengths, data, 0, final=False) is None
    assert settle((40,), b"x" * 39, 0, final=True) is None


@pytest.mark.parametrize(
    ("head", "code"),
    [
        (PLAIN[:15], "truncated"),
        (b"", "truncated"),
        (PLAIN[:4] + b"LIOS" + PLAIN[8:16], "signature"),
        (b"\x11" + PLAIN[1:16], "version"),
        (PLAIN[:8] + bytes(4) + PLAIN[12:16], "packet-size"),
        (PLAIN[:8] + b"\xff" * 4 + PLAIN[12:16], "packet-size"),
        (PLAIN[:8] + (0x400001).to_bytes(4, "little") + PLAIN[12:16], "packet-size"),
    ],
)
def test_a_head_that_cannot_be_framed_says_why(head: bytes, code: str) -> None:
    answer = frame_length(head)
    assert answer.lengths == ()
    assert answer.trouble is not None
    assert answer.trouble.code == code


def test_the_largest_packet_is_allowed() -> None:
    assert frame_length(PLAIN[:8] + (0x400000).to_bytes(4, "little") + PLAIN[12:16]).lengths == (0x400000,)
