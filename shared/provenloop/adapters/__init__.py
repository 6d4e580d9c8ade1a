"""Adapters: the outside world behind the ports of services (DynamoDB, SQS, Secrets Manager). No rules."""
