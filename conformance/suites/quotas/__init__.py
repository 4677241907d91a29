"""Quotas, counts and sends to several queues: MS-MQDMPR 3.1.1.1, 3.1.1.2, 3.1.7.1.9, 3.1.7.1.27."""
