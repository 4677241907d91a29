"""Subqueues and moves, and receives in two phases: MS-MQDMPR 3.1.7.1.11, .12 and .16."""
