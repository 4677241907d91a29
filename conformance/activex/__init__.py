"""MC-MQAC as tables and pure functions: the members of the COM objects, what each takes, and what an answer must be."""
