"""Format names that MSMQQueueInfo makes and takes apart (MC-MQAC 3.10.6.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.embedded.entities import MqError, Queue
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_QUEUE_PATHNAME,
    MQ_ERROR_QUEUE_NOT_FOUND,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

LONGEST_PUBLIC = 63  # characters of a public queue's name, slashes counted twice


class QueueNames:
    """Names of queues, as an MSMQQueueInfo uses them."""

    def __init__(self, manager: Manager) -> None:
        """Work for this queue manager."""
        self.manager = manager

    def format_name(self, path: str) -> str:
        """Return the format name of a path name (3.10.6.1). Raises MqError where there is no such queue."""
        parts = self.manager.names.path(path).parts
        computer, scope, queue = str(parts["computer"]), parts["scope"], str(parts.get("queue", ""))
        if scope not in ("private", "public") or not computer:
            raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
        if scope == "public" and self.too_long(queue):
            raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
        found = self.at_path(computer, str(scope), queue)
        if found is None and scope == "public":
            return self.of_another_computer(path)
        if found is None:
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)
        if "subqueue" in parts:
            return f"DIRECT=OS:{found.path};{parts['subqueue']}"
        if scope == "public":
            return f"PUBLIC={found.properties['PROPID_Q_INSTANCE']}"
        return self.private_name(found)

    def of_another_computer(self, path: str) -> str:
        """Return the format name of a public queue that the directory has. Raises MqError."""
        queue, semicolon, subqueue = path.partition(";")
        known = self.manager.directory.queue_at(queue)
        if known is None:
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)
        return f"DIRECT=OS:{known.path};{subqueue}" if semicolon else known.name

    def of_directory(self, path: str) -> str:
        """Return the format name of a queue, alias or list by its directory path (3.12.6.1). Raises MqError."""
        return self.manager.directory.at(path).name

    def directory_path(self, queue: Queue) -> str:
        """Return the directory path of a public queue."""
        name = queue.path.partition("\\")[2]
        return f"LDAP://CN={name},CN=msmq,CN={self.manager.computer}"

    def private_name(self, queue: Queue) -> str:
        """Return the private format name of a queue."""
        return f"PRIVATE={self.manager.guid}\\{queue.number:x}"

    def too_long(self, queue: str) -> bool:
        """Return true for the name of a public queue that is too long."""
        return len(queue) + queue.count("/") > LONGEST_PUBLIC

    def at_path(self, computer: str, scope: str, queue: str) -> Queue | None:
        """Return the queue at a path of this computer; another computer cannot be asked."""
        if not self.manager.queues.is_local(computer):
            return None
        local = f"private$\\{queue}" if scope == "private" else queue
        return self.manager.queues.find_local(f"DIRECT=OS:{self.manager.computer}\\{local}")

    def lists(self, format_name: str | None) -> bool:
        """Return true for a list of names."""
        return format_name is not None and "," in format_name

    def several(self, format_name: str) -> bool:
        """Return true for a name of several queues, an HTTP name or a multicast address."""
        if self.lists(format_name):
            return True
        name = self.manager.names.format_name(format_name)
        http = name.kind == "direct" and name.parts["protocol"] in ("HTTP", "HTTPS")
        return http or name.kind in ("multicast", "distribution_list")

    def is_public(self, format_name: str) -> bool:
        """Return true for a name that identifies a public queue."""
        found = self.manager.queues.find_local(format_name)
        return format_name.upper().startswith("PUBLIC=") or (found is not None and found.kind == "public")

    def is_application_queue(self, queue: Queue) -> bool:
        """Return true for every queue but those of the computer itself."""
        return queue.kind != "system"
