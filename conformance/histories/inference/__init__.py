"""Infer the readings that an implementation follows: allow every alternative, and rule out those its answers refute."""
