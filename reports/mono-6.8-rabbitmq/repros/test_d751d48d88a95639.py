"""MQMQ-2.2.19.1.transactional-priority-zero is broken.

A message sent in a transaction has priority 0, whatever was asked for.

1. client - [0 to 1]: create transactional queue q1 -> ok
2. client - [2 to 3]: open q1 for send as sA1 -> ok
3. client - [4 to 5]: open q1 for receive as rA1 -> ok
4. client - [6 to 7]: open q1 for send as sB1 -> ok
5. client - [8 to 9]: open q1 for receive as rB1 -> ok
6. client - [10 to 11]: open q1 for send as sC1 -> ok
7. client - [12 to 13]: open q1 for receive as rC1 -> ok
8. client - [14 to 15]: open q1 for send as sD1 -> ok
9. client - [16 to 17]: open q1 for receive as rD1 -> ok
10. client - [18 to 19]: open q1 for send as sE1 -> ok
11. client - [20 to 21]: open q1 for receive as rE1 -> ok
12. client - [22 to 23]: open q1 for send as sF1 -> ok
13. client - [24 to 25]: open q1 for receive as rF1 -> ok
14. client E [43 to 140]: send 'E3' to q1 (transaction tE2) -> ok
15. client F [106 to 111]: receive from q1 -> message 'E3' (priority 3)

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_d751d48d88a95639.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "concurrency",
 "test": "concurrency/test_mqdmpr_3_1_7_clients_at_once.py::test_many_transactions",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQMQ-2.2.19.1.transactional-priority-zero",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": 0,
  "actual": 3,
  "evidence": {
   "kind": "history",
   "ref": "the smallest part",
   "data": {
    "history": [
     {
      "call": {
       "method": "queues.create",
       "queue": "q1",
       "transactional": true
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
       "name": "sB1",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 6,
      "ended": 7,
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
       "name": "rC1",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 12,
      "ended": 13,
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
       "method": "queues.open",
       "name": "rD1",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 16,
      "ended": 17,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sE1",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 18,
      "ended": 19,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rE1",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 20,
      "ended": 21,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sF1",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 22,
      "ended": 23,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rF1",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 24,
      "ended": 25,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "messages.send",
       "handle": "sE1",
       "transaction": "tE2",
       "message": "E3"
      },
      "client": "E",
      "began": 43,
      "ended": 140,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "messages.receive",
       "handle": "rF1"
      },
      "client": "F",
      "began": 106,
      "ended": 111,
      "answer": {
       "status": 0,
       "failed": false,
       "message": {
        "body": "4533",
        "label": "E3",
        "priority": 3,
        "delivery": "express",
        "lookup_identifier": null
       }
      }
     }
    ]
   }
  }
 },
 "story": [
  "client - [0 to 1]: create transactional queue q1 -> ok",
  "client - [2 to 3]: open q1 for send as sA1 -> ok",
  "client - [4 to 5]: open q1 for receive as rA1 -> ok",
  "client - [6 to 7]: open q1 for send as sB1 -> ok",
  "client - [8 to 9]: open q1 for receive as rB1 -> ok",
  "client - [10 to 11]: open q1 for send as sC1 -> ok",
  "client - [12 to 13]: open q1 for receive as rC1 -> ok",
  "client - [14 to 15]: open q1 for send as sD1 -> ok",
  "client - [16 to 17]: open q1 for receive as rD1 -> ok",
  "client - [18 to 19]: open q1 for send as sE1 -> ok",
  "client - [20 to 21]: open q1 for receive as rE1 -> ok",
  "client - [22 to 23]: open q1 for send as sF1 -> ok",
  "client - [24 to 25]: open q1 for receive as rF1 -> ok",
  "client E [43 to 140]: send 'E3' to q1 (transaction tE2) -> ok",
  "client F [106 to 111]: receive from q1 -> message 'E3' (priority 3)"
 ],
 "repro": {
  "kind": "concurrency",
  "format": 1,
  "workload": {
   "queues": [
    [
     "q1",
     true
    ]
   ],
   "clients": 6,
   "operations": 120,
   "weights": [
    [
     "send",
     5
    ],
    [
     "receive",
     4
    ],
    [
     "peek",
     1
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
     "queue": "q1",
     "transactional": true
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
     "name": "sB1",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 6,
    "ended": 7,
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
     "name": "rC1",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 12,
    "ended": 13,
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
     "method": "queues.open",
     "name": "rD1",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 16,
    "ended": 17,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sE1",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 18,
    "ended": 19,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rE1",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 20,
    "ended": 21,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sF1",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 22,
    "ended": 23,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rF1",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 24,
    "ended": 25,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "messages.send",
     "handle": "sE1",
     "transaction": "tE2",
     "message": "E3"
    },
    "client": "E",
    "began": 43,
    "ended": 140,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "messages.receive",
     "handle": "rF1"
    },
    "client": "F",
    "began": 106,
    "ended": 111,
    "answer": {
     "status": 0,
     "failed": false,
     "message": {
      "body": "4533",
      "label": "E3",
      "priority": 3,
      "delivery": "express",
      "lookup_identifier": null
     }
    }
   }
  ]
 }
}''')


def test_mqmq_2_2_19_1_transactional_priority_zero():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
