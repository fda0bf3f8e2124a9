"""Who may do what: every route, every role, foreign hosts and pages, guesses, hostile names."""

import json
import os
import stat
import threading

import pytest

from companion_web import create_app
from companion_web.access import Guesses, OwnNames, Safe
from companion_web.forms import read_name, read_path
from rules.commands import Lay, PlayMoves, Press, StartGame

from .conftest import MOVES, SAME

READS = {
    "/",
    "/fitting",
    "/history",
    "/history/<int:number>",
    "/host",
    "/live",
    "/prefer",
    "/seat/<token>",
    "/seats",
    "/setup",
    "/view",
}
WRITES = {
    "/answer",
    "/correct",
    "/host",
    "/lay",
    "/leave",
    "/play",
    "/press",
    "/renew",
    "/start",
    "/take-back",
    "/tidy",
}
