"""An undo log over dictionaries: what lets the trail be rolled back to an earlier state."""

from __future__ import annotations

from typing import Any

_ABSENT: Any = object()


class UndoLog:
    """Changes in order. `mark` names a state; `undo` goes back to it."""

    def __init__(self) -> None:
        self._entries: list[tuple[dict[Any, Any], Any, Any]] = []

    def set(self, table: dict[Any, Any], key: object, value: object) -> None:
        self._entries.append((table, key, table.get(key, _ABSENT)))
        table[key] = value

    def remove(self, table: dict[Any, Any], key: object) -> None:
        self._entries.append((table, key, table.pop(key)))

    def mark(self) -> int:
        return len(self._entries)

    def undo(self, mark: int) -> None:
        entries = self._entries
        while len(entries) > mark:
            table, key, value = entries.pop()
            if value is _ABSENT:
                del table[key]
            else:
                table[key] = value
