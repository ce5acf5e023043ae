"""What the runtime must know of a board's hardware: memory, clock, UART, registers to set, sizes of buffers.

All of it reaches the runtime's C files and its linker script as macros, so that a new board of a known family needs
no code.
"""

from __future__ import annotations

from msgspec import Struct

from score_embed import yamlfile
from score_embed.errors import UsageError

_MAY_BE_ZERO = ("SC_UART_IRQ", "SC_TIMER_IRQ")
TIMERS = ("clint", "cmsdk", "stm32")
UARTS = ("cmsdk", "pl011", "stm32", "nrf51", "ns16550", "avr")


class Region(Struct, frozen=True):
    """Bytes of memory from address `at` on."""

    at: int
    size: int


class Uart(Struct, frozen=True):
    """`kind`: whose driver of the runtime it needs; `irq`: the number of its receive interrupt; `baud`: bits a
    second."""

    kind: str
    at: int
    irq: int
    baud: int


class Timer(Struct, frozen=True):
    """What the watch-dog uses where the core has no timer of its own, or the program needs that; `clock`: Hz."""

    kind: str
    at: int
    clock: int
    irq: int


class Write(Struct, frozen=True):
    """A register to write before the UART is used: `value`, or the bits `set` and `clear` changed in it."""

    at: int
    clear: int
    set: int


class Hardware(Struct, frozen=True):
    """Everything is optional: a native image needs none of it."""

    flash: Region | None = None
    ram: Region | None = None
    stack: int = 0  # bytes of the program's stack
    runtime_stack: int = 0  # bytes of the stack that the runtime and interrupt handlers use; 0: what the port chooses
    heap: int = 0  # bytes that malloc may give away, heads of blocks included; 0: all that is free
    null_page: int = 0  # bytes from address 0 that no program may touch, where the MPU can see to it
    clock: int = 0  # Hz
    uart: Uart | None = None
    timer: Timer | None = None
    reset: tuple[int, int] | None = None  # the register that resets the board, where the core cannot, and its value
    setup: tuple[Write, ...] = ()
    input: int = 0  # bytes of a test's input at most; 0 of these three: what the port chooses
    chunk: int = 0  # bytes of payload of a frame at most
    taint: int = 0  # bytes at the upper end of `ram` that the taint map covers; 0: all
    shadow: int = 0  # tainted 32-byte blocks of memory that an opaque call is compared on exactly

    def macros(self) -> dict[str, str]:
        """The C macros that tell the runtime."""
        found: dict[str, int] = {
            "SC_STACK_SIZE": self.stack,
            "SC_RUNTIME_STACK": self.runtime_stack,
            "SC_CLOCK": self.clock,
            "SC_HEAP_LIMIT": self.heap,
        }
        for name, region in (("FLASH", self.flash), ("RAM", self.ram)):
            if region is not None:
                found |= {f"SC_{name}_BASE": region.at, f"SC_{name}_SIZE": region.size}
        if self.ram is not None and self.taint:
            found |= {"SC_MAP_BASE": self.ram.at + self.ram.size - self.taint, "SC_MAP_SIZE": self.taint}
        if self.uart is not None:
            kind = self.uart.kind.upper().replace("-", "_")
            found |= {f"SC_UART_{kind}": 1, "SC_UART": self.uart.at, "SC_UART_IRQ": self.uart.irq}
            found["SC_BAUD"] = self.uart.baud
        if self.timer is not None:
            if self.timer.kind == "clint":
                found |= {"SC_CLINT": self.timer.at, "SC_CLINT_HZ": self.timer.clock}
            else:
                found |= {f"SC_TIMER_{self.timer.kind.upper()}": 1, "SC_TIMER": self.timer.at}
                found |= {"SC_TIMER_HZ": self.timer.clock, "SC_TIMER_IRQ": self.timer.irq}
        if self.reset is not None:
            found |= {"SC_RESET_AT": self.reset[0], "SC_RESET_VALUE": self.reset[1]}
        found |= {"SC_INPUT_CAPACITY": self.input, "SC_CHUNK": self.chunk, "SC_SHADOW": self.shadow}
        macros = {name: f"{value:#x}" for name, value in found.items() if value or name in _MAY_BE_ZERO}
        if self.flash is not None:  # numbers that may be 0
            macros |= {"SC_FLASH_BASE": f"{self.flash.at:#x}", "SC_NULL_PAGE": f"{self.null_page:#x}"}
        if self.setup:
            macros["SC_SETUP"] = ",".join(f"{{{w.at:#x},{w.clear:#x},{w.set:#x}}}" for w in self.setup)
        return macros


def read_hardware(doc: yamlfile.Section) -> Hardware:
    """The keys `memory`, `clock`, `uart`, `timer`, `reset`, `setup` and `buffers` of a profile."""
    memory, buffers = yamlfile.group(doc, "memory"), yamlfile.group(doc, "buffers")
    memory.check_keys(("flash", "ram", "stack", "runtime-stack", "heap", "null-page"), "key of `memory`")
    buffers.check_keys(("input", "chunk", "taint", "shadow"), "key of `buffers`")
    chunk = buffers.number("chunk", 0)
    if 0 < chunk < 16:
        raise UsageError(f"chunk: {chunk} is too small", buffers.where("chunk"), "Give at least 16 bytes.")
    return Hardware(
        flash=_region(memory, "flash"),
        ram=_region(memory, "ram"),
        stack=memory.number("stack", 0),
        runtime_stack=memory.number("runtime-stack", 0),
        heap=memory.number("heap", 0),
        null_page=memory.number("null-page", 0),
        clock=doc.number("clock", 0),
        uart=_uart(doc),
        timer=_timer(doc),
        reset=_reset(doc),
        setup=_setup(doc),
        input=buffers.number("input", 0),
        chunk=chunk,
        taint=_taint(buffers),
        shadow=buffers.number("shadow", 0),
    )


def _taint(buffers: yamlfile.Section) -> int:
    taint = buffers.number("taint", 0)
    if taint % 32:
        raise UsageError(f"taint: {taint} is no multiple of 32", buffers.where("taint"), "Give one, or leave it out.")
    return taint


def _region(memory: yamlfile.Section, key: str) -> Region | None:
    if key not in memory.values:
        return None
    region = memory.section(key)
    region.check_keys(("at", "size"), f"key of `{key}`")
    found = Region(region.number("at"), region.number("size"))
    if found.size < 1024:
        raise UsageError(
            f"{key}: {found.size} bytes are too few", region.where("size"), "Give its size in bytes, or 64K."
        )
    return found


def _uart(doc: yamlfile.Section) -> Uart | None:
    if "uart" not in doc.values:
        return None
    uart = doc.section("uart")
    uart.check_keys(("kind", "at", "irq", "baud"), "key of `uart`")
    return Uart(uart.word("kind", UARTS), uart.number("at"), uart.number("irq", 0), uart.number("baud", 115200))


def _timer(doc: yamlfile.Section) -> Timer | None:
    if "timer" not in doc.values:
        return None
    timer = doc.section("timer")
    timer.check_keys(("kind", "at", "clock", "irq"), "key of `timer`")
    kind = timer.word("kind", TIMERS)
    irq = 0 if kind == "clint" else timer.number("irq")
    return Timer(kind, timer.number("at"), timer.number("clock"), irq)


def _reset(doc: yamlfile.Section) -> tuple[int, int] | None:
    if "reset" not in doc.values:
        return None
    reset = doc.section("reset")
    reset.check_keys(("at", "value"), "key of `reset`")
    return reset.number("at"), reset.number("value")


def _setup(doc: yamlfile.Section) -> tuple[Write, ...]:
    steps = doc.values.get("setup")
    if steps is None:
        return ()
    hint = "Write `setup: [{at: 0x40023830, set: 0x1}, {at: 0x40020000, value: 0xa8280000}]`."
    if not isinstance(steps, list) or not all(isinstance(step, yamlfile.Section) for step in steps):
        raise UsageError("'setup' must be a list of registers", doc.where("setup"), hint)
    return tuple(_write(step, hint) for step in steps)


def _write(step: yamlfile.Section, hint: str) -> Write:
    step.check_keys(("at", "value", "set", "clear"), "key of a step of `setup`")
    at = step.number("at")
    if "value" in step.values:
        return Write(at, 0xFFFFFFFF, step.number("value"))
    if not {"set", "clear"} & set(step.values):
        raise UsageError("this step of `setup` changes nothing", step.where("at"), hint)
    return Write(at, step.number("clear", 0), step.number("set", 0))
