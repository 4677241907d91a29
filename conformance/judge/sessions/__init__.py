"""Judges sessions between two queue managers by the events of a capture (MS-MQQB)."""
