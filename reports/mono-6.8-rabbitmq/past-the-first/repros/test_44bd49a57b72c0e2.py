"""MQMQ-2.3.1.7.propid-q-journal-quota is broken.

PROPID_Q_JOURNAL_QUOTA is property 107 with variant type VT_UI4.

1. create q2 with PROPID_Q_PRIV_LEVEL = 1, PROPID_Q_TYPE = '6f9619ff-8b86-d011-b42d-00c04fc964ff', PROPID_Q_QUOTA = 2147483648: succeeds
2. read all properties of q2: succeeds

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_44bd49a57b72c0e2.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "properties",
 "test": "properties/test_mqmq_2_3_1_walk.py::test_a_walk_with_properties",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQMQ-2.3.1.7.propid-q-journal-quota",
  "outcome": "fail",
  "subject": "PROPID_Q_JOURNAL_QUOTA of q2",
  "expected": {
   "type": "UI4"
  },
  "actual": -1
 },
 "story": [
  "create q2 with PROPID_Q_PRIV_LEVEL = 1, PROPID_Q_TYPE = '6f9619ff-8b86-d011-b42d-00c04fc964ff', PROPID_Q_QUOTA = 2147483648: succeeds",
  "read all properties of q2: succeeds"
 ],
 "repro": {
  "kind": "properties",
  "format": 1,
  "calls": [
   {
    "method": "queues.create",
    "queue": "q2",
    "values": {
     "PROPID_Q_PRIV_LEVEL": 1,
     "PROPID_Q_TYPE": "6f9619ff-8b86-d011-b42d-00c04fc964ff",
     "PROPID_Q_QUOTA": 2147483648
    }
   }
  ]
 }
}''')


def test_mqmq_2_3_1_7_propid_q_journal_quota():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
