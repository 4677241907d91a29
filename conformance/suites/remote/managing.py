"""Stories of MS-MQMR: what is read of a host and its queues, and what it is told to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conformance.spec.constants.hresults import MQ_ERROR_INVALID_PARAMETER
from conformance.suites.remote.steps import Step, Story, do, story

_NULL: Final = b"\1\0" + bytes(6) + b"\1\0"
"""VT_NULL, as the last value of a request."""


def _get(target: str, *properties: int, alter: Callable[[bytes], bytes] | None = None) -> Step:
    more = {} if alter is None else {"alter": alter}
    return do("get", "m", target=target, properties=list(properties), **more)


def _act(target: str, action: str) -> Step:
    return do("act", "m", target=target, action=action)


def _sent_as(value: bytes) -> Callable[[bytes], bytes]:
    """Return what puts another value in place of the last VT_NULL of a request."""
    return lambda octets: octets.removesuffix(_NULL) + value


_SEVEN: Final = _sent_as(b"\x13\0" + bytes(6) + b"\x13\0\0\0\7\0\0\0")
_VECTOR_OF_NOTHING: Final = _sent_as(b"\x13\x10" + bytes(6) + b"\x13\x10\0\0" + b"\1\0\0\0" + bytes(4))


def _short(octets: bytes) -> bytes:
    return octets[:-1]


_MACHINE, _QUEUE = range(1, 7), range(1, 13)
_GETS: tuple[Story, ...] = (
    *(story(f"get-{target}-{at}", "a", _get(target, at).ok("get", "opnum").shows("get", "same-length"))
      for target, properties in (("machine", _MACHINE), ("q", _QUEUE)) for at in properties),
    story("get-all", "a", _get("q", *_QUEUE).ok("get").shows("get", "same-length"),
          _get("machine", *_MACHINE).ok("get").shows("get", "same-length")),
    *(story(f"get-{target}-in-turn", "a", _get(target, 1, 2, 4).ok("get").shows("value-of-identifier"),
            _get(target, 4, 1).ok("get").shows("value-of-identifier"),
            _get(target, 2, 2, 1).ok("get").shows("value-of-identifier", "same-length"))
      for target in ("machine", "q")),
    *(story(f"get-{target.replace(' ', '-')}-name-{at}", "", _get(target, at).ok("get").shows(f"MQMQ-2.3.{row}"))
      for target, at, row in (
          ("q", 1, "12.1.propid-mgmt-queue-pathname"), ("q", 2, "12.2.propid-mgmt-queue-formatname"),
          ("tcp q", 1, "12.1.propid-mgmt-queue-pathname"), ("machine", 2, "11.2.propid-mgmt-msmq-privateq"))),
    story("get-sent-any", "a", _get("q", 1).ok("get").shows("null-sent-any"),
          _get("q", 1, alter=_SEVEN).ok("null-sent-any").shows("null-sent-any")),
    story("get-none", "", _get("machine").throws("at-most-128")),
    story("get-too-many", "", _get("machine", *[4] * 129).throws("at-most-128")),
    story("get-most", "", _get("machine", *[4] * 128).shows("at-most-128")),
    *(story(f"get-machine-{at}", "", _get("machine", at).shows("machine-properties",
            "3.1.4.no-exceptions")) for at in (7, 12, 27)),
    *(story(f"get-queue-{at}", "", _get("q", at).shows("queue-properties", "3.1.4.no-exceptions"))
      for at in (0, 28, 999)),
    *(story(f"get-session-{at}", "", _get("session", at).fails("session", code=MQ_ERROR_INVALID_PARAMETER).shows(
            "no-values-on-failure", "3.1.4.no-exceptions")) for at in (1, 4)),
    story("get-unknown", "", _get("none", 1).fails("unknown-queue").shows(
          "no-values-on-failure", "3.1.4.no-exceptions")),
    story("get-directory", "", _get("machine", 3).ok("get").shows("dsserver-none")),
    story("get-cut-short", "", _get("machine", 4, alter=_short).throws("3.1.4.strict-ndr"),
          _get("q", 1, alter=_short).throws("3.1.4.strict-ndr")),
    story("get-vector-of-nothing", "", _get("machine", 4, alter=_VECTOR_OF_NOTHING).throws("3.1.4.null-with-size")),
    story("bound", "", _get("machine", 4).ok("2.1.uuid")),
)  # fmt: skip
_ACTIONS: tuple[Story, ...] = (
    *(story(f"act-{action}", "a", _act("machine", action).ok(word, "opnum"))
      for action, word in (("TIDY", "success"), ("tIdY", "any-case"), ("tidy", "any-case"))),
    *(story(f"act-{target}-{action}", "a", _act(target, action).fails(word).shows("3.1.4.no-exceptions"))
      for target, action, word in (
          *(("session", action, "session") for action in ("PAUSE", "CONNECT")),
          *(("machine", action, "unknown-action") for action in ("JUMP", "CONNECTED", "TIDY ")),
          *(("q", action, "unknown-action") for action in ("", "JUMP", "PAUSED")),
          *(("q", action, "kind-of-target") for action in ("CONNECT", "DISCONNECT")),
          *(("machine", action, "kind-of-target") for action in ("PAUSE", "RESUME", "EOD_RESEND")),
          *(("none", action, "unknown-queue") for action in ("PAUSE", "EOD_RESEND")),
          *(("q", action, "outgoing-only") for action in ("PAUSE", "RESUME", "EOD_RESEND")))),
)  # fmt: skip
STORIES: Final[tuple[Story, ...]] = tuple(
    Story(each.name, each.given, each.steps[1:], ("MQMR",)) for each in (*_GETS, *_ACTIONS)
)
