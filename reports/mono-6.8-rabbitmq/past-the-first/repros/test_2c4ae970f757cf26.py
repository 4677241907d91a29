"""MQDMPR-3.1.7.1.10.no-wait-code is broken.

A receive without cursor, time-out zero and nothing available, fails with MQ_ERROR_IO_TIMEOUT.

1. client - [0 to 1]: create queue q1 -> ok
2. client - [12 to 13]: open q1 for receive as rC1 -> ok
3. client C [45 to 76]: receive from q1 -> fails with MQ_ERROR

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_2c4ae970f757cf26.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "concurrency",
 "test": "concurrency/test_mqdmpr_3_1_7_clients_at_once.py::test_many_clients_open_for_themselves_alone",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.10.no-wait-code",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": {
   "fails with": [
    "0xC00E001B",
    "0xC00E0088"
   ]
  },
  "actual": {
   "status": "0xC00E0001"
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
       "method": "messages.receive",
       "handle": "rC1"
      },
      "client": "C",
      "began": 45,
      "ended": 76,
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
  "client - [12 to 13]: open q1 for receive as rC1 -> ok",
  "client C [45 to 76]: receive from q1 -> fails with MQ_ERROR"
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
   "clients": 6,
   "operations": 60,
   "weights": [
    [
     "send",
     0
    ],
    [
     "receive",
     1
    ],
    [
     "open",
     15
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
     "method": "messages.receive",
     "handle": "rC1"
    },
    "client": "C",
    "began": 45,
    "ended": 76,
    "answer": {
     "status": 3222142977,
     "failed": true
    }
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_10_no_wait_code():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
