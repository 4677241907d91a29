"""Suite of the directory: what the manager asks of it, holds of it and tells of it (MS-MQDMPR 3.1.3, 3.1.7.1.18-26)."""
