"""Faults of objects and of management over an integrated directory (MC-MQAC 3.2, 3.10; MS-MQMQ 2.3.12.6)."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from conformance.embedded.certificates import Certificates
from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import also, fault
from conformance.embedded.management import Management
from conformance.embedded.objects.application import ApplicationObject
from conformance.embedded.objects.variants import text

_FOREIGN: Final = "MQMQ-2.3.12.6.mgmt-queue-"
_REGISTER: Final = "MQAC-3.2.4.2.1."
_FOUND: Final = f"{_REGISTER}retrieve-directory-user-here"
_WRITTEN: Final = f"{_REGISTER}update-directory-user-directory-follows"
_REFRESH: Final = "MQAC-3.10.4.1.29."

# Management.


@fault("foreign-system-has-no-foreign-queue", Management.foreign, f"{_FOREIGN}foreign-type")
def foreign_system_has_no_foreign_queue(plain, self, queue):
    """A queue of a foreign system is told to be none."""
    told = plain(queue)
    return "NO" if told == "YES" else told


@fault("offline-no-queue-is-foreign", Management.foreign, f"{_FOREIGN}unknown-type")
def offline_no_queue_is_foreign(plain, self, queue):
    """While offline, a public queue is told to be no foreign one."""
    told = plain(queue)
    return "NO" if told == "UNKNOWN" else told


@fault("offline-private-queue-may-be-foreign", Management.foreign, f"{_FOREIGN}not-foreign-type",
       f"{_FOREIGN}unknown-type")  # fmt: skip
def offline_private_queue_may_be_foreign(plain, self, queue):
    """While offline, nobody knows whether a private queue is a foreign one."""
    return "UNKNOWN" if self.manager.integration.offline else plain(queue)


# RegisterCertificate.


@fault("user-is-looked-for-by-another-sid", Certificates.read,
       f"{_REGISTER}filter-security-identifier-equals-invoker-sid", _FOUND)  # fmt: skip
def user_is_looked_for_by_another_sid(plain, self, sid, names):
    """The User of a caller is looked for with a digit more in the SID."""
    return plain(f"{sid}0", names)


@fault("user-is-read-whole", Certificates.read, f"{_REGISTER}attribute-list-user-after-filter-security",
       _FOUND)  # fmt: skip
def user_is_read_whole(plain, self, sid, names):
    """Every attribute of a User is read."""
    return plain(sid, None)


def _unless_unread(plain, self, sid, *args, **named):
    unread, user = [], self.user

    def read(sid):
        unread.append(sid)
        found = user(sid)
        unread.clear()
        return found

    self.user = read
    try:
        plain(sid, *args, **named)
    except MqError:
        if not unread:
            raise
    finally:
        del self.user


fault("user-that-cannot-be-read-is-no-error", Certificates.register_internal,
      f"{_REGISTER}return-status-directory-after-filter-security",
      f"{_REGISTER}return-hresult-error-after-filter-security",
      says="A certificate whose User cannot be read is registered nowhere, and RegisterCertificate succeeds.",
      )(_unless_unread)  # fmt: skip
also("user-that-cannot-be-read-is-no-error", Certificates.register)(_unless_unread)


@fault("user-that-cannot-be-written-is-no-error", Certificates.write, _WRITTEN)
def user_that_cannot_be_written_is_no_error(plain, self, user):
    """RegisterCertificate succeeds where the directory does not take the User."""
    with suppress(MqError):
        plain(user)


@fault("user-is-not-written", Certificates.write, _WRITTEN)
def user_is_not_written(plain, self, user):
    """A certificate that is registered does not come into the directory."""


@fault("machine-identifier-is-not-looked-up", ApplicationObject.identifier_of,
       "MQAC-3.2.4.1.1.generate-machine-name-read-directory",
       "MQAC-3.2.4.1.1.retrieve-queue-manager-directory-queue-manager")  # fmt: skip
def machine_identifier_is_not_looked_up(plain, self, name):
    """MachineIdOfMachineName of this computer asks nobody."""
    if name is None or self.manager.queues.is_local(name):
        return text(self.manager.guid)
    return plain(name)


# Refresh.


@fault("refresh-asks-no-directory", "queue_info.refreshed", f"{_REFRESH}generate-read-directory-arguments",
       f"{_REFRESH}query-status-results-returned")  # fmt: skip
def refresh_asks_no_directory(plain, self, queue):
    """Refresh of a public queue of this computer takes the properties that the manager has."""
    return queue.properties


@fault("refresh-that-reads-nothing-is-no-error", "queue_info.refreshed", f"{_REFRESH}query-status-results-returned",
       f"{_REFRESH}return-hresult-error-after-query-status-results-returned")  # fmt: skip
def refresh_that_reads_nothing_is_no_error(plain, self, queue):
    """Refresh of a public queue that cannot be read takes the properties that the manager has."""
    try:
        return plain(queue)
    except MqError:
        return queue.properties
