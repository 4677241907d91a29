"""Planned histories that bring together every two conditions of an operation: MS-MQDMPR 3.1.4, 3.1.7, 3.2."""
