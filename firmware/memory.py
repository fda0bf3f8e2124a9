"""Gives memory back to the system after work that needed much of it for a moment."""

import ctypes


def give_back() -> None:
    """The C library keeps what was freed, in case it is needed again; on a small machine others
    need it more. Of a lesson that was learnt, 40 of 60 MB come back."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # only glibc has it
        trim(0)
