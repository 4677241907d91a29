"""Cursors and reads: MS-MQDMPR 3.2 and 3.1.7.1."""
