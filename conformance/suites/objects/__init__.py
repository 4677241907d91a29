"""The COM objects of MC-MQAC: members, values, preconditions and what is not implemented."""
