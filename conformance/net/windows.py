"""What the owner of a Windows server switches on: registry values from the product notes of MS-MQQB, and queues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

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
