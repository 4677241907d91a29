"""Alternatives of readings about MSMQQuery (MC-MQAC 3.13)."""

from __future__ import annotations

from conformance.embedded.alternatives.base import follows
from conformance.embedded.directory import DirectoryObject
from conformance.embedded.objects.query import QueryObject


@follows("R-MQAC-query-without-multicast=none", QueryObject.test_of_nothing)
def mqac_query_without_multicast_none(plain, self, constraint):
    """A query without a multicast address finds the queues that have none."""
    return _has_none if constraint.argument == "MulticastAddress" else None


def _has_none(found: DirectoryObject) -> bool:
    return not found.properties.get("PROPID_Q_MULTICAST_ADDRESS")
