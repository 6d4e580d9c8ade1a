"""Services: the use cases, in verbs. They speak to the outside world through ports and hold no AWS."""
