"""What a process that runs tests may do beyond computing: as little as its kind needs."""

from __future__ import annotations

from msgspec import Struct


class Rights(Struct, frozen=True):
    """Without any of these a process may compute, read files, and write to what it was handed."""

    threads: bool = False
    children: bool = False  # fork, and signals to what it forked
    commands: bool = False  # start other programs, which have the same rights
    network: bool = False
    everything: bool = True  # may be read, but for devices and other processes
    reads: tuple[str, ...] = ()  # files and folders besides
    writes: tuple[str, ...] = ()  # files and folders that it may change

    @property
    def needs_view(self) -> bool:
        """The filter of system calls cannot tell one file from another: what may write some needs Landlock."""
        return bool(self.writes) and not self.commands
