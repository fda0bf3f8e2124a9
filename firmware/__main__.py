"""Lets ``python -m firmware`` be the command ``tafelmaat``."""

from .cli import main

main(prog_name="tafelmaat")
