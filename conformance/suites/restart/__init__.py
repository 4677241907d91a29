"""Kills: the queue manager ends in the middle of its work. MS-MQDMPR 3.1.1.11, 3.1.1.12, 3.1.3 and 3.1.4.4."""
