"""Dialogues with a queue manager on its network: what is said to it, and what it has to answer, as data (MS-MQQB)."""
