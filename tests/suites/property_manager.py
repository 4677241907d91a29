"""The queue manager of `honest_properties`, and variants of it, each named after its defect."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from honest_properties import (
    DEFAULTS,
    EXISTS,
    FIXED,
    MANAGER,
    MESSAGE,
    NOT_ALLOWED,
    OK,
    PROPERTY,
    PROPID,
    VALUE,
    Honest,
    Refused,
)

from conformance.adapter.protocol import body_bytes


class SaysPropertyForEverything(Honest):
    """No defect: the other way to read MS-MQMQ 2.4."""

    def check(self, name: str, value: Any) -> None:
        try:
            super().check(name, value)
        except Refused:
            raise Refused(PROPERTY) from None

    def known(self, name: str) -> str:
        try:
            return super().known(name)
        except Refused:
            raise Refused(PROPERTY) from None

    def checked(self, properties: dict[str, Any], writable: tuple[str, ...]) -> dict[str, Any]:
        try:
            return super().checked(properties, writable)
        except Refused:
            raise Refused(PROPERTY) from None


class PassesOverWhatItCannotWrite(Honest):
    """No defect: the other way to read MS-MQMP 3.1.1.12."""

    def checked(self, properties: dict[str, Any], writable: tuple[str, ...]) -> dict[str, Any]:
        fine = {f"PROPID_Q_{name}" for name in writable}
        self.passed_over = not fine.issuperset(properties)
        return super().checked({name: value for name, value in properties.items() if name in fine}, writable)

    def handle(
        self, method: str, params: dict[str, Any], reply: Callable[[dict[str, Any]], None], pending: Callable[[], None]
    ) -> None:
        self.passed_over = False

        def saying(result: dict[str, Any]) -> None:
            reply(result | {"status": 0x400E0003} if self.passed_over and result["status"] == 0 else result)

        super().handle(method, params, saying, pending)

    def do_queues_get(self, format_name: str, properties: list[str]) -> dict[str, Any]:
        every = (*DEFAULTS, *FIXED)
        names = [
            name for name in properties if name.removeprefix("PROPID_Q_") in every and name.startswith("PROPID_Q_")
        ]
        self.passed_over = names != properties
        return super().do_queues_get(format_name, names)


class PassesOverInSilence(PassesOverWhatItCannotWrite):
    """Says MQ_OK to it, as if it were written."""

    def handle(
        self, method: str, params: dict[str, Any], reply: Callable[[dict[str, Any]], None], pending: Callable[[], None]
    ) -> None:
        Honest.handle(self, method, params, reply, pending)


class NumbersPrivateQueuesAlike(Honest):
    """All names it gives out are one."""

    def do_queues_create(self, path_name: str, properties: dict[str, Any] | None = None) -> dict[str, Any]:
        super().do_queues_create(path_name, properties)
        return OK | {"format_name": f"PRIVATE={MANAGER}\\00000001"}


class CallsPrivateQueuesPublic(Honest):
    def do_queues_create(self, path_name: str, properties: dict[str, Any] | None = None) -> dict[str, Any]:
        super().do_queues_create(path_name, properties)
        return OK | {"format_name": f"PUBLIC={MANAGER}"}


class DeletedQueuesComeBackFull(Honest):
    def do_queues_delete(self, format_name: str) -> dict[str, Any]:
        self.left = self.queue(format_name)["messages"]
        return super().do_queues_delete(format_name)

    def do_queues_create(self, path_name: str, properties: dict[str, Any] | None = None) -> dict[str, Any]:
        done = super().do_queues_create(path_name, properties)
        self.queue(done["format_name"])["messages"] = getattr(self, "left", [])
        return done


class OneGuidForAllQueues(Honest):
    def shown(self, name: str, values: dict[str, Any]) -> Any:
        return MANAGER if name == "INSTANCE" else values[name]


class ScopeIsSite(Honest):
    def shown(self, name: str, values: dict[str, Any]) -> Any:
        return 0 if name == "SCOPE" else values[name]


class KeepsBasePriority(Honest):
    """No defect under the other reading of MS-MQMQ 2.3.1.6."""

    def stored(self, properties: dict[str, Any]) -> dict[str, Any]:
        return properties


class SmallDefaultQuota(Honest):
    defaults: ClassVar[dict[str, Any]] = {**DEFAULTS, "QUOTA": 0}


class PrivacyNoneByDefault(Honest):
    defaults: ClassVar[dict[str, Any]] = {**DEFAULTS, "PRIV_LEVEL": 0}


class ForgetsLabelAtCreation(Honest):
    def do_queues_create(self, path_name: str, properties: dict[str, Any] | None = None) -> dict[str, Any]:
        done = super().do_queues_create(path_name, properties)
        self.queue(done["format_name"])["properties"]["LABEL"] = ""
        return done


class JournalIsAnyByte(Honest):
    def check(self, name: str, value: Any) -> None:
        if name != "JOURNAL":
            super().check(name, value)


class TransactionCanBeSet(Honest):
    settable = tuple(DEFAULTS)


class WritesInSpiteOfRefusing(Honest):
    def do_queues_set(self, format_name: str, properties: dict[str, Any]) -> dict[str, Any]:
        if "PROPID_Q_TRANSACTION" in properties:
            self.queue(format_name)["properties"]["TRANSACTION"] = properties["PROPID_Q_TRANSACTION"]
        return super().do_queues_set(format_name, properties)


class SaysValueForWhatIsNotAllowed(Honest):
    def checked(self, properties: dict[str, Any], writable: tuple[str, ...]) -> dict[str, Any]:
        try:
            return super().checked(properties, writable)
        except Refused as refused:
            raise Refused(VALUE if refused.status == NOT_ALLOWED else refused.status) from None


class SaysNotAllowedForTheUnknown(Honest):
    def known(self, name: str) -> str:
        try:
            return super().known(name)
        except Refused:
            raise Refused(NOT_ALLOWED) from None


class SaysPropidForValues(Honest):
    def check(self, name: str, value: Any) -> None:
        try:
            super().check(name, value)
        except Refused as refused:
            raise Refused(PROPID if refused.status == VALUE else refused.status) from None


class SetsUpToTheWrongOne(Honest):
    def do_queues_set(self, format_name: str, properties: dict[str, Any]) -> dict[str, Any]:
        for name, value in properties.items():
            super().do_queues_set(format_name, {name: value})
        return OK


class SetsTheFirstOnly(Honest):
    def do_queues_set(self, format_name: str, properties: dict[str, Any]) -> dict[str, Any]:
        self.checked(properties, self.settable)
        return super().do_queues_set(format_name, dict([next(iter(properties.items()))]))


class SettingResetsTheOthers(Honest):
    def do_queues_set(self, format_name: str, properties: dict[str, Any]) -> dict[str, Any]:
        self.checked(properties, self.settable)
        values = self.queue(format_name)["properties"]
        values.update({name: DEFAULTS[name] for name in ("TYPE", "QUOTA", "LABEL")})
        return super().do_queues_set(format_name, properties)


class LabelOfOneIsLabelOfAll(Honest):
    def do_queues_set(self, format_name: str, properties: dict[str, Any]) -> dict[str, Any]:
        done = super().do_queues_set(format_name, properties)
        for queue in self.queues.values():
            queue["properties"]["LABEL"] = self.queues[format_name]["properties"]["LABEL"]
        return done


class RefusedCreationLeavesQueue(Honest):
    def do_queues_create(self, path_name: str, properties: dict[str, Any] | None = None) -> dict[str, Any]:
        try:
            return super().do_queues_create(path_name, properties)
        except Refused as refused:
            if refused.status != EXISTS:
                super().do_queues_create(path_name)
            raise


class CreatingAgainOverwrites(Honest):
    def again(self, name: str, properties: dict[str, Any]) -> dict[str, Any]:
        self.queues[name]["properties"].update(self.checked(properties, tuple(DEFAULTS)))
        raise Refused(EXISTS)


class ModifyTimeStands(Honest):
    def do_queues_set(self, format_name: str, properties: dict[str, Any]) -> dict[str, Any]:
        before = self.queue(format_name)["properties"]["MODIFY_TIME"]
        done = super().do_queues_set(format_name, properties)
        self.queue(format_name)["properties"]["MODIFY_TIME"] = before
        return done


class ModifyTimeMovesWhenRefused(Honest):
    def do_queues_set(self, format_name: str, properties: dict[str, Any]) -> dict[str, Any]:
        self.queue(format_name)["properties"]["MODIFY_TIME"] = self.time // 1000
        return super().do_queues_set(format_name, properties)


class CreateTimeIsInMilliseconds(Honest):
    def shown(self, name: str, values: dict[str, Any]) -> Any:
        return values[name] * 1000 % 0x7FFFFFFF if name == "CREATE_TIME" else values[name]


class CreateTimeIsNow(Honest):
    def shown(self, name: str, values: dict[str, Any]) -> Any:
        return self.time // 1000 if name == "CREATE_TIME" else values[name]


class TellsNumbersAsText(Honest):
    def shown(self, name: str, values: dict[str, Any]) -> Any:
        return str(values[name]) if name == "QUOTA" else values[name]


class PathNameWithoutComputer(Honest):
    def shown(self, name: str, values: dict[str, Any]) -> Any:
        return values[name].partition("\\")[2] if name == "PATHNAME" else values[name]


class RestartLosesQuota(Honest):
    def durable(self) -> dict[str, Any]:
        stored: dict[str, Any] = json.loads(json.dumps(super().durable()))
        for queue in stored["queues"].values():
            queue["properties"]["QUOTA"] = 0xFFFFFFFF
        return stored


class RestartTouchesModifyTime(Honest):
    def __init__(self, state_dir: Path) -> None:
        super().__init__(state_dir)
        for queue in self.queues.values():
            queue["properties"]["MODIFY_TIME"] = 0


class ReadsWhatIsNotThere(Honest):
    def do_queues_get(self, format_name: str, properties: list[str]) -> dict[str, Any]:
        if format_name not in self.queues:
            return OK | {"properties": dict.fromkeys(properties, "")}
        return super().do_queues_get(format_name, properties)


class LosesExtension(Honest):
    def made(self, message: dict[str, Any]) -> dict[str, Any]:
        return {**super().made(message), "extension": ""}


class BodyTypeIsSigned(Honest):
    def made(self, message: dict[str, Any]) -> dict[str, Any]:
        made = super().made(message)
        return made | {"body_type": made["body_type"] & 0x7FFFFFFF}


class LosesAdministrationQueue(Honest):
    def made(self, message: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in super().made(message).items() if name != "administration_queue"}


class PriorityFourByDefault(Honest):
    def made(self, message: dict[str, Any]) -> dict[str, Any]:
        return {"priority": 4, **{name: value for name, value in MESSAGE.items() if name != "priority"}, **message}


class IdentifiersRepeat(Honest):
    def do_messages_send(self, queue: str, message: dict[str, Any], transaction: str | None = None) -> dict[str, Any]:
        self.number &= 1
        return super().do_messages_send(queue, message, transaction)


class ArrivesWhenRead(Honest):
    def do_messages_peek(self, queue: str, timeout_ms: int) -> dict[str, Any]:
        result = super().do_messages_peek(queue, timeout_ms)
        return OK | {"message": {**result["message"], "arrival_time": self.time // 1000}}


class HighestPriorityIsSix(Honest):
    def made(self, message: dict[str, Any]) -> dict[str, Any]:
        made = super().made(message)
        return made | {"priority": min(made["priority"], 6)}


class StripsLabels(Honest):
    def made(self, message: dict[str, Any]) -> dict[str, Any]:
        made = super().made(message)
        return made | {"label": made["label"].strip()}


class RecoveryLosesCorrelation(Honest):
    def revived(self, message: dict[str, Any]) -> dict[str, Any]:
        return message | {"correlation_identifier": MESSAGE["correlation_identifier"]}


class MarksEveryMessageLast(Honest):
    def marked(self, message: dict[str, Any]) -> dict[str, Any]:
        return message | {"last_in_transaction": True}


class JournalIsNotCounted(Honest):
    def do_queues_counts(self, format_name: str) -> dict[str, Any]:
        return super().do_queues_counts(format_name) | {"journal_messages": 0}


class DropsWhatIsNotSigned(Honest):
    def do_messages_send(self, queue: str, message: dict[str, Any], transaction: str | None = None) -> dict[str, Any]:
        done = super().do_messages_send(queue, message, transaction)
        if "authenticate" in self.handles[queue]:
            self.queue(self.handles[queue])["messages"].clear()
        return done


class RecoveryCutsLongLabels(Honest):
    def revived(self, message: dict[str, Any]) -> dict[str, Any]:
        return {**message, "label": message["label"][:248]}


class TakesShortBodies(Honest):
    """No defect: it declares how long a body can be, and refuses one that is longer."""

    longest = 1_000

    def do_hello(self, **asked: Any) -> dict[str, Any]:
        return {**super().do_hello(**asked), "limits": {"max_body_bytes": self.longest}}

    def do_messages_send(self, queue: str, message: dict[str, Any], transaction: str | None = None) -> dict[str, Any]:
        assert body_bytes(message) <= self.longest + 1, "sent a longer body than it declares"
        return self.limited(queue, message, transaction)

    def limited(self, queue: str, message: dict[str, Any], transaction: str | None) -> dict[str, Any]:
        if body_bytes(message) > self.longest:
            raise Refused(PROPERTY)
        return super().do_messages_send(queue, message, transaction)


class CutsWhatIsTooLong(TakesShortBodies):
    """Takes a body that is one byte too long, without that byte."""

    def limited(self, queue: str, message: dict[str, Any], transaction: str | None) -> dict[str, Any]:
        body = base64.b64encode(base64.b64decode(message.get("body", ""))[: self.longest]).decode()
        return Honest.do_messages_send(self, queue, {**message, "body": body}, transaction)


class TakesLessThanItDeclares(TakesShortBodies):
    """Cuts what is as long as it declares."""

    def made(self, message: dict[str, Any]) -> dict[str, Any]:
        short = base64.b64decode(message.get("body", ""))[: self.longest - 1]
        return super().made({**message, "body": base64.b64encode(short).decode()})
