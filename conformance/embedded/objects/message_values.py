"""Values of MSMQMessage and members of the protocol's messages, in both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.embedded.objects.variants import from_base64, guid_bytes, to_base64

if TYPE_CHECKING:
    from conformance.embedded.objects.queue import QueueObject

Json = Any
_ACKNOWLEDGEMENTS = {"positive_arrival": 1, "positive_receive": 2, "negative_arrival": 4, "negative_receive": 8}
_NULL_CORRELATION = bytes(20)
_SAME = {
    "class": "class", "priority": "priority", "application_tag": "application_tag", "reach": "time_to_reach_queue",
    "receive": "time_to_be_received", "response_queue": "response_queue",
    "administration_queue": "administration_queue",
}  # fmt: skip
_RECEIVED = {
    "label": "label",
    "arrived": "arrival_time",
    "sent": "sent_time",
    "first": "first_in_transaction",
    "last": "last_in_transaction",
}


class Received:
    """What an object has of the queue it was read from."""

    @staticmethod
    def destination(queue: QueueObject) -> str | None:
        """Return the format name of the queue."""
        return None if queue.info is None else queue.info.known_format_name()


def of_fields(fields: dict[str, Json]) -> dict[str, Any]:
    """Return the values of an object for a message of the protocol."""
    values = {name: fields[given] for name, given in {**_SAME, **_RECEIVED}.items() if given in fields}
    if "," in (values.get("response_queue") or ""):
        values["response_destination"] = values.pop("response_queue")
    values["delivery"] = int(fields.get("delivery") == "recoverable")
    values["trace"] = int(fields.get("trace", False))
    values["journal"] = int(fields.get("negative_journaling", False)) + 2 * int(
        fields.get("positive_journaling", False)
    )
    values["acknowledgements"] = sum(_ACKNOWLEDGEMENTS[each] for each in fields.get("acknowledgements", ()))
    body = (from_base64(fields["body"]), int(fields.get("body_type", 0)))
    values["body"] = None if body == (b"", 0) else body
    values["extension"] = from_base64(fields["extension"]) if fields.get("extension") else None
    values["correlation"] = from_base64(fields.get("correlation_identifier", "")) or _NULL_CORRELATION
    values["lookup"] = int(fields.get("lookup_identifier", 0))
    identifier = fields.get("identifier")
    if identifier is not None:
        values["identifier"] = guid_bytes(identifier["source"], int(identifier["ordinal"]))
    return values


def to_fields(values: dict[str, Any]) -> dict[str, Json]:
    """Return the members of a message to send."""
    given = {name: values[field] for field, name in _SAME.items() if values[field] is not None}
    given["label"] = (values["label"] or "").partition("\0")[0]  # a text ends at its first null
    given["delivery"] = "recoverable" if values["delivery"] else "express"
    given["trace"] = bool(values["trace"])
    given["positive_journaling"] = bool(values["journal"] & 2)
    given["negative_journaling"] = bool(values["journal"] & 1)
    given["acknowledgements"] = [name for name, bit in _ACKNOWLEDGEMENTS.items() if values["acknowledgements"] & bit]
    if values["response_queue"] is None and "," in (values["response_destination"] or ""):
        given["response_queue"] = values["response_destination"]
    if values["body"] is not None:
        content, given["body_type"] = values["body"]
        given["body"] = to_base64(content)
    if values["extension"]:
        given["extension"] = to_base64(values["extension"])
    if values["correlation"] is not None:
        given["correlation_identifier"] = to_base64(values["correlation"])
    return given
