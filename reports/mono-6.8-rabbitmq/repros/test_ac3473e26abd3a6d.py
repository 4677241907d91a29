"""MQMP-3.1.4.5.queue-exists is broken.

Creating a private queue under a path name already in use fails.

1. client D [22 to 24]: create queue q19 -> ok
2. client E [23 to 25]: create queue q19 -> ok

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_ac3473e26abd3a6d.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "concurrency",
 "test": "concurrency/test_mqdmpr_3_1_7_clients_at_once.py::test_many_clients_create_one_queue",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQMP-3.1.4.5.queue-exists",
  "outcome": "fail",
  "subject": "queues.create",
  "expected": {
   "fails with": [
    "0xC00E0005"
   ]
  },
  "actual": {
   "status": "0x00000000"
  },
  "evidence": {
   "kind": "history",
   "ref": "the smallest part",
   "data": {
    "history": [
     {
      "call": {
       "method": "queues.create",
       "queue": "q19"
      },
      "client": "D",
      "began": 22,
      "ended": 24,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.create",
       "queue": "q19"
      },
      "client": "E",
      "began": 23,
      "ended": 25,
      "answer": {
       "status": 0,
       "failed": false
      }
     }
    ]
   }
  }
 },
 "story": [
  "client D [22 to 24]: create queue q19 -> ok",
  "client E [23 to 25]: create queue q19 -> ok"
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
   "clients": 5,
   "operations": 40,
   "weights": [
    [
     "send",
     1
    ],
    [
     "receive",
     1
    ],
    [
     "create",
     6
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
     "queue": "q19"
    },
    "client": "D",
    "began": 22,
    "ended": 24,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.create",
     "queue": "q19"
    },
    "client": "E",
    "began": 23,
    "ended": 25,
    "answer": {
     "status": 0,
     "failed": false
    }
   }
  ]
 }
}''')


def test_mqmp_3_1_4_5_queue_exists():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
