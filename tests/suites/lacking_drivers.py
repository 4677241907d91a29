"""The shipped implementation behind APIs that lack one member, each named after that; hello says so, or an answer."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.embedded.driver import EmbeddedDriver

MEMBERS = (
    "body", "body_type", "label", "priority", "delivery", "class", "application_tag", "correlation_identifier",
    "positive_journaling", "negative_journaling", "acknowledgements", "administration_queue", "response_queue",
    "time_to_reach_queue", "time_to_be_received", "trace", "extension",
)  # fmt: skip


class _Without(EmbeddedDriver):
    accepts: ClassVar[dict[str, list[str]]] = {}

    def lacks(self, method: str, params: dict[str, Any]) -> bool:
        """Whether the API can't express a call; nothing is declared of it."""
        return False

    def handle(self, method: str, params: dict[str, Any], reply: Any, pending: Any = lambda: None, **more: Any) -> None:
        def told(result: dict[str, Any]) -> None:
            reply({**result, "accepts": self.accepts} if method == "hello" and self.accepts else result)

        if self.lacks(method, params):
            reply({"status": None, "failure": {"kind": "NotExpressible", "text": f"this {method}"}})
        else:
            super().handle(method, params, told, pending, **more)


class WithoutLabels(_Without):
    accepts: ClassVar = {"message": [each for each in MEMBERS if each != "label"]}


class WithoutPriorities(_Without):
    accepts: ClassVar = {"message": [each for each in MEMBERS if each != "priority"]}


class WithoutLabelsOfQueues(_Without):
    accepts: ClassVar = {"properties": ["PROPID_Q_QUOTA", "PROPID_Q_JOURNAL", "PROPID_Q_TRANSACTION"]}


class WithoutExclusiveHandles(_Without):
    accepts: ClassVar = {"share": ["deny_none"]}


class CannotNameAQueueForReports(_Without):
    def lacks(self, method: str, params: dict[str, Any]) -> bool:
        return method == "messages.send" and "administration_queue" in params["message"]


class CannotOpenASecondCursor(_Without):
    cursors = 0

    def lacks(self, method: str, params: dict[str, Any]) -> bool:
        self.cursors = 0 if method == "reset" else self.cursors + (method == "cursors.open")
        return method == "cursors.open" and self.cursors > 1
