"""Suite `names`: the implementation parses or refuses queue names as MS-MQMQ 2.1 demands."""
