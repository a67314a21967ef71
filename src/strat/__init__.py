"""Honest evaluation of classifiers, recognition systems and AI models."""

from __future__ import annotations

__version__ = "0.1.0"
