"""What can go wrong between the harness and a driver, by whose fault it is and when in the driver's life it happened.

Every error carries `sentence`: one line for a person, saying what happened and what to do.
"""

from __future__ import annotations


class AdapterError(Exception):
    """Root of everything this room raises on purpose. `sentence` is the one line to show."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class ConnectorError(AdapterError):
    """The connector text names nothing we know, or is ill-formed: the user's mistake (exit code 2)."""


class DriverUnusable(AdapterError):
    """No session can be had: missing, not executable, exits at once, no good hello, wrong version, or the restart
    budget is spent (exit code 3)."""


class NotOffered(AdapterError):
    """A method was called that the driver's hello does not offer. Suites ask `Client.offers` first."""

    def __init__(self, method: str, driver: str) -> None:
        super().__init__(f"{driver} does not offer {method}")
        self.method = method


class NotAccepted(AdapterError):
    """A method that is offered was to be given what the driver cannot take: it said so in hello, or as its answer.

    what: in a few words. Nothing was done.
    """

    def __init__(self, what: str, driver: str) -> None:
        super().__init__(f"{driver} cannot be asked for this: {what}")
        self.what = what


class CallIndeterminate(AdapterError):
    """The harness itself restarted the driver while this call was in flight: it may have happened or not."""

    def __init__(self, method: str) -> None:
        super().__init__(f"{method} was in flight when the driver was restarted: it may have happened or not")
        self.method = method


class DriverFault(AdapterError):
    """The driver broke during a run. Its session is over; the next call starts a new epoch.

    method: the call that was waited for, if any. returncode: exit status, negative for a signal, None when unknown.
    stderr: the last lines the driver wrote to stderr.
    """

    restart_cost = 1

    def __init__(
        self, sentence: str, *, method: str | None = None, returncode: int | None = None, stderr: str = ""
    ) -> None:
        super().__init__(sentence)
        self.method = method
        self.returncode = returncode
        self.stderr = stderr


class DriverCrashed(DriverFault):
    """The process ended, or the connection was closed, without being asked to (outcome crash)."""


class DriverTimeout(DriverFault):
    """A deadline passed; the driver was killed (outcome timeout)."""

    # A time-out costs its whole deadline in waiting, so fewer of them are borne than of crashes.
    restart_cost = 10


class ProtocolViolation(DriverFault):
    """The driver said what the protocol does not allow (outcome crash, the sentence is the reason)."""
