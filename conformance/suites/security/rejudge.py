"""Runs an example of this suite again, from its repro file."""

from conformance.suites.security.stories import TABLE

rejudge = TABLE.rejudge
