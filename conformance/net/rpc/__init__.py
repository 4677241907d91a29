"""Remote read and management of a queue manager over DCE/RPC, as a client (MS-MQRR, MS-MQQP, MS-MQMR)."""
