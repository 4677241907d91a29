"""MQMQ-2.2.19.1.transactional-priority-zero is broken.

A message sent in a transaction has priority 0, whatever was asked for.

1. client - [0 to 1]: create transactional queue q1 -> ok
2. client - [2 to 3]: create transactional queue q2 -> ok
3. client - [4 to 5]: open q1 for send as s1 -> ok
4. client - [6 to 7]: open q1 for receive as r1 -> ok
5. client - [8 to 9]: open q2 for send as s2 -> ok
6. client - [10 to 11]: open q2 for receive as r2 -> ok
7. client - [14 to 27]: send 'a' to q1 (transaction t1) -> ok
8. client - [35 to 36]: open q1 for send as s1x -> ok
9. client - [37 to 38]: open q1 for receive as r1x -> ok
10. client - [39 to 40]: open q2 for send as s2x -> ok
11. client - [41 to 42]: open q2 for receive as r2x -> ok
12. client - [43 to 44]: receive from q1 -> message 'a' (priority 3)

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_b3cc74044bb356a2.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "restart",
 "test": "restart/test_mqdmpr_3_1_3_kills.py::test_a_kill_during_a_commit",
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
       "method": "queues.create",
       "queue": "q2",
       "transactional": true
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
       "name": "s1",
       "queue": "q1",
       "access": "send"
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
       "name": "r1",
       "queue": "q1",
       "access": "receive"
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
       "name": "s2",
       "queue": "q2",
       "access": "send"
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
       "name": "r2",
       "queue": "q2",
       "access": "receive"
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
       "name": "s1x",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 35,
      "ended": 36,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "r1x",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 37,
      "ended": 38,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "s2x",
       "queue": "q2",
       "access": "send"
      },
      "client": "-",
      "began": 39,
      "ended": 40,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "r2x",
       "queue": "q2",
       "access": "receive"
      },
      "client": "-",
      "began": 41,
      "ended": 42,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "messages.send",
       "handle": "s1",
       "transaction": "t1",
       "message": "a"
      },
      "client": "-",
      "began": 14,
      "ended": 27,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "messages.receive",
       "handle": "r1x"
      },
      "client": "-",
      "began": 43,
      "ended": 44,
      "answer": {
       "status": 0,
       "failed": false,
       "message": {
        "body": "61",
        "label": "a",
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
  "client - [2 to 3]: create transactional queue q2 -> ok",
  "client - [4 to 5]: open q1 for send as s1 -> ok",
  "client - [6 to 7]: open q1 for receive as r1 -> ok",
  "client - [8 to 9]: open q2 for send as s2 -> ok",
  "client - [10 to 11]: open q2 for receive as r2 -> ok",
  "client - [14 to 27]: send 'a' to q1 (transaction t1) -> ok",
  "client - [35 to 36]: open q1 for send as s1x -> ok",
  "client - [37 to 38]: open q1 for receive as r1x -> ok",
  "client - [39 to 40]: open q2 for send as s2x -> ok",
  "client - [41 to 42]: open q2 for receive as r2x -> ok",
  "client - [43 to 44]: receive from q1 -> message 'a' (priority 3)"
 ],
 "repro": {
  "kind": "kill",
  "format": 1,
  "steps": [
   {
    "call": {
     "method": "queues.create",
     "queue": "q1",
     "transactional": true
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "queues.create",
     "queue": "q2",
     "transactional": true
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "queues.open",
     "name": "s1",
     "queue": "q1",
     "access": "send"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "queues.open",
     "name": "r1",
     "queue": "q1",
     "access": "receive"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "queues.open",
     "name": "s2",
     "queue": "q2",
     "access": "send"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "queues.open",
     "name": "r2",
     "queue": "q2",
     "access": "receive"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "transactions.begin",
     "name": "t1"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "messages.send",
     "handle": "s1",
     "transaction": "t1",
     "message": "a"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "messages.send",
     "handle": "s1",
     "transaction": "t1",
     "message": "b"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "messages.send",
     "handle": "s1",
     "transaction": "t1",
     "message": "c"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "transactions.commit",
     "transaction": "t1"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "transactions.begin",
     "name": "t2"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "messages.receive",
     "handle": "r1",
     "transaction": "t2"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "messages.send",
     "handle": "s1",
     "transaction": "t2",
     "message": "d"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "messages.send",
     "handle": "s2",
     "transaction": "t2",
     "message": "e"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "messages.send",
     "handle": "s2",
     "transaction": "t2",
     "message": "f"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "transactions.commit",
     "transaction": "t2"
    },
    "flies": true,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "restart",
     "kill": true
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "queues.open",
     "name": "s1x",
     "queue": "q1",
     "access": "send"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "queues.open",
     "name": "r1x",
     "queue": "q1",
     "access": "receive"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "queues.open",
     "name": "s2x",
     "queue": "q2",
     "access": "send"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "queues.open",
     "name": "r2x",
     "queue": "q2",
     "access": "receive"
    },
    "flies": false,
    "after_ms": 0.0
   }
  ],
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
     "method": "queues.create",
     "queue": "q2",
     "transactional": true
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
     "name": "s1",
     "queue": "q1",
     "access": "send"
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
     "name": "r1",
     "queue": "q1",
     "access": "receive"
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
     "name": "s2",
     "queue": "q2",
     "access": "send"
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
     "name": "r2",
     "queue": "q2",
     "access": "receive"
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
     "name": "s1x",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 35,
    "ended": 36,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "r1x",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 37,
    "ended": 38,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "s2x",
     "queue": "q2",
     "access": "send"
    },
    "client": "-",
    "began": 39,
    "ended": 40,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "r2x",
     "queue": "q2",
     "access": "receive"
    },
    "client": "-",
    "began": 41,
    "ended": 42,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "messages.send",
     "handle": "s1",
     "transaction": "t1",
     "message": "a"
    },
    "client": "-",
    "began": 14,
    "ended": 27,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "messages.receive",
     "handle": "r1x"
    },
    "client": "-",
    "began": 43,
    "ended": 44,
    "answer": {
     "status": 0,
     "failed": false,
     "message": {
      "body": "61",
      "label": "a",
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
