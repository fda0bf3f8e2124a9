"""Faces learnt from a few photographs, and read in others with beliefs that admit none of them."""

from .patches import BORDER_PX, PITCH_PX, SPAN_PX, Example, Patch
from .reader import TaughtReader

__all__ = ["BORDER_PX", "PITCH_PX", "SPAN_PX", "Example", "Patch", "TaughtReader"]
