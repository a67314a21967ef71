"""Statistics that solve an equation: θ with Σ w ψ(row; θ) = 0 (M-estimators, generalized estimating equations)."""

from __future__ import annotations
