"""Alternatives of readings about MSMQQuery (MC-MQAC 3.13)."""

from __future__ import annotations

from conformance.embedded.alternatives.base import follows
from conformance.embedded.directory import DirectoryObject
from conformance.embedded.objects.query import Constraint, QueryObject, Test


@follows("R-MQAC-query-without-multicast=none", "query")
class _WithoutAddress(QueryObject):
    """A query without a multicast address finds the queues that have none."""

    def test_of_nothing(self, constraint: Constraint) -> Test | None:
        return _has_none if constraint.argument == "MulticastAddress" else None


def _has_none(found: DirectoryObject) -> bool:
    return not found.properties.get("PROPID_Q_MULTICAST_ADDRESS")
