"""MQDMPR-3.1.7.1.9.available is broken.

A message sent outside any transaction is available at once to readers of its queue.

1. client - [0 to 1]: create queue q1 -> ok
2. client - [2 to 3]: open q1 for send as sA1 -> ok
3. client - [4 to 5]: open q1 for receive as rA1 -> ok
4. client - [8 to 9]: open q1 for receive as rB1 -> ok
5. client - [10 to 11]: open q1 for send as sC1 -> ok
6. client - [14 to 15]: open q1 for send as sD1 -> ok
7. client C [21 to 90]: send 'C2' to q1 -> ok
8. client A [22 to 24]: open cursor cA1 on q1 -> ok
9. client A [27 to 91]: peek from q1 (cursor cA1) -> fails (NoMessage: MoveNext answered false)
10. client D [28 to 92]: send 'D2' to q1 -> ok
11. client A [31 to 106]: peek from q1 (cursor cA1) -> message 'C2' (priority 3)
12. client A [33 to 120]: send 'A2' to q1 (priority 3) -> ok
13. client C [40 to 122]: send 'C3' to q1 (recoverable) -> ok
14. client A [42 to 44]: receive from q1 (cursor cA1) -> message 'C2' (priority 3)
15. client A [61 to 166]: peek from q1 (cursor cA1) -> message 'D2' (priority 3)
16. client A [67 to 71]: receive from q1 (cursor cA1) -> message 'D2' (priority 3)
17. client A [74 to 173]: peek from q1 (cursor cA1) -> message 'A2' (priority 3)
18. client A [98 to 205]: peek-next from q1 (cursor cA1) -> message 'C3' (priority 3)
19. client B [110 to 114]: open cursor cB3 on q1 -> ok
20. client B [118 to 131]: receive from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)
21. client B [137 to 140]: receive from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)
22. client B [141 to 145]: receive from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)
23. client B [155 to 239]: peek from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)
24. client B [163 to 242]: peek from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)
25. client B [171 to 244]: peek from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)
26. client B [175 to 246]: peek from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)
27. client B [180 to 182]: receive from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)
28. client B [184 to 249]: peek from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)
29. client B [193 to 194]: receive from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)
30. client B [197 to 254]: peek from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)
31. client B [204 to 256]: peek from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)
32. client B [212 to 257]: peek from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)
33. client B [225 to 228]: receive from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)
34. client B [229 to 233]: receive from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)
35. client B [235 to 243]: receive from q1 -> fails with MQ_ERROR

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_26780d6be3e970e2.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "concurrency",
 "test": "concurrency/test_mqdmpr_3_1_7_clients_at_once.py::test_many_cursors",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.9.available",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": {
   "message": "A2"
  },
  "actual": {
   "status": null,
   "failure": "NoMessage: MoveNext answered false"
  },
  "evidence": {
   "kind": "history",
   "ref": "the smallest part",
   "data": {
    "history": [
     {
      "call": {
       "method": "queues.create",
       "queue": "q1"
      },
      "client": "-",
      "began": 0,
      "ended": 1,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sA1",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 2,
      "ended": 3,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rA1",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 4,
      "ended": 5,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rB1",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 8,
      "ended": 9,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sC1",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 10,
      "ended": 11,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sD1",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 14,
      "ended": 15,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "messages.send",
       "handle": "sC1",
       "message": "C2"
      },
      "client": "C",
      "began": 21,
      "ended": 90,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "cursors.open",
       "name": "cA1",
       "handle": "rA1"
      },
      "client": "A",
      "began": 22,
      "ended": 24,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "messages.peek",
       "handle": "rA1",
       "cursor": "cA1"
      },
      "client": "A",
      "began": 27,
      "ended": 91,
      "answer": {
       "status": null,
       "failed": true,
       "text": "NoMessage: MoveNext answered false"
      }
     },
     {
      "call": {
       "method": "messages.send",
       "handle": "sD1",
       "message": "D2"
      },
      "client": "D",
      "began": 28,
      "ended": 92,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "messages.peek",
       "handle": "rA1",
       "cursor": "cA1"
      },
      "client": "A",
      "began": 31,
      "ended": 106,
      "answer": {
       "status": 0,
       "failed": false,
       "message": {
        "body": "4332",
        "label": "C2",
        "priority": 3,
        "delivery": "express",
        "lookup_identifier": null
       }
      }
     },
     {
      "call": {
       "method": "messages.send",
       "handle": "sA1",
       "message": "A2",
       "priority": 3
      },
      "client": "A",
      "began": 33,
      "ended": 120,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "messages.send",
       "handle": "sC1",
       "message": "C3",
       "delivery": "recoverable"
      },
      "client": "C",
      "began": 40,
      "ended": 122,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "messages.receive",
       "handle": "rA1",
       "cursor": "cA1"
      },
      "client": "A",
      "began": 42,
      "ended": 44,
      "answer": {
       "status": 0,
       "failed": false,
       "message": {
        "body": "4332",
        "label": "C2",
        "priority": 3,
        "delivery": "express",
        "lookup_identifier": null
       }
      }
     },
     {
      "call": {
       "method": "messages.peek",
       "handle": "rA1",
       "cursor": "cA1"
      },
      "client": "A",
      "began": 61,
      "ended": 166,
      "answer": {
       "status": 0,
       "failed": false,
       "message": {
        "body": "4432",
        "label": "D2",
        "priority": 3,
        "delivery": "express",
        "lookup_identifier": null
       }
      }
     },
     {
      "call": {
       "method": "messages.receive",
       "handle": "rA1",
       "cursor": "cA1"
      },
      "client": "A",
      "began": 67,
      "ended": 71,
      "answer": {
       "status": 0,
       "failed": false,
       "message": {
        "body": "4432",
        "label": "D2",
        "priority": 3,
        "delivery": "express",
        "lookup_identifier": null
       }
      }
     },
     {
      "call": {
       "method": "messages.peek",
       "handle": "rA1",
       "cursor": "cA1"
      },
      "client": "A",
      "began": 74,
      "ended": 173,
      "answer": {
       "status": 0,
       "failed": false,
       "message": {
        "body": "4132",
        "label": "A2",
        "priority": 3,
        "delivery": "express",
        "lookup_identifier": null
       }
      }
     },
     {
      "call": {
       "method": "messages.peek_next",
       "handle": "rA1",
       "cursor": "cA1"
      },
      "client": "A",
      "began": 98,
      "ended": 205,
      "answer": {
       "status": 0,
       "failed": false,
       "message": {
        "body": "4333",
        "label": "C3",
        "priority": 3,
        "delivery": "recoverable",
        "lookup_identifier": null
       }
      }
     },
     {
      "call": {
       "method": "cursors.open",
       "name": "cB3",
       "handle": "rB1"
      },
      "client": "B",
      "began": 110,
      "ended": 114,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "messages.receive",
       "handle": "rB1",
       "cursor": "cB3"
      },
      "client": "B",
      "began": 118,
      "ended": 131,
      "answer": {
       "status": null,
       "failed": true,
       "text": "NoMessage: MoveNext answered false"
      }
     },
     {
      "call": {
       "method": "messages.receive",
       "handle": "rB1",
       "cursor": "cB3"
      },
      "client": "B",
      "began": 137,
      "ended": 140,
      "answer": {
       "status": null,
       "failed": true,
       "text": "NoMessage: MoveNext answered false"
      }
     },
     {
      "call": {
       "method": "messages.receive",
       "handle": "rB1",
       "cursor": "cB3"
      },
      "client": "B",
      "began": 141,
      "ended": 145,
      "answer": {
       "status": null,
       "failed": true,
       "text": "NoMessage: MoveNext answered false"
      }
     },
     {
      "call": {
       "method": "messages.peek",
       "handle": "rB1",
       "cursor": "cB3"
      },
      "client": "B",
      "began": 155,
      "ended": 239,
      "answer": {
       "status": null,
       "failed": true,
       "text": "NoMessage: MoveNext answered false"
      }
     },
     {
      "call": {
       "method": "messages.peek",
       "handle": "rB1",
       "cursor": "cB3"
      },
      "client": "B",
      "began": 163,
      "ended": 242,
      "answer": {
       "status": null,
       "failed": true,
       "text": "NoMessage: MoveNext answered false"
      }
     },
     {
      "call": {
       "method": "messages.peek",
       "handle": "rB1",
       "cursor": "cB3"
      },
      "client": "B",
      "began": 171,
      "ended": 244,
      "answer": {
       "status": null,
       "failed": true,
       "text": "NoMessage: MoveNext answered false"
      }
     },
     {
      "call": {
       "method": "messages.peek",
       "handle": "rB1",
       "cursor": "cB3"
      },
      "client": "B",
      "began": 175,
      "ended": 246,
      "answer": {
       "status": null,
       "failed": true,
       "text": "NoMessage: MoveNext answered false"
      }
     },
     {
      "call": {
       "method": "messages.receive",
       "handle": "rB1",
       "cursor": "cB3"
      },
      "client": "B",
      "began": 180,
      "ended": 182,
      "answer": {
       "status": null,
       "failed": true,
       "text": "NoMessage: MoveNext answered false"
      }
     },
     {
      "call": {
       "method": "messages.peek",
       "handle": "rB1",
       "cursor": "cB3"
      },
      "client": "B",
      "began": 184,
      "ended": 249,
      "answer": {
       "status": null,
       "failed": true,
       "text": "NoMessage: MoveNext answered false"
      }
     },
     {
      "call": {
       "method": "messages.receive",
       "handle": "rB1",
       "cursor": "cB3"
      },
      "client": "B",
      "began": 193,
      "ended": 194,
      "answer": {
       "status": null,
       "failed": true,
       "text": "NoMessage: MoveNext answered false"
      }
     },
     {
      "call": {
       "method": "messages.peek",
       "handle": "rB1",
       "cursor": "cB3"
      },
      "client": "B",
      "began": 197,
      "ended": 254,
      "answer": {
       "status": null,
       "failed": true,
       "text": "NoMessage: MoveNext answered false"
      }
     },
     {
      "call": {
       "method": "messages.peek",
       "handle": "rB1",
       "cursor": "cB3"
      },
      "client": "B",
      "began": 204,
      "ended": 256,
      "answer": {
       "status": null,
       "failed": true,
       "text": "NoMessage: MoveNext answered false"
      }
     },
     {
      "call": {
       "method": "messages.peek",
       "handle": "rB1",
       "cursor": "cB3"
      },
      "client": "B",
      "began": 212,
      "ended": 257,
      "answer": {
       "status": null,
       "failed": true,
       "text": "NoMessage: MoveNext answered false"
      }
     },
     {
      "call": {
       "method": "messages.receive",
       "handle": "rB1",
       "cursor": "cB3"
      },
      "client": "B",
      "began": 225,
      "ended": 228,
      "answer": {
       "status": null,
       "failed": true,
       "text": "NoMessage: MoveNext answered false"
      }
     },
     {
      "call": {
       "method": "messages.receive",
       "handle": "rB1",
       "cursor": "cB3"
      },
      "client": "B",
      "began": 229,
      "ended": 233,
      "answer": {
       "status": null,
       "failed": true,
       "text": "NoMessage: MoveNext answered false"
      }
     },
     {
      "call": {
       "method": "messages.receive",
       "handle": "rB1"
      },
      "client": "B",
      "began": 235,
      "ended": 243,
      "answer": {
       "status": 3222142977,
       "failed": true
      }
     }
    ]
   }
  }
 },
 "story": [
  "client - [0 to 1]: create queue q1 -> ok",
  "client - [2 to 3]: open q1 for send as sA1 -> ok",
  "client - [4 to 5]: open q1 for receive as rA1 -> ok",
  "client - [8 to 9]: open q1 for receive as rB1 -> ok",
  "client - [10 to 11]: open q1 for send as sC1 -> ok",
  "client - [14 to 15]: open q1 for send as sD1 -> ok",
  "client C [21 to 90]: send 'C2' to q1 -> ok",
  "client A [22 to 24]: open cursor cA1 on q1 -> ok",
  "client A [27 to 91]: peek from q1 (cursor cA1) -> fails (NoMessage: MoveNext answered false)",
  "client D [28 to 92]: send 'D2' to q1 -> ok",
  "client A [31 to 106]: peek from q1 (cursor cA1) -> message 'C2' (priority 3)",
  "client A [33 to 120]: send 'A2' to q1 (priority 3) -> ok",
  "client C [40 to 122]: send 'C3' to q1 (recoverable) -> ok",
  "client A [42 to 44]: receive from q1 (cursor cA1) -> message 'C2' (priority 3)",
  "client A [61 to 166]: peek from q1 (cursor cA1) -> message 'D2' (priority 3)",
  "client A [67 to 71]: receive from q1 (cursor cA1) -> message 'D2' (priority 3)",
  "client A [74 to 173]: peek from q1 (cursor cA1) -> message 'A2' (priority 3)",
  "client A [98 to 205]: peek-next from q1 (cursor cA1) -> message 'C3' (priority 3)",
  "client B [110 to 114]: open cursor cB3 on q1 -> ok",
  "client B [118 to 131]: receive from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)",
  "client B [137 to 140]: receive from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)",
  "client B [141 to 145]: receive from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)",
  "client B [155 to 239]: peek from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)",
  "client B [163 to 242]: peek from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)",
  "client B [171 to 244]: peek from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)",
  "client B [175 to 246]: peek from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)",
  "client B [180 to 182]: receive from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)",
  "client B [184 to 249]: peek from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)",
  "client B [193 to 194]: receive from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)",
  "client B [197 to 254]: peek from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)",
  "client B [204 to 256]: peek from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)",
  "client B [212 to 257]: peek from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)",
  "client B [225 to 228]: receive from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)",
  "client B [229 to 233]: receive from q1 (cursor cB3) -> fails (NoMessage: MoveNext answered false)",
  "client B [235 to 243]: receive from q1 -> fails with MQ_ERROR"
 ],
 "repro": {
  "kind": "concurrency",
  "format": 1,
  "workload": {
   "queues": [
    [
     "q1",
     false
    ]
   ],
   "clients": 4,
   "operations": 120,
   "weights": [
    [
     "send",
     5
    ],
    [
     "receive",
     2
    ],
    [
     "cursor",
     5
    ],
    [
     "purge",
     0
    ]
   ],
   "burst": 6,
   "shared": false,
   "rivals": 0,
   "aborts": 30
  },
  "seed": 0,
  "history": [
   {
    "call": {
     "method": "queues.create",
     "queue": "q1"
    },
    "client": "-",
    "began": 0,
    "ended": 1,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sA1",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 2,
    "ended": 3,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rA1",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 4,
    "ended": 5,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rB1",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 8,
    "ended": 9,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sC1",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 10,
    "ended": 11,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sD1",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 14,
    "ended": 15,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "messages.send",
     "handle": "sC1",
     "message": "C2"
    },
    "client": "C",
    "began": 21,
    "ended": 90,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "cursors.open",
     "name": "cA1",
     "handle": "rA1"
    },
    "client": "A",
    "began": 22,
    "ended": 24,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "messages.peek",
     "handle": "rA1",
     "cursor": "cA1"
    },
    "client": "A",
    "began": 27,
    "ended": 91,
    "answer": {
     "status": null,
     "failed": true,
     "text": "NoMessage: MoveNext answered false"
    }
   },
   {
    "call": {
     "method": "messages.send",
     "handle": "sD1",
     "message": "D2"
    },
    "client": "D",
    "began": 28,
    "ended": 92,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "messages.peek",
     "handle": "rA1",
     "cursor": "cA1"
    },
    "client": "A",
    "began": 31,
    "ended": 106,
    "answer": {
     "status": 0,
     "failed": false,
     "message": {
      "body": "4332",
      "label": "C2",
      "priority": 3,
      "delivery": "express",
      "lookup_identifier": null
     }
    }
   },
   {
    "call": {
     "method": "messages.send",
     "handle": "sA1",
     "message": "A2",
     "priority": 3
    },
    "client": "A",
    "began": 33,
    "ended": 120,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "messages.send",
     "handle": "sC1",
     "message": "C3",
     "delivery": "recoverable"
    },
    "client": "C",
    "began": 40,
    "ended": 122,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "messages.receive",
     "handle": "rA1",
     "cursor": "cA1"
    },
    "client": "A",
    "began": 42,
    "ended": 44,
    "answer": {
     "status": 0,
     "failed": false,
     "message": {
      "body": "4332",
      "label": "C2",
      "priority": 3,
      "delivery": "express",
      "lookup_identifier": null
     }
    }
   },
   {
    "call": {
     "method": "messages.peek",
     "handle": "rA1",
     "cursor": "cA1"
    },
    "client": "A",
    "began": 61,
    "ended": 166,
    "answer": {
     "status": 0,
     "failed": false,
     "message": {
      "body": "4432",
      "label": "D2",
      "priority": 3,
      "delivery": "express",
      "lookup_identifier": null
     }
    }
   },
   {
    "call": {
     "method": "messages.receive",
     "handle": "rA1",
     "cursor": "cA1"
    },
    "client": "A",
    "began": 67,
    "ended": 71,
    "answer": {
     "status": 0,
     "failed": false,
     "message": {
      "body": "4432",
      "label": "D2",
      "priority": 3,
      "delivery": "express",
      "lookup_identifier": null
     }
    }
   },
   {
    "call": {
     "method": "messages.peek",
     "handle": "rA1",
     "cursor": "cA1"
    },
    "client": "A",
    "began": 74,
    "ended": 173,
    "answer": {
     "status": 0,
     "failed": false,
     "message": {
      "body": "4132",
      "label": "A2",
      "priority": 3,
      "delivery": "express",
      "lookup_identifier": null
     }
    }
   },
   {
    "call": {
     "method": "messages.peek_next",
     "handle": "rA1",
     "cursor": "cA1"
    },
    "client": "A",
    "began": 98,
    "ended": 205,
    "answer": {
     "status": 0,
     "failed": false,
     "message": {
      "body": "4333",
      "label": "C3",
      "priority": 3,
      "delivery": "recoverable",
      "lookup_identifier": null
     }
    }
   },
   {
    "call": {
     "method": "cursors.open",
     "name": "cB3",
     "handle": "rB1"
    },
    "client": "B",
    "began": 110,
    "ended": 114,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "messages.receive",
     "handle": "rB1",
     "cursor": "cB3"
    },
    "client": "B",
    "began": 118,
    "ended": 131,
    "answer": {
     "status": null,
     "failed": true,
     "text": "NoMessage: MoveNext answered false"
    }
   },
   {
    "call": {
     "method": "messages.receive",
     "handle": "rB1",
     "cursor": "cB3"
    },
    "client": "B",
    "began": 137,
    "ended": 140,
    "answer": {
     "status": null,
     "failed": true,
     "text": "NoMessage: MoveNext answered false"
    }
   },
   {
    "call": {
     "method": "messages.receive",
     "handle": "rB1",
     "cursor": "cB3"
    },
    "client": "B",
    "began": 141,
    "ended": 145,
    "answer": {
     "status": null,
     "failed": true,
     "text": "NoMessage: MoveNext answered false"
    }
   },
   {
    "call": {
     "method": "messages.peek",
     "handle": "rB1",
     "cursor": "cB3"
    },
    "client": "B",
    "began": 155,
    "ended": 239,
    "answer": {
     "status": null,
     "failed": true,
     "text": "NoMessage: MoveNext answered false"
    }
   },
   {
    "call": {
     "method": "messages.peek",
     "handle": "rB1",
     "cursor": "cB3"
    },
    "client": "B",
    "began": 163,
    "ended": 242,
    "answer": {
     "status": null,
     "failed": true,
     "text": "NoMessage: MoveNext answered false"
    }
   },
   {
    "call": {
     "method": "messages.peek",
     "handle": "rB1",
     "cursor": "cB3"
    },
    "client": "B",
    "began": 171,
    "ended": 244,
    "answer": {
     "status": null,
     "failed": true,
     "text": "NoMessage: MoveNext answered false"
    }
   },
   {
    "call": {
     "method": "messages.peek",
     "handle": "rB1",
     "cursor": "cB3"
    },
    "client": "B",
    "began": 175,
    "ended": 246,
    "answer": {
     "status": null,
     "failed": true,
     "text": "NoMessage: MoveNext answered false"
    }
   },
   {
    "call": {
     "method": "messages.receive",
     "handle": "rB1",
     "cursor": "cB3"
    },
    "client": "B",
    "began": 180,
    "ended": 182,
    "answer": {
     "status": null,
     "failed": true,
     "text": "NoMessage: MoveNext answered false"
    }
   },
   {
    "call": {
     "method": "messages.peek",
     "handle": "rB1",
     "cursor": "cB3"
    },
    "client": "B",
    "began": 184,
    "ended": 249,
    "answer": {
     "status": null,
     "failed": true,
     "text": "NoMessage: MoveNext answered false"
    }
   },
   {
    "call": {
     "method": "messages.receive",
     "handle": "rB1",
     "cursor": "cB3"
    },
    "client": "B",
    "began": 193,
    "ended": 194,
    "answer": {
     "status": null,
     "failed": true,
     "text": "NoMessage: MoveNext answered false"
    }
   },
   {
    "call": {
     "method": "messages.peek",
     "handle": "rB1",
     "cursor": "cB3"
    },
    "client": "B",
    "began": 197,
    "ended": 254,
    "answer": {
     "status": null,
     "failed": true,
     "text": "NoMessage: MoveNext answered false"
    }
   },
   {
    "call": {
     "method": "messages.peek",
     "handle": "rB1",
     "cursor": "cB3"
    },
    "client": "B",
    "began": 204,
    "ended": 256,
    "answer": {
     "status": null,
     "failed": true,
     "text": "NoMessage: MoveNext answered false"
    }
   },
   {
    "call": {
     "method": "messages.peek",
     "handle": "rB1",
     "cursor": "cB3"
    },
    "client": "B",
    "began": 212,
    "ended": 257,
    "answer": {
     "status": null,
     "failed": true,
     "text": "NoMessage: MoveNext answered false"
    }
   },
   {
    "call": {
     "method": "messages.receive",
     "handle": "rB1",
     "cursor": "cB3"
    },
    "client": "B",
    "began": 225,
    "ended": 228,
    "answer": {
     "status": null,
     "failed": true,
     "text": "NoMessage: MoveNext answered false"
    }
   },
   {
    "call": {
     "method": "messages.receive",
     "handle": "rB1",
     "cursor": "cB3"
    },
    "client": "B",
    "began": 229,
    "ended": 233,
    "answer": {
     "status": null,
     "failed": true,
     "text": "NoMessage: MoveNext answered false"
    }
   },
   {
    "call": {
     "method": "messages.receive",
     "handle": "rB1"
    },
    "client": "B",
    "began": 235,
    "ended": 243,
    "answer": {
     "status": 3222142977,
     "failed": true
    }
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_9_available():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
