"""What a lamp says, and when it is lit while it says so: pure, the clock is an argument.

Steady: your turn. Slow blink: your move is being read. Two short flashes: look at the phone.
Never more than three flashes in a second, for the sake of people with photosensitive epilepsy.
"""

from rules.game import Seat
from rules.status import Mode, Pattern

SLOW_S = 1.0
DOUBLE_S = 1.5
FLASH_S = 0.15

LOOK_AT_PHONE: frozenset[Mode] = frozenset({"question", "refused"})


def lit(pattern: Pattern, at_s: float) -> bool:
    """Whether a lamp with this pattern is lit at a time."""
    match pattern:
        case "off":
            return False
        case "steady":
            return True
        case "slow":
            return at_s % SLOW_S < SLOW_S / 2
        case "double":
            phase_s = at_s % DOUBLE_S
            return phase_s < FLASH_S or 2 * FLASH_S <= phase_s < 3 * FLASH_S


def patterns(mode: Mode, seat: Seat | None, to_act: Seat | None, seats: int) -> tuple[Pattern, ...]:
    """The pattern of each seat's lamp; ``seat`` is the one being read, asked or refused."""
    return tuple(_pattern(mode, s == seat, s == to_act) for s in range(seats))


def _pattern(mode: Mode, concerned: bool, acts: bool) -> Pattern:
    if concerned and mode in LOOK_AT_PHONE:
        return "double"
    if concerned and mode == "reading":
        return "slow"
    return "steady" if acts else "off"
