"""The connector `wire:HOST`: what its text says of a host, and what the owner of a Windows server switches on."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn
from urllib.parse import parse_qsl
from uuid import UUID

from conformance.adapter.connectors import Options
from conformance.adapter.errors import ConnectorError, DriverUnusable
from conformance.adapter.host import InProcessLink
from conformance.adapter.process import Launcher
from conformance.net.addresses import (
    PING_PORT,
    AddressError,
    Permit,
    Target,
    UnresolvedError,
    near,
    one_host,
    place,
    target,
)
from conformance.net.driver import Declared, WireDriver, opened
from conformance.net.ends import PREFIX, SORTS, Sort, may_send
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.suggest import nearest

PARAMETERS: Final = r"HKLM:\SOFTWARE\Microsoft\MSMQ\Parameters"
_SECURITY: Final = rf"{PARAMETERS}\Security"


@dataclass(frozen=True, slots=True)
class Switch:
    """A value of the registry. note: the product note of MS-MQQB. set_to: the DWORD that shows what is hidden.

    hides: what is not seen without it. costs: what it means to leave it on.
    """

    key: str
    name: str
    note: int
    set_to: int
    hides: str
    costs: str

    @property
    def path(self) -> str:
        """The value as PowerShell and people write it."""
        return f"{self.key}\\{self.name}"


PING: Final = Switch(
    _SECURITY, "EnablePingService", 10, 1,
    "answers to pings: Windows Vista, Server 2008 and later do not listen for them",
    "whoever reaches UDP 3527 learns that a queue manager runs here, and its identifier",
)  # fmt: skip
INSECURE_NACKS: Final = Switch(
    _SECURITY, "PermitInsecureNacks", 28, 1,
    "negative acknowledgments about queues that do not exist, rights and quotas: Vista SP1, Server 2008 and later"
    " send none",
    "a stranger can find out which queues exist, and who may send to them",
)  # fmt: skip
CLEANUP: Final = Switch(
    PARAMETERS, "CleanupInterval", 44, 2_000,
    "the Session Cleanup Timer: by default it takes 5 minutes (2 on a routing server)",
    "idle sessions are closed after 2 s and made again for the next message",
)  # fmt: skip
ACK_WAIT: Final = Switch(
    PARAMETERS, "QosCleanupIntervalMultiplier", 46, 1,
    "the Session Ack Wait Timer: by default it takes twice AckTimeout for direct format names",
    "slow peers lose their session, and messages are sent again, sooner",
)  # fmt: skip
RECONNECT: Final = Switch(
    PARAMETERS, "TryConnectInterval", 45, 1_000,
    "nothing; it makes the Session Retry Connect Timer 1 s in place of 5",
    "hosts that are away are tried more often",
)  # fmt: skip
DUPLICATES: Final = Switch(
    PARAMETERS, "RemoveDuplicateCleanup", 47, 30_000,
    "when a message identifier is forgotten: by default after 30 minutes",
    "a copy of a message that comes later than 30 s is taken for a new one",
)  # fmt: skip
RESENDS: Final = Switch(
    PARAMETERS, "SeqResend13Time", 24, 2,
    "when transactional messages are sent again: by default after 30 s, later 5 and 30 minutes and 6 hours",
    "unanswered transactional messages are sent again every 2 s",
)  # fmt: skip
SWITCHES: Final = (PING, INSECURE_NACKS, CLEANUP, ACK_WAIT, RECONNECT, DUPLICATES, RESENDS)

QUEUES: Final[Mapping[str, str]] = {
    "mqconform-plain": "",
    "mqconform-transactional": "Transactional = $true",
    "mqconform-journal": "Journaling = $true",
    "mqconform-authenticated": "Authenticate = $true",
    "mqconform-private": "PrivacyLevel = 'Body'",
}
"""The queues of a run, and how PowerShell is told to make them."""
_QUOTA_KB = 16_384
_HEAD = r"""# Makes the private queues that mqconform may send to. Run it as an administrator of the server.
# Each holds at most {quota} KB. Anybody who reaches the server may send to them, as MSMQ's peers do not log on.
# To undo it: mqconform wire setup --remove
#Requires -RunAsAdministrator
$ErrorActionPreference = 'Stop'
Import-Module MSMQ
$anonymous = [System.Security.Principal.SecurityIdentifier]::new('S-1-5-7')
$sender = $anonymous.Translate([System.Security.Principal.NTAccount]).Value

function Add-ConformanceQueue([string]$Name, [hashtable]$Settings) {{
    $queue = Get-MsmqQueue -QueueType Private | Where-Object {{ $_.QueueName -eq "private`$\$Name" }}
    if (-not $queue) {{
        $queue = New-MsmqQueue -Name $Name -QueueType Private -Label 'mqconform' -QueueQuota {quota} @Settings
    }}
    Set-MsmqQueueACL -InputObject $queue -UserName $sender -Allow WriteMessage | Out-Null
    Write-Output "$Name is there"
}}

"""
_REMOVE = r"""# Removes the queues that mqconform wire setup has made, and what is in them.
#Requires -RunAsAdministrator
$ErrorActionPreference = 'Stop'
Import-Module MSMQ
"""


def setup_script() -> str:
    """Return the PowerShell script that makes the queues of a run, with the registry values as comments."""
    lines = [_HEAD.format(quota=_QUOTA_KB)]
    lines += [f"Add-ConformanceQueue '{name}' @{{ {how} }}\n".replace("{  }", "{}") for name, how in QUEUES.items()]
    lines += [
        "\n# Windows hides some of what can be judged. A line below shows it until its value is removed again;\n"
        "# Restart-Service MSMQ makes it count. docs/wire.md tells what each costs.\n"
    ]
    for each in SWITCHES:
        lines.append(f"# New-ItemProperty -Force -PropertyType DWord -Path '{each.key}' -Name {each.name}")
        lines.append(f" -Value {each.set_to}\n")
    return "".join(lines)


def removal_script() -> str:
    """Return the PowerShell script that removes these queues and values."""
    lines = [_REMOVE]
    names = ", ".join(f"'private$\\{name}'" for name in QUEUES)
    lines.append(f"Get-MsmqQueue -QueueType Private | Where-Object {{ $_.QueueName -in {names} }} | Remove-MsmqQueue\n")
    lines.append("\n# The registry values that docs/wire.md names; Restart-Service MSMQ makes it count.\n")
    for each in SWITCHES:
        lines.append(f"# Remove-ItemProperty -ErrorAction SilentlyContinue -Path '{each.key}' -Name {each.name}\n")
    return "".join(lines)


TIMERS: Final = (
    "session-initialization", "session-cleanup", "session-retry-connect", "session-ack-wait", "session-ack-send",
    "transactional-ack-wait", "order-ack-send", "message-id-history-cleanup", "ping-response",
    "receive-symmetric-key-cache-cleanup", "send-symmetric-key-cache-cleanup",
    "send-base-symmetric-key-cache-cleanup", "user-cert-cache-cleanup",
)  # fmt: skip
"""The timers of MS-MQQB 3.1.2."""
_KEYS = ("qm", "ping", "peer", "rpc", "listener", "from", "queues", "packets", "reports")
_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
SETTINGS: Final = {
    "ack-timeout": "ack_timeout_ms",
    "window-size": "window_size",
    "server-class": "server_class",
}
"""Members of `sessions.about` on what the host is set up with, by the parameter that declares each."""
_FORM = "write wire:HOST, wire:HOST:1801 or wire:HOST?qm=1801&ping=3527"


def wire(rest: str, options: Options) -> Launcher:
    """Judge the queue manager at `wire:HOST?...` by the packets it sends. Raises ConnectorError.

    The parameters: `qm`, `ping`, `peer` and `rpc` (ports), `listener` (our address), `from` (more of its addresses),
    `queues` (names with commas between), `packets` (correct, odd, malformed), `timer.NAME` and `consume.QUEUE`
    (durations), `reply.QUEUE` (without a value), `reports` (the identifier of a public queue), `ack-timeout` (a
    duration), `window-size` (messages), `server-class` (yes or no).
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
        link = InProcessLink(lambda state_dir: driver, (), options.state_dir, f"wire:{host}")
        link.keeps_state = False  # A start of the driver is none of the host.
        return link

    return Launcher(f"wire:{host}", launch)


def understood(rest: str, profile: str | None = None) -> tuple[str, Declared]:
    """Return the host and what is declared of it. rest: what follows `wire`. Raises ConnectorError."""
    named, _, asked = rest[1:].partition("?")
    if not rest.startswith(":") or not named:
        raise ConnectorError(f"wire{rest[:40]} is not a connector: {_FORM}")
    try:
        found = place(named)
    except AddressError as error:
        raise ConnectorError(f"{str(error).rstrip('.')}; {_FORM}") from None
    host, ports = found.host, {"qm": found.port, "ping": PING_PORT}
    queues, sort = tuple(QUEUES), SORTS[0]
    listeners: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    timers: dict[str, int] = {}
    consumes: dict[str, int] = {}
    replies: list[str] = []
    reports: str | None = None
    settings: dict[str, int] = {}
    try:
        pairs = parse_qsl(asked, keep_blank_values=True, strict_parsing=bool(asked), max_num_fields=64)
    except ValueError:
        raise ConnectorError(f"?{asked[:60]} is not KEY=VALUE&KEY=VALUE: {_FORM}") from None
    for key, value in pairs:
        if key in ("qm", "ping", "peer", "rpc"):
            ports[key] = _port(key, value)
        elif key == "packets":
            sort = _sort(value)
        elif key == "reports":
            reports = _identifier(key, value)
        elif key in SETTINGS:
            settings[SETTINGS[key]] = _setting(key, value)
        elif key == "listener":
            listeners = tuple(_ours(each) for each in value.split(","))
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
        rpc=ports.get("rpc"),
        queues=queues,
        timers_ms=timers,
        consumes_ms=consumes,
        replies=tuple(replies),
        reports=reports,
        settings=settings,
        packets=sort,
        profile=profile or DEFAULT_PROFILE,
        listeners=listeners,
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
    known = (*_KEYS, *SETTINGS, "timer.NAME", "consume.QUEUE", "reply.QUEUE")
    close = nearest(key, known)
    hint = f"did you mean {close}?" if close else f"it has {', '.join(known)}"
    raise ConnectorError(f"wire has no {key[:60]!r}; {hint}")


def _port(key: str, value: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", value) or not 0 < int(value) < 65536:
        raise ConnectorError(f"{key}={value[:40]} is no port: give a number from 1 to 65535")
    return int(value)


def _setting(key: str, value: str) -> int:
    """Read a setting: a duration in milliseconds, a number of messages, or whether something is so."""
    if key == "ack-timeout":
        return _ms(key, value)
    if key == "server-class":
        if value not in ("yes", "no"):
            raise ConnectorError(f"{key}={value[:40]} is neither yes nor no")
        return value == "yes"
    if not re.fullmatch(r"[0-9]{1,5}", value) or int(value) > 0xFFFF:
        raise ConnectorError(f"{key}={value[:40]} is no number of messages: give one up to 65535")
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
