"""MQMP-3.1.4.5.queue-exists is broken.

Creating a private queue under a path name already in use fails.

1. client A [2 to 6]: create queue q1 -> ok
2. client B [3 to 7]: create queue q1 -> ok
3. client C [4 to 8]: create queue q1 -> ok
4. client D [5 to 9]: create queue q1 -> ok

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_03cc017fa5645be1.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "concurrency",
 "test": "concurrency/test_mqdmpr_3_1_7_at_the_same_time.py::test_creations_of_one_name",
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
       "queue": "q1"
      },
      "client": "A",
      "began": 2,
      "ended": 6,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.create",
       "queue": "q1"
      },
      "client": "B",
      "began": 3,
      "ended": 7,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.create",
       "queue": "q1"
      },
      "client": "C",
      "began": 4,
      "ended": 8,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.create",
       "queue": "q1"
      },
      "client": "D",
      "began": 5,
      "ended": 9,
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
  "client A [2 to 6]: create queue q1 -> ok",
  "client B [3 to 7]: create queue q1 -> ok",
  "client C [4 to 8]: create queue q1 -> ok",
  "client D [5 to 9]: create queue q1 -> ok"
 ],
 "repro": {
  "kind": "concurrency",
  "format": 1,
  "before": [
   {
    "method": "queues.create",
    "queue": "q2"
   }
  ],
  "together": [
   {
    "method": "queues.create",
    "queue": "q1"
   },
   {
    "method": "queues.create",
    "queue": "q1"
   },
   {
    "method": "queues.create",
    "queue": "q1"
   },
   {
    "method": "queues.create",
    "queue": "q1"
   }
  ],
  "history": [
   {
    "call": {
     "method": "queues.create",
     "queue": "q1"
    },
    "client": "A",
    "began": 2,
    "ended": 6,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.create",
     "queue": "q1"
    },
    "client": "B",
    "began": 3,
    "ended": 7,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.create",
     "queue": "q1"
    },
    "client": "C",
    "began": 4,
    "ended": 8,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.create",
     "queue": "q1"
    },
    "client": "D",
    "began": 5,
    "ended": 9,
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
