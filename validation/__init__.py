"""The laboratory: does an interval that we offer hold, in which situations, and which one should be the default?

Run it with ``python -m validation``; see docs/validation.md for what came out.
"""
