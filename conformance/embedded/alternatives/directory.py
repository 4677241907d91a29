"""Alternatives of readings about the manager's directory."""

from __future__ import annotations

from contextlib import contextmanager

from conformance.embedded.alternatives.base import follows
from conformance.embedded.directory_client import NOT_CONNECTED, SUCCESS
from conformance.embedded.directory_objects import only, satisfies
from conformance.embedded.integration import Integration, is_list
from conformance.embedded.queues import Queues
from conformance.embedded.security import DELETE_QUEUE


@follows("initialization-scope=every-start", Integration.initialize)
def initialization_scope_every_start(plain, self, *, provisioning):
    """Each start makes keys if there are none; those in the directory replace them."""
    made = {name: self.keys() for name in ("public_encryption_key_list", "public_signing_key_list")}
    self.change_own({**made, **{name: value for name, value in self.attributes.items() if value}})
    plain(provisioning=provisioning)


@follows("expand-format-name=one-pass", Integration.expanded)
def expand_format_name_one_pass(plain, self, names):
    """The members of a list are its elements, whatever they are; one that is a list has no queue of its own."""
    members = [each for name in names for each in (self.resolved(name) if is_list(name) else [name])]
    return list({name.lower(): name for name in members if not is_list(name)}.values())


_KEPT = "delete-directory-failure=kept"


@follows(_KEPT, Queues.delete)
def delete_directory_failure_kept(plain, self, format_name):
    """The object of a queue is deleted first, and the queue only when that has worked."""
    queue = self._existing(format_name)
    self.manager.security.need_of_queue(queue, DELETE_QUEUE)
    self.manager.integration.withdraw(queue)
    plain(format_name)


@follows(_KEPT, Integration.withdraw)
def _withdraws_once(plain, self, queue):
    if not queue.deleted:
        plain(queue)


_AFTER = "change-notification-order=after-success"


@follows(_AFTER, Integration.create)
def change_notification_order_after_success(plain, self, kind, given, names=None):
    """The creation and the deletion of a queue are announced when the directory has done them."""
    with _announced(self) as done:
        result, identifier = plain(kind, given, names)
        done.append(result)
    return result, identifier


@follows(_AFTER, Integration.delete)
def _deletes(plain, self, kind, identifier, path_name=None):
    with _announced(self) as done:
        result = plain(kind, identifier, path_name)
        done.append(result)
    return result


@contextmanager
def _announced(integration):
    """Hold back what is announced, until its result is known."""
    done: list[str] = []
    waiting: list[tuple[str | None, ...]] = []
    integration.notify = lambda *told: waiting.append(told)
    try:
        yield done
    finally:
        del integration.notify
    for told in waiting if done == [SUCCESS] else ():
        integration.notify(*told)


@follows("offline-directory-read=public-only", Integration.read_own)
def offline_directory_read_public_only(plain, self, kind, wanted, names):
    """Offline, the public queues of this manager alone are known."""
    if kind != "queue":
        return plain(kind, wanted, names)
    known = (self.of_queue(queue.path, queue.properties) for queue in self.public_queues())
    found = next((each for each in known if satisfies(each, wanted)), None)
    return (NOT_CONNECTED, {}) if found is None else (SUCCESS, only(found, names))
