"""Errors between the harness and a driver, classified by who is at fault and when in the driver's life it happened.

Every error has a `sentence`: one line for the user with the problem and the remedy.
"""

from __future__ import annotations


class AdapterError(Exception):
    """Base class of all errors that this package raises on purpose. `sentence` is the line to show."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class ConnectorError(AdapterError):
    """The connector text is ill-formed or names nothing known: a mistake of the user (exit code 2)."""


class DriverUnusable(AdapterError):
    """No session can be opened: the driver is missing, not executable, exits at once, answers no valid hello, has the
    wrong version, or its restart budget is spent (exit code 3)."""


class NotOffered(AdapterError):
    """A method was called that the driver's hello does not offer. Suites check `Client.offers` first."""

    def __init__(self, method: str, driver: str) -> None:
        super().__init__(f"{driver} does not offer {method}")
        self.method = method


class NotAccepted(AdapterError):
    """A call needs a value that the driver does not accept, as it said in hello or answered. Nothing was done.

    what: the value, in a few words.
    """

    def __init__(self, what: str, driver: str) -> None:
        super().__init__(f"{driver} cannot be asked for this: {what}")
        self.what = what


class CallIndeterminate(AdapterError):
    """The harness restarted the driver while this call was in flight: the call may have taken effect or not."""

    def __init__(self, method: str) -> None:
        super().__init__(f"{method} was in flight when the driver was restarted: it may have happened or not")
        self.method = method


class DriverFault(AdapterError):
    """The driver broke during a run. Its session has ended; the next call starts a new epoch.

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
    """The process ended, or the connection was closed, without a request to do so (outcome crash)."""


class DriverTimeout(DriverFault):
    """A deadline passed; the driver was killed (outcome timeout)."""

    # A time-out takes its whole deadline, so fewer time-outs than crashes are tolerated.
    restart_cost = 10


class ProtocolViolation(DriverFault):
    """The driver sent something that the protocol does not allow (outcome crash; the sentence is the reason)."""
