"""What is due when, and how much of something is allowed. A driver needs to know only the next moment at which
something is due."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

Name = TypeVar("Name", bound=Hashable)

NEVER = float("inf")


class Timers(Generic[Name]):
    """Deadlines by name. Setting one anew moves it."""

    def __init__(self, pause: float = 1.0, longest: float = 1.0) -> None:
        """`pause`: until something is said once more, the first time; then ever longer ones, up to `longest`."""
        self._pause, self._longest = pause, longest
        self._pauses: dict[Name, float] = {}
        self._at: dict[Name, float] = {}
        self._told = NEVER  # the driver was told to wake us then

    def set(self, name: Name, at: float) -> None:
        self._at[name] = at

    def start(self, name: Name, at: float) -> None:
        """Set it, unless it is running."""
        self._at.setdefault(name, at)

    def repeat(self, name: Name, now: float) -> None:
        """It was said, perhaps once more; if no answer comes it is due again."""
        pause = self._pauses.get(name, self._pause)
        self._at[name] = now + pause
        self._pauses[name] = min(2 * pause, self._longest)

    def clear(self, name: Name) -> None:
        """It was answered, or matters no more."""
        self._at.pop(name, None)
        self._pauses.pop(name, None)

    def clear_all(self) -> None:
        self._at.clear()
        self._pauses.clear()

    def due(self, now: float) -> list[Name]:
        """Those that have come; they run no more. To be called when the driver wakes us."""
        self._told = NEVER
        due = [name for name, at in self._at.items() if at <= now]
        for name in due:
            del self._at[name]
        return due

    def wake(self) -> float | None:
        """When the driver is to wake us, if it does not know yet."""
        soonest = min(self._at.values(), default=NEVER)
        if soonest >= self._told:
            return None
        self._told = soonest
        return soonest


class Allowance:
    """So much a second, and so much at once."""

    def __init__(self, a_second: float, at_once: float) -> None:
        self._a_second, self._at_once = a_second, at_once
        self._left = at_once
        self._at = -NEVER

    def take(self, amount: float, now: float) -> bool:
        """Take so much, if it is there."""
        if self._at != -NEVER:
            self._left = min(self._at_once, self._left + (now - self._at) * self._a_second)
        self._at = now
        if amount > self._left:
            return False
        self._left -= amount
        return True
