"""Texts with a grammar that are no names of queues, names that the implementation gives out, and hostile texts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.judge.names import (
    FORMAT_NAME,
    LONGEST_MESSAGE_LABEL,
    LONGEST_QUEUE_LABEL,
    MULTICAST_ADDRESS,
    MULTICAST_CLASS,
    MULTICAST_RULE,
    MULTICAST_SHAPE,
    MULTIPLE_ELEMENT,
    ONE_PORT,
    ONLY,
    PATH_NAME,
    PORT_ZEROS,
    PORTS,
    QUEUE_LABEL,
    QUEUE_LABEL_CHARACTERS,
    QUEUE_LABEL_MAXIMUM,
    TextCase,
    TextObservation,
    judge_label,
    judge_property,
    units,
)
from conformance.spec.catalogue import requirement_id
from conformance.suites.names import checks as sp
from conformance.suites.names.checks import observe
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

Step = Callable[..., None]
MOST_LATE = 8  # most messages of earlier examples to skip, because a driver may return others for ever
_QUEUE = "private$\\mqconform-texts"
PLAIN = {QUEUE_LABEL: "orders", MULTICAST_ADDRESS: "234.1.1.1:1801"}
"""Values that every implementation with the property must accept."""


def text_queue(mq: Port) -> str | None:
    """Create a queue whose properties can be set and return its format name; None if that fails."""
    path_name = f"{mq.hello.computer}\\{_QUEUE}"
    created = mq.call("queues.create", path_name=path_name)
    if created.ok:
        return str(created.values["format_name"])
    name = f"DIRECT=OS:{path_name}"  # another test may have created it
    opened = mq.call("queues.open", format_name=name, access="receive")
    if not opened.ok:
        return None
    mq.call("queues.close", queue=opened.values["queue"])
    return name


def takes(mq: Port, queue: str, name: str, text: str) -> bool:
    """Return True if the queue accepts this value of a property."""
    return mq.call("queues.set", format_name=queue, properties={name: text}).ok


def set_and_judge(case: TextCase, queue: str, mq: Port, step: Step, options: RunOptions) -> list[Verdict]:
    """Set a property of `queue` to the text, read it back, and judge both answers."""
    before = _read(mq, queue, case.property)
    params = {"format_name": queue, "properties": {case.property: case.text}}
    seen = TextObservation.of(mq.call("queues.set", **params).status)
    after = _read(mq, queue, case.property)
    if before is not None and after is not None:
        seen = replace(seen, read=True, value=after[0])
    step(f"set {case.property} to {case.text!r}", {"method": "queues.set", "params": params}, seen.to_json())
    return judge_property(case, seen, before[0] if before else None, options.readings)


def _read(mq: Port, queue: str, name: str) -> tuple[Any] | None:
    """Return the value of a property in a tuple; None if it cannot be read."""
    if not mq.offers("queues.get"):
        return None
    result = mq.call("queues.get", format_name=queue, properties=[name])
    return (result.values["properties"].get(name),) if result.ok else None


def path_given_out(mq: Port, queue: str) -> str | None:
    """Return the path name among the properties of a queue; None if it is not shown."""
    told = _read(mq, queue, "PROPID_Q_PATHNAME")
    return told[0] if told is not None and isinstance(told[0], str) else None


def open_both(mq: Port, queue: str) -> tuple[Any, Any] | None:
    """Open a queue; return handles to send and to receive, or None if it cannot be opened."""
    handles = []
    for access in ("send", "receive"):
        opened = mq.call("queues.open", format_name=queue, access=access)
        if not opened.ok:
            return None
        handles.append(opened.values["queue"])
    return handles[0], handles[1]


def send_and_judge(label: str, handles: tuple[Any, Any], mq: Port, step: Step, options: RunOptions) -> list[Verdict]:
    """Send a message with the label, receive it, and judge both answers."""
    # A late message of an earlier example must not count as the message of this one.
    body = b64encode(blake2b(label.encode("utf-8", "surrogatepass"), digest_size=12).digest()).decode("ascii")
    params = {"queue": handles[0], "message": {"label": label, "body": body}}
    seen = TextObservation.of(mq.call("messages.send", **params).status)
    if seen.accepted:
        for _ in range(MOST_LATE):
            got = mq.call("messages.receive", queue=handles[1], timeout_ms=mq.hello.settle_ms)
            if not got.ok:
                break
            if got.values["message"].get("body") == body:
                seen = replace(seen, read=True, value=got.values["message"].get("label", ""))
                break
    step(f"send a message labelled {label!r}", {"method": "messages.send", "params": params}, seen.to_json())
    return judge_label(label, seen, options.readings)


_NARROW = "ab Zß€ЖヲÿĀ,;\\\"'"  # one UTF-16 code unit each
_WIDE = "\U0001f600\U00010330\U0010fffd"  # two code units each
_EDGES = "\x01\t\uffff\ufffe\ufeff\ue000"  # allowed in a message's label like any other character
_ONE = (ONE_PORT, "one")
REFUSED: Mapping[str, bool] = {ONLY: False}


def _sized(length: int, of_two: int, alphabet: str, start: int) -> str:
    """Return a text of `length` UTF-16 code units, with up to `of_two` characters of two units."""
    pairs = min(of_two, length // 2)
    wide = "".join(_WIDE[(start + at) % len(_WIDE)] for at in range(pairs))
    narrow = "".join(alphabet[(start + at) % len(alphabet)] for at in range(length - 2 * pairs))
    return wide + narrow if start % 2 else narrow + wide


def _texts(longest: int, alphabet: str) -> SearchStrategy[str]:
    lengths = st.one_of(
        st.sampled_from((longest - 1, longest, longest, longest + 1, longest + 2, 2 * longest, 4 * longest)),
        st.integers(0, 2 * longest),
    )
    pairs = st.sampled_from((0, 0, 1, longest // 2, longest, 2 * longest))
    return st.builds(_sized, lengths, pairs, st.just(alphabet), st.integers(0, len(alphabet)))


def labels() -> SearchStrategy[str]:
    """Generate labels of messages of about the greatest length, some with a null."""
    with_null = st.builds(
        lambda text, at: text[: at % (len(text) + 1)] + "\0" + text[at % (len(text) + 1) :],
        _texts(LONGEST_MESSAGE_LABEL // 4, _NARROW).filter(lambda text: units(text) < LONGEST_MESSAGE_LABEL),
        st.integers(0, LONGEST_MESSAGE_LABEL),
    )
    return st.one_of(*[_texts(LONGEST_MESSAGE_LABEL, _NARROW + _EDGES)] * 4, with_null)


def edge_labels() -> tuple[str, ...]:
    """Return the message labels of every run: empty, the longest, one unit longer, of narrow and of wide characters."""
    longest, wide = LONGEST_MESSAGE_LABEL, _WIDE[0]
    pairs = wide * (longest // 2)
    return ("", "x", "x" * longest, "x" * (longest + 1), wide, pairs, f"{pairs}x", pairs + wide, "a\0b")


def edge_queue_labels() -> tuple[TextCase, ...]:
    """Return the queue labels of every run."""
    longest, wide = LONGEST_QUEUE_LABEL, _WIDE[0]
    texts = ("x", "x" * longest, "x" * (longest + 1), wide * (longest // 2), wide * longest, wide * (longest + 1))
    return tuple(map(queue_label, texts))


def edge_multicast_addresses() -> tuple[TextCase, ...]:
    """Return the multicast addresses of every run: the first and last of each range, and one beyond."""
    return (
        *(_plain(address, 1801) for address in ("224.0.0.0", "239.255.255.255", "234.10.99.100")),
        *(_plain("234.1.1.1", port) for port in (0, 19, 199, 1999, 10000, 65535)),
        _none("223.255.255.255:1801", MULTICAST_CLASS),
        _none("240.0.0.0:1801", MULTICAST_CLASS),
        _none("234.1.1.1", MULTICAST_SHAPE),
        _none("234.1.1.1:", MULTICAST_SHAPE),
        _none("234.1.1:1801", MULTICAST_SHAPE),
        _none("234.1.1.1:65536", MULTICAST_RULE),
        _none("234.1.1.256:1801", MULTICAST_RULE),
        _none("234.01.1.1:1801", MULTICAST_RULE),
    )


def queue_labels() -> SearchStrategy[TextCase]:
    """Generate labels of queues of about the greatest length."""
    return _texts(LONGEST_QUEUE_LABEL, _NARROW).map(queue_label)


def queue_label(text: str) -> TextCase:
    """Return the case of one label of a queue."""
    in_units, in_characters = units(text) <= LONGEST_QUEUE_LABEL, len(text) <= LONGEST_QUEUE_LABEL
    if in_units == in_characters:
        return TextCase(QUEUE_LABEL, text, QUEUE_LABEL_MAXIMUM, {ONLY: in_units})
    accepted = {"units": in_units, "characters": in_characters}
    return TextCase(QUEUE_LABEL, text, QUEUE_LABEL_MAXIMUM, accepted, QUEUE_LABEL_CHARACTERS)


def multicast_addresses() -> SearchStrategy[TextCase]:
    """Generate multicast addresses of queues, and texts that are none for one reason."""
    address, port = sp.multicast_addresses(), st.integers(0, 65535).filter(sp.port_of_the_letter)
    octet = st.integers(0, 255)
    large = st.one_of(st.integers(65536, 99999), st.integers(100000, 1 << 40))
    missing = st.sampled_from(("", ":", ";1801", " 1801", "/1801", ":1801:", ":1801 ", ":http"))
    hosts = st.sampled_from(("HOST", "", "[ff02::1]", "234.1.1", "234.1.1.1.1", "234..1.1", " 234.1.1.1", "EA010101"))
    wrong_octets = st.builds(lambda first, rest: f"234.{first}.1.{rest}", st.integers(256, 999), octet)
    zeros = st.builds(lambda first, rest: f"234.0{first}.1.{rest}", octet, octet)
    digits = st.sampled_from(("234.1.1.１", "２34.1.1.1", "234.1.1.1٣", "234.1.1.+1", "234.1.1.-1", "234.1.1.0x1"))
    return st.one_of(
        st.builds(_plain, address, port),
        st.builds(
            lambda one, two: _case(f"{one}:{two}:{two}", MULTICAST_SHAPE, {"one": False, "two": True}), address, port
        ),
        st.builds(
            lambda one, two: _case(f"{one}:{two}", MULTICAST_RULE, {"all": True, "letter": False}, PORTS, _ONE),
            address,
            st.integers(20, 9999).filter(lambda number: not sp.port_of_the_letter(number)),
        ),
        st.builds(
            lambda one, two: _case(
                f"{one}:0{two}", MULTICAST_RULE, {"refused": False, "accepted": True}, PORT_ZEROS, _ONE
            ),
            address,
            st.integers(1000, 1999),
        ),
        st.builds(lambda one, two: _none(f"{one}:{two}", MULTICAST_CLASS), sp.other_addresses(), port),
        st.builds(lambda one, two: _none(f"{one}{two}", MULTICAST_SHAPE), address, missing),
        st.builds(lambda one, two: _none(f"{one}:{two}", MULTICAST_SHAPE), hosts, port),
        st.builds(lambda one, two: _none(f"{one}:{two}", MULTICAST_RULE), st.one_of(wrong_octets, zeros, digits), port),
        st.builds(lambda one, two: _none(f"{one}:{two}", MULTICAST_RULE), address, large),
    )


def _plain(address: str, port: int) -> TextCase:
    return _case(f"{address}:{port}", MULTICAST_RULE, {"one": True, "two": False})


def _case(
    text: str,
    requirement: str,
    accepted: Mapping[str, bool],
    reading: str = ONE_PORT,
    given: tuple[str, str] | None = None,
) -> TextCase:
    return TextCase(MULTICAST_ADDRESS, text, requirement, accepted, reading, given)


def _none(text: str, requirement: str) -> TextCase:
    return TextCase(MULTICAST_ADDRESS, text, requirement, REFUSED)


PATH = requirement_id("MQMQ-2.1.1.sent")
DIRECT = requirement_id("MQMQ-2.1.2.sent")
KINDS = {"public": requirement_id("MQMQ-2.1.3.sent"), "private": requirement_id("MQMQ-2.1.4.sent")}
"""Requirement by prefix. A name without a known prefix counts as a direct one, the only kind that every manager has."""


def names_of(queue: str, mq: Port, profile: str) -> list[Verdict]:
    """Judge the format name that a queue's creation returned, and the path name among its properties."""
    from conformance.grammar.bulk import FORMAT_NAME, PATH_NAME, NameError_  # slow to import: it compiles rules
    from conformance.grammar.names import bulk

    names = [(queue, FORMAT_NAME, KINDS.get(queue.partition("=")[0].lower(), DIRECT))]
    path_name = path_given_out(mq, queue)
    if path_name is not None:
        names.append((path_name, PATH_NAME, PATH))
    grammar, verdicts = bulk(profile), []
    for text, form, demand in names:
        try:
            grammar.parse(text, form)
            outcome = Outcome.PASS
        except NameError_:
            outcome = Outcome.FAIL
        verdicts.append(Verdict(demand, outcome, text, {"form": form, "derived": True}, {"text": text}))
    return verdicts


# A line of the protocol ends at 8 MiB (`ConnectorOptions.max_line_bytes`): this is the longest name that surely
# fits beside the rest of a request. A name of 10 MB cannot be sent to any driver.
LONGEST = (8 << 20) - (1 << 16)
_GUID = "0123ABCD-4567-89ab-CDEF-0123456789ab"
_CONTROLS = "".join(map(chr, range(0x20)))

Made = tuple[str, str, Callable[[], str]]  # form, requirement, the text
HOSTILE: Mapping[str, Made] = MappingProxyType(
    {
        "longest queue": (PATH_NAME, "MQMQ-2.1.1.queue-name-too-long", lambda: "HOST\\" + "q" * LONGEST),
        "longest computer": (PATH_NAME, "MQMQ-2.1.1.computer-too-long", lambda: "h" * LONGEST + "\\q"),
        "longest direct": (FORMAT_NAME, "MQMQ-2.1.2.queue-name-reject", lambda: "DIRECT=OS:HOST\\" + "q" * LONGEST),
        "longest number": (FORMAT_NAME, "MQMQ-2.1.4.number-too-long", lambda: f"PRIVATE={_GUID}\\" + "0" * LONGEST),
        "commas": (MULTIPLE_ELEMENT, "MQMQ-2.1.7.empty-element-reject", lambda: "," * LONGEST),
        "backslashes": (FORMAT_NAME, "MQMQ-2.1.2.queue-name-reject", lambda: "DIRECT=OS:HOST" + "\\" * (LONGEST // 2)),
        "NUL alone": (PATH_NAME, "MQMQ-2.1.1.separator", lambda: "\0"),
        "NUL behind a name": (FORMAT_NAME, "MQMQ-2.1.3.trailing-reject", lambda: f"PUBLIC={_GUID}\0"),
        "NUL in a queue": (PATH_NAME, "MQMQ-2.1.1.queue-name-control-reject", lambda: "HOST\\q\0q"),
        "all controls": (PATH_NAME, "MQMQ-2.1.1.queue-name-control-reject", lambda: f"HOST\\q{_CONTROLS}"),
        "line ends": (FORMAT_NAME, "MQMQ-2.1.3.trailing-reject", lambda: f"PUBLIC={_GUID}\r\n"),
        "lone surrogate in a computer": (PATH_NAME, "MQMQ-2.1.1.computer-alphabet-reject", lambda: "h\ud800\\q"),
        "lone surrogate in a GUID": (FORMAT_NAME, "MQMQ-2.1.3.guid-reject", lambda: f"PUBLIC=\udc00{_GUID}"),
        "surrogates the wrong way round": (
            FORMAT_NAME,
            "MQMQ-2.1.2.prefix-reject",
            lambda: "\udc00\ud800DIRECT=OS:HOST\\q",
        ),
    }
)
REQUIREMENTS = tuple(dict.fromkeys(requirement_id(demand) for _, demand, _ in HOSTILE.values()))


def judge_hostile(name: str, mq: Port) -> tuple[Verdict, dict[str, Any]]:
    """Send one of HOSTILE; return the verdict and the answer for the story. Raises KeyError for another name."""
    form, demand, make = HOSTILE[name]
    seen = observe(mq.call("names.parse", text=make(), form=form))
    told = {"accepted": seen.accepted}
    outcome = Outcome.FAIL if seen.accepted else Outcome.PASS
    return Verdict(requirement_id(demand), outcome, f"hostile {form}: {name}", {"accepted": False}, told), told
