"""mqconform: does a message queuing implementation do what the open MSMQ specifications say?"""

__version__ = "0.1.0"
