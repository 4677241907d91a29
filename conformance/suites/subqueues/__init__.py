"""Subqueues and moves: MS-MQDMPR 3.1.7.1.16."""
