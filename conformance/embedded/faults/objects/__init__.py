"""Faults of the objects of MC-MQAC, which the suite `objects` must find."""
