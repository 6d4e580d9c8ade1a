"""Readers of transcripts that agents leave behind: each turns one form into events of the ingest schema."""
