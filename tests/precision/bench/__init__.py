"""The precision bench: labelled cases, each played through a memory of its own, and how well the findings agree."""
