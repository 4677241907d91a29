"""Servers of DCE/RPC, by the calls of MS-MQRR, MS-MQMR and MS-MQQP that a story makes itself."""
