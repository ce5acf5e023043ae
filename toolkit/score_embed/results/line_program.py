"""Rows of a DWARF line program. pyelftools decodes it, too, but an object a row and three calls a byte take thirteen
times as long: seconds for a whole program's, of which the first bug of a campaign waits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_EXTENDED, _COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE = range(5)
_CONST_ADD_PC, _FIXED_ADVANCE_PC = 8, 9
_END_SEQUENCE, _SET_ADDRESS = 1, 2  # extended


def rows(program: Any) -> Iterator[tuple[int, int, int, bool]]:
    """Address, file's number, line, and whether the sequence ends there; of pyelftools' LineProgram. Raises IndexError
    if it is damaged. An instruction has one operation."""
    header = program.header
    program.stream.seek(program.program_start_offset)
    data = program.stream.read(program.program_end_offset - program.program_start_offset)
    base, line_base, line_range = header.opcode_base, header.line_base, header.line_range
    step, lengths = header.minimum_instruction_length, header.standard_opcode_lengths
    address, file, line, at = 0, 1, 1, 0
    while at < len(data):
        opcode = data[at]
        at += 1
        if opcode >= base:
            steps, lines = divmod(opcode - base, line_range)
            address += steps * step
            line += line_base + lines
            yield address, file, line, False
        elif opcode == _EXTENDED:
            length, at = _unsigned(data, at)
            kind, end = data[at], at + length
            if kind == _END_SEQUENCE:
                yield address, file, line, True
                address, file, line = 0, 1, 1
            elif kind == _SET_ADDRESS:
                address = int.from_bytes(data[at + 1 : end], "little")
            at = end
        elif opcode == _COPY:
            yield address, file, line, False
        elif opcode == _ADVANCE_PC:
            steps, at = _unsigned(data, at)
            address += steps * step
        elif opcode == _ADVANCE_LINE:
            lines, at = _signed(data, at)
            line += lines
        elif opcode == _SET_FILE:
            file, at = _unsigned(data, at)
        elif opcode == _CONST_ADD_PC:
            address += (255 - base) // line_range * step
        elif opcode == _FIXED_ADVANCE_PC:
            address += int.from_bytes(data[at : at + 2], "little")
            at += 2
        else:  # what it says is nothing of a row, or not known
            for _ in range(lengths[opcode - 1]):
                _, at = _unsigned(data, at)


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    """A LEB128 number, and where the next thing is."""
    value = shift = 0
    while data[at] & 0x80:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
    return value | data[at] << shift, at + 1


def _signed(data: bytes, at: int) -> tuple[int, int]:
    value, end = _unsigned(data, at)
    bits = 7 * (end - at)
    return value - (value >> (bits - 1) << bits), end
