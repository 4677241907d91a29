"""The specifications as data: requirements, readings, MSMQ versions and the constants generated from the documents."""
