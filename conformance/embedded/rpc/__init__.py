"""Remote read and management of the embedded queue manager over DCE/RPC: MS-MQRR, MS-MQQP and MS-MQMR.

Nothing here knows sockets: `association` takes the bytes of connections and gives bytes back.
"""
