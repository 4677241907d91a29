"""The connector `wire:HOST`: what its text says of a host, and the launcher made of it."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Final, NoReturn
from urllib.parse import parse_qsl
from uuid import UUID

from conformance.adapter.connectors import Options
from conformance.adapter.errors import ConnectorError, DriverUnusable
from conformance.adapter.in_process import InProcessLink
from conformance.adapter.supervisor import Launcher
from conformance.nearest import nearest
from conformance.net.addresses import (
    MSMQ_PORT,
    PING_PORT,
    AddressError,
    Permit,
    Target,
    UnresolvedError,
    near,
    one_host,
    target,
)
from conformance.net.driver import Declared, WireDriver, opened
from conformance.net.outgoing import PREFIX, SORTS, Sort, may_send
from conformance.net.windows import QUEUES
from conformance.spec.versions import DEFAULT_PROFILE

TIMERS: Final = (
    "session-initialization", "session-cleanup", "session-retry-connect", "session-ack-wait", "session-ack-send",
    "transactional-ack-wait", "order-ack-send", "message-id-history-cleanup", "ping-response",
    "receive-symmetric-key-cache-cleanup", "send-symmetric-key-cache-cleanup",
    "send-base-symmetric-key-cache-cleanup", "user-cert-cache-cleanup",
)  # fmt: skip
"""The timers of MS-MQQB 3.1.2."""
_KEYS = ("qm", "ping", "peer", "listener", "from", "queues", "packets", "reports")
_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
_FORM = "write wire:HOST or wire:HOST?qm=1801&ping=3527"


def wire(rest: str, options: Options) -> Launcher:
    """Judge the queue manager at `wire:HOST?...` by the packets it sends. Raises ConnectorError.

    The parameters: `qm`, `ping` and `peer` (ports), `listener` (our address), `from` (more of its addresses), `queues`
    (names with commas between), `packets` (correct, odd, malformed), `timer.NAME` and `consume.QUEUE` (durations),
    `reply.QUEUE` (without a value), `reports` (the identifier of a public queue).
    Nothing is sent before the launch, and the name is resolved at the first one alone.
    """
    host, declared = understood(rest, options.profile)
    permit = Permit.of_environment()
    _check(host, permit)
    made: list[WireDriver] = []
    known: list[Target] = []

    def launch() -> InProcessLink:
        while made:
            made.pop().close()  # Its successor listens at the same address.
        try:
            found = known[0] if known else target(host, permit)
        except UnresolvedError as error:
            raise DriverUnusable(str(error)) from None
        except AddressError as error:
            raise ConnectorError(str(error)) from None
        why = may_send(declared.packets, found, permit)
        if why is not None:
            raise ConnectorError(why)
        known[:] = [found]
        driver = opened(found, declared, _record(options.log))
        made.append(driver)
        return InProcessLink(lambda state_dir: driver, (), options.state_dir, f"wire:{host}")

    return Launcher(f"wire:{host}", launch)


def understood(rest: str, profile: str | None = None) -> tuple[str, Declared]:
    """Return the host and what is declared of it. rest: what follows `wire`. Raises ConnectorError."""
    place, _, asked = rest[1:].partition("?")
    if not rest.startswith(":") or not place:
        raise ConnectorError(f"wire{rest[:40]} is not a connector: {_FORM}")
    try:
        host = one_host(place.strip("[]") if place.startswith("[") else place)
    except AddressError as error:
        raise ConnectorError(f"{str(error).rstrip('.')}; {_FORM}") from None
    ports = {"qm": MSMQ_PORT, "ping": PING_PORT}
    queues, sort, listener = tuple(QUEUES), SORTS[0], None
    others: tuple[str, ...] = ()
    timers: dict[str, int] = {}
    consumes: dict[str, int] = {}
    replies: list[str] = []
    reports: str | None = None
    try:
        pairs = parse_qsl(asked, keep_blank_values=True, strict_parsing=bool(asked), max_num_fields=64)
    except ValueError:
        raise ConnectorError(f"?{asked[:60]} is not KEY=VALUE&KEY=VALUE: {_FORM}") from None
    for key, value in pairs:
        if key in ("qm", "ping", "peer"):
            ports[key] = _port(key, value)
        elif key == "packets":
            sort = _sort(value)
        elif key == "reports":
            reports = _identifier(key, value)
        elif key == "listener":
            listener = _ours(value)
        elif key == "from":
            others = tuple(_theirs(each) for each in value.split(","))
        elif key == "queues":
            queues = tuple(_queue(each) for each in value.split(","))
        elif key.startswith("timer."):
            timers[_one_of(key[6:], TIMERS, "timer")] = _ms(key, value)
        elif key.startswith("consume."):
            consumes[_queue(key[8:])] = _ms(key, value)
        elif key.startswith("reply."):
            replies.append(_replied(key, value))
        else:
            _unknown(key)
    return host, Declared(
        qm=ports["qm"],
        ping=ports["ping"],
        peer=ports.get("peer", ports["qm"]),
        queues=queues,
        timers_ms=timers,
        consumes_ms=consumes,
        replies=tuple(replies),
        reports=reports,
        packets=sort,
        profile=profile or DEFAULT_PROFILE,
        listener=listener,
        others=others,
    )


def _check(host: str, permit: Permit) -> None:
    """Refuse a host that was not named twice, before anything else is done."""
    if host.lower() == "localhost" or near(host) or permit.owned == host:
        return
    try:
        target(host, Permit(owned=permit.owned))
    except AddressError as error:
        raise ConnectorError(str(error)) from None


def _record(log: Path | None) -> Path | None:
    """Return where the recording goes: beside the log of the driver, under a name that no earlier launch has taken."""
    if log is None:
        return None
    name = log.name.partition(".")[0].removeprefix("driver-")
    paths = (log.with_name(f"wire-{name}{'' if at == 1 else f'-{at}'}.pcapng") for at in range(1, 10_000))
    return next((path for path in paths if not path.exists()), None)


def _one_of(word: str, known: tuple[str, ...], what: str) -> str:
    if word in known:
        return word
    close = nearest(word, known)
    hint = f"did you mean {close}?" if close else f"one of {', '.join(known)}"
    raise ConnectorError(f"no {what} {word[:60]!r}; {hint}")


def _unknown(key: str) -> NoReturn:
    known = (*_KEYS, "timer.NAME", "consume.QUEUE", "reply.QUEUE")
    close = nearest(key, known)
    hint = f"did you mean {close}?" if close else f"it has {', '.join(known)}"
    raise ConnectorError(f"wire has no {key[:60]!r}; {hint}")


def _port(key: str, value: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", value) or not 0 < int(value) < 65536:
        raise ConnectorError(f"{key}={value[:40]} is no port: give a number from 1 to 65535")
    return int(value)


def _identifier(key: str, value: str) -> str:
    try:
        return str(UUID(value))
    except ValueError:
        raise ConnectorError(f"{key}={value[:40]} is no identifier of a queue: give its GUID") from None


def _sort(value: str) -> Sort:
    for sort in SORTS:
        if sort == value:
            return sort
    raise ConnectorError(f"packets={value[:40]} is not one of {', '.join(SORTS)}")


def _ours(value: str) -> str:
    try:
        return one_host(value)
    except AddressError as error:
        raise ConnectorError(str(error)) from None


def _theirs(value: str) -> str:
    """Read an address from which the host connects; it is answered, so a public one is refused."""
    try:
        found = ipaddress.ip_address(value)
    except ValueError:
        found = None
    if found is None or found.is_global or found.is_multicast or found.is_unspecified:
        raise ConnectorError(f"from={value[:60]} is no address of a server that is not public: give one like 10.0.0.2")
    return str(found)


def _queue(name: str) -> str:
    if not re.fullmatch(rf"{PREFIX}[A-Za-z0-9-]{{1,100}}", name):
        raise ConnectorError(f"{name[:60]!r} is no queue that a run may touch: their names begin with {PREFIX}")
    return name


def _replied(key: str, value: str) -> str:
    if value:
        raise ConnectorError(f"{key[:60]}={value[:40]} has a value: write {key[:60]}=")
    return _queue(key[6:])


def _ms(key: str, value: str) -> int:
    form = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)(ms|s|m|h)", value)
    if form is None:
        raise ConnectorError(f"{key[:60]}={value[:40]} is no duration: write 500ms, 2s, 5m or 1h")
    return round(float(form[1]) * _UNITS[form[2]])
