"""Explain what an implementation did by the faults of the embedded queue manager: the dictionary of known causes.

This room imports `conformance.embedded`, which judges nothing: what it says is a hint and never a verdict.
"""
