"""The words in which results are told: why a campaign ended, why a branch was not flipped, what could not be
followed, which layer of the solver answered.

They stand in summary.json and in the record, so they are a contract with users' scripts: add, never change. Each is
said here once, for those who find it out and those who report it.
"""

from __future__ import annotations

from enum import StrEnum


class Stop(StrEnum):
    """Why no further test was run."""

    EXHAUSTED = "exhausted"  # every feasible path was run
    DRAINED = "drained"  # nothing is left to run, but something could not be followed
    TIME = "time"
    MAX_TESTS = "max-tests"
    BUG = "bug"  # a confirmed one was found, and no more was asked for
    GOAL = "goal"  # it is reached: of --goal
    INTERRUPTED = "interrupted"
    ERROR = "error"  # the target, or all clients, were lost
    KILLED = "killed"  # only seen from outside: the process did not live to say
    RUNNING = "running"  # the same: it has not ended yet


class Unflipped(StrEnum):
    """Why a direction of a branch was not taken."""

    DIVERGED = "diverged"
    UNKNOWN = "unknown"  # the solver gave up
    MISPREDICTED = "mispredicted"
    BOUND = "bound"
    CONCRETE = "concrete"
    UNSAT = "unsat"
    # the path has forked, and its value leaves no other side; other values have tests of their own
    FIXED = "fixed by value"
    WAITING = "waiting"  # a test for it is known and was not run
    NOT_REACHED = "not-reached"


class Vector(StrEnum):
    """What MC/DC says of a condition."""

    SHOWN = "shown"  # that it decides
    INFEASIBLE = "infeasible"  # proved, by constants or by an exhausted campaign
    OPEN = "open"  # not seen yet
    CONSTANT = "constant"  # its value is: it has nothing to show


class Layer(StrEnum):
    """Which of the solver's layers answered."""

    DOMAIN = "domain"
    EQUALITY = "equality"
    MODEL = "model"
    FINITE = "finite"
    CHOICES = "choices"
    CUT = "cut"
    SEARCH = "search"
    ENUMERATE = "enumerate"
    CACHE = "cache"
    RANGE = "range"
    SMT = "smt"  # Z3
    BITWUZLA = "bitwuzla"


class Statement(StrEnum):
    """What is known of a statement of C."""

    REACHED = "reached"
    UNREACHABLE = "unreachable"  # proved
    UNCERTAIN = "uncertain"  # a test came near it, and may have ended before it
    OPEN = "open"


class Came(StrEnum):
    """What an executed test was for the exploration."""

    NEW = "new"  # its path was not seen before
    REDUNDANT = "redundant"
    MISPREDICTED = "mispredicted"
    NO_PATH = "no path"  # an assumption failed, or it was cut or lost


class Note(StrEnum):
    """What makes a result incomplete. Some texts have places for what only the run knows: `of` fills them."""

    # of values
    SYMBOLIC_ADDRESS = "symbolic address"
    OUTSIDE = "symbolic address outside of its object"
    POINTER_ASTRAY = "wrong access through a symbolic pointer"
    OPAQUE_ADDRESS = "opaque result in an address"
    OPAQUE_CONDITION = "opaque result in a condition"
    CONCRETIZED = "concretized value"
    CONVERSION = "conversion to an integer out of range"
    FLOAT_PATTERN = "pattern of a floating-point result"
    # of code without probes and of interrupts
    OPAQUE_ARGUMENTS = "symbolic data given to an opaque call"
    OPAQUE_CHANGED = "symbolic memory changed by an opaque call"
    OPAQUE_FINDS = "symbolic data that an opaque call can find"
    CALLBACK_RETURN = "symbolic result given to an opaque caller"
    OUT_OF_REACH = "symbolic value stored out of reach"
    IN_HANDLER = "symbolic data in an interrupt handler"
    HANDLER_READS = "symbolic data where an interrupt handler without probes can read it"
    # of paths
    DIVERGENCE = "divergence"
    MISPREDICTED = "mispredicted"
    TRACE_LOST = "trace lost"
    VALUE_DIFFERS = "value differs from its formula"
    OPERANDS_DIFFER = "operands differ from their formulas"
    GAVE_UP = "solver gave up"
    BOUND = "bound ({})"  # the option
    WAITS_FOR_VARIABLE = "waits for a volatile variable at {:#x}"
    WAITS_FOR_DEVICE = "waits for a device register at {:#x}"
    ENDED = "{}: {}"  # the verdict, and why the test says no more
    # of campaigns
    FIRST_DIFFERS = "the first test took different paths when run again"
    CLIENT_DIFFERS = "a test took another path when it was run again (client {})"
    CLIENT_EXPELLED = "client {} was sent away: {}"  # what it had reported before may be wrong
    CLIENT_UNREADABLE = "a client reported a test that cannot be read"

    def of(self, *known: object) -> str:
        return self.format(*known)
