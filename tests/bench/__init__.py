"""Benchmarks that count: units, round trips and calls of operations on an emulator, at sizes no test waits for."""
