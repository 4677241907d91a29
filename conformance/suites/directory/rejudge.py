"""Runs an example of this suite again, from its repro file."""

from conformance.suites.directory.stories import TABLE

rejudge = TABLE.rejudge
