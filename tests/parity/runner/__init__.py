"""Drives scenarios of another loop through this one's HTTP API and says where the two agree."""
