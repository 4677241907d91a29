"""Transactions of a coordinator, which the harness plays. MS-MQDMPR 3.1.3, 3.1.4.6 to 3.1.4.11; MS-MQMP 3.1.4.13."""
