"""Statistics and reports of benchctl: reads the store's documented views; see __main__ for the protocol."""

PROTOCOL = 1
