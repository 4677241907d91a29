"""The COM objects of MC-MQAC over the embedded queue manager, for the facet `objects`: one class a module."""
