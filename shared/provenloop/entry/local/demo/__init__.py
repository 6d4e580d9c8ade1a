"""The demo: the main job of the product on the local stack, through its HTTP API, checked while it is shown."""

from provenloop.entry.local.demo.story import run_demo

__all__ = ["run_demo"]
