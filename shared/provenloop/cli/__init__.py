"""The command line: ``provenloop``, a thin face of the Python client. Nothing here is needed by the service."""
