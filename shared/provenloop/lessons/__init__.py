"""Lessons: the pure rules of what guards report, the cards it merges into, and the rules that people arm."""
