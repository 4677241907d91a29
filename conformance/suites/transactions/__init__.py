"""Internal transactions and what survives a restart: MS-MQDMPR 3.1.4."""
