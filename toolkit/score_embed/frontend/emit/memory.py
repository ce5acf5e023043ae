"""What a function does with memory and slots, as C with its probes: assignments, reads and stores at symbolic
addresses, copies, inputs, pins.
"""

from __future__ import annotations

from score_embed.contract.descriptors import MOST_VARIABLE
from score_embed.contract.sites import InputFlag, SelectFlag, SiteKind
from score_embed.contract.sites import Place as Where
from score_embed.frontend.emit.probes import ARRAY, ByStatement, Probes, on
from score_embed.frontend.ir.body import (
    Assign,
    Clear,
    Copy,
    Fill,
    ForgetObject,
    InitObject,
    Move,
    Note,
    Pin,
    Recall,
    Select,
    SetPlain,
    Store,
    Symbolic,
    Truncate,
)
from score_embed.frontend.ir.exp import Convert, GlobalAddress, Load, LocalAddress, Place, SlotRef, base_of, stride_text
from score_embed.frontend.probes.bit_words import field_text, read_field
from score_embed.frontend.probes.formulas import mentioned
from score_embed.frontend.probes.pins import varying_part
from score_embed.frontend.probes.templates import LeafText, TemplateText, address_text, storage_of
from score_embed.frontend.types.ctype import (
    Array,
    as_int,
    declare,
    has_const_member,
    is_constant,
    is_float,
    is_integer,
    unqualified,
)

MOST_CONSTANT = 65535  # bytes of a constant object that is read at a symbolic address
MOST_STORED = 256  # elements of one that is stored to
MOST_LEAVES, MOVED, BEHIND = 31, 64, 128  # of a pointer, as `sc_select` and `sc_store` are told
ORIGIN = "origin"  # the name of an assignment's site


class MemoryEmitter:
    """Prints the statements that read and write."""

    def __init__(self, probes: Probes) -> None:
        self.p = probes
        self.by_statement: ByStatement = dict(
            [
                on(Assign, self._assign),
                on(Truncate, self._truncate),
                on(Recall, self._recall),
                on(Select, self._select),
                on(Store, self._store),
                on(SetPlain, self._set_plain),
                on(Pin, self._pin),
                on(Note, self._note),
                on(ForgetObject, self._forget_object),
                on(Clear, self._clear),
                on(Copy, self._copy),
                on(Move, self._move),
                on(Fill, self._fill),
                on(InitObject, self._init_object),
                on(Symbolic, self._symbolic),
            ]
        )

    def _assign(self, s: Assign) -> str:
        if isinstance(s.dest, Place) and s.dest.bit_field is not None:
            return self._store_bit_field(s, s.dest)
        dest = self.p.dest(s.dest)
        template = self.p.template(s.exp)
        lvalue = s.dest.c() if isinstance(s.dest, SlotRef) else s.dest.text
        if id(s) in self.p.plan.silent:
            return f"{lvalue} = {s.exp.c()};"
        if not template.can_be_tainted:
            return f"{lvalue} = {s.exp.c()};{self._forget(s.dest)}"
        d = self.p.descriptor(
            self.p.site(SiteKind.ASSIGN, [*dest.words(), *template.site_words()], self._what(s.dest)),
            [dest.descriptor(), *template.descriptor()],
        )
        in_slot = isinstance(s.dest, SlotRef)
        slots = template.slots | ({dest.slot} if in_slot and self.p.maybe.slot(dest.slot) else set())
        guard = self.p.guard(slots, template.memory or not in_slot)
        probe = self.p.call("sc_assign", ["sc_f", d], [*dest.passed, *template.passed()], 2)
        # A leaf's address must be computed before the destination changes, too: `i = t[i]`; and in `v += t` the value
        # of v is a leaf even where it is none of a formula's, because it was never symbolic.
        if in_slot and dest.slot not in mentioned(s.exp) | mentioned(self.p.said(s.exp)):
            return f"{lvalue} = {s.exp.c()}; {guard}{{ {probe};{self.p.value(lvalue, s.dest.type)} }}"
        t = declare(unqualified(s.dest.type), "sc_v")
        return f"{{ {t} = {s.exp.c()}; {guard}{{ {probe};{self.p.value('sc_v', s.dest.type)} }} {lvalue} = sc_v; }}"

    def _what(self, dest: SlotRef | Place) -> str:
        """The site's name: with verify nobody asks what an origin holds."""
        return ORIGIN if dest in self.p.body.origins.values() else ""

    def _recall(self, s: Recall) -> str:
        assert isinstance(s.dest, SlotRef)
        origin = s.dest.c()
        forget = f"if ({origin} != {s.value} && !sc_origin_varies){_slot_cleared(s.dest)}"
        return f"{self._assign(s)} if (sc_strays) {{ {origin} = sc_recall({s.where}, {s.value}); {forget} }}"

    def _truncate(self, s: Truncate) -> str:
        assert isinstance(s.exp, Convert)
        assert isinstance(s.exp.operand, SlotRef)
        assert isinstance(s.dest, SlotRef)
        source, set_value = s.exp.operand, f"{s.dest.c()} = {s.exp.c()};"
        if not self.p.maybe.slot(source.slot.index):
            return f"{set_value}{self._forget(s.dest)}"
        dest, template = self.p.dest(s.dest), self.p.template(s.exp)
        test = self.p.new_template()
        holds = test.in_range(source, as_int(s.exp.type))
        at = self.p.descriptor(self.p.site(SiteKind.RANGE, test.site_words()), test.descriptor())
        d = self.p.descriptor(
            self.p.site(SiteKind.ASSIGN, [*dest.words(), *template.site_words()]),
            [dest.descriptor(), *template.descriptor()],
        )
        within = self.p.call("sc_range", ["sc_f", at, holds], test.passed(), 1)
        probe = self.p.call("sc_assign", ["sc_f", d], template.passed(), 2)
        return (
            f"{{ sc_uint sc_v = {self.p.slot_test(test.slots)[0]} && {within}; {set_value}"
            f" if (sc_v) {{ {probe};{self.p.value(s.dest.c(), s.dest.type)} }} else {{{self._forget(s.dest)} }} }}"
        )

    def _select(self, s: Select) -> str:
        assert isinstance(s.exp, Load)
        assert isinstance(s.dest, SlotRef)
        place = s.exp.place
        address = self.p.template(place.address)
        if not address.can_be_tainted:
            return self._assign(s)
        dest, load = self.p.dest(s.dest), self.p.template(s.exp)
        array, size, flags, behind = self._object_of(place)
        d = self.p.descriptor(
            self.p.site(SiteKind.ASSIGN, [*dest.words(), *load.site_words()]), [dest.descriptor(), *load.descriptor()]
        )
        self.p.descriptor(
            self.p.site(SiteKind.SELECT, [*dest.words(), "0" if behind else size, flags, *address.site_words()]),
            [
                _object_size(size, behind),
                str(int(flags) | (self._pointer_of(place) | behind) << 1),
                *address.descriptor(),
                *_array_size(size, behind),
            ],
        )
        probe = self._changing("sc_select", d, [*load.passed(), array, *address.passed()])
        # First the probe, which needs the address as it is before the destination changes: `i = t[i]`.
        return f"{probe}; {s.dest.c()} = {s.exp.c()};{self.p.value(s.dest.c(), s.dest.type)}"

    def _store(self, s: Store) -> str:
        assert isinstance(s.exp, SlotRef)
        assert isinstance(s.dest, Place)
        dest, template = self.p.dest(s.dest), self.p.template(s.exp)
        address = TemplateText(
            self.p.types, self.p.never, self.p.maybe, leaves=list(template.leaves)
        )  # its first is the value
        address.add(self.p.said(s.dest.address))
        is_field = s.dest.bit_field is not None
        if not address.can_be_tainted:
            value = read_field(s.exp, unqualified(s.dest.type), s.dest, self.p.types) if is_field else s.exp
            return self._assign(Assign(s.coord, s.dest, value))
        stored = field_text(s.dest, s.exp.c()) if is_field else s.exp.c()
        array, size, _, behind = self._object_of(s.dest)
        step = self._step_of(s.dest)
        if size != "0":
            size = f"({step} && {size} / ({step} ? {step} : 1) <= {MOST_STORED} ? {size} : 0)"
        d = self.p.descriptor(
            self.p.site(SiteKind.ASSIGN, [*dest.words(), *template.site_words()]),
            [dest.descriptor(), *template.descriptor()],
        )
        self.p.descriptor(
            self.p.site(SiteKind.STORE, [*dest.words(), "0" if behind else size, step, *address.site_words()]),
            [
                _object_size(size, behind),
                f"(sc_d) ({step})",
                str(self._pointer_of(s.dest) | behind),
                *address.descriptor(),
                *_array_size(size, behind),
            ],
        )
        probe = self._changing("sc_store", d, [*dest.passed, array, *address.passed()])
        return f"{probe};{self.p.value(s.exp.c(), s.exp.type)} {s.dest.text} = {stored};"

    def _step_of(self, dest: Place) -> str:
        """How many bytes lie between the places that the address may be, in C."""
        storage = storage_of(dest)
        size = f"sizeof({dest.text})" if storage is None else str(storage.size)
        return stride_text(self.p.said(dest.address), size)

    def _pointer_of(self, place: Place) -> int:
        """How many of the address's leaves, the first ones, are those of a pointer: if they are symbolic, it may be any
        number. MOVED more if arithmetic made it: its value does not say what it was made from."""
        base, own = base_of(self.p.said(place.address)), base_of(place.address)
        if not self.p.maybe.exp(base):
            return 0
        leaves = self.p.new_template()
        leaves.add(base)
        is_moved = isinstance(own, SlotRef) and own.slot.index in self.p.body.origins
        return min(len(leaves.leaves), MOST_LEAVES) + MOVED * is_moved

    @staticmethod
    def _changing(probe: str, descriptor: str, words: list[str]) -> str:
        return f"{probe}(sc_f, {descriptor}, ({ARRAY} {{ {', '.join(words)} }})"

    def _object_of(self, place: Place) -> tuple[str, str, str, int]:
        """Where the object begins that the place is in, its size and flags. Size 0: only the runtime can find it. Last,
        BEHIND if it is that object only while the pointer that leads there is not symbolic."""
        array = place.array
        behind = array is not None and self.p.maybe.exp(self.p.said(array.address))
        self.p.numbering.finds_objects |= array is None or behind
        if array is None or (behind and not self._is_behind_pointer(place, array)):
            return "0", "0", "0", 0
        assert isinstance(array.type, Array)
        constant = array.static and is_constant(array.type)
        most = MOST_CONSTANT if constant else MOST_VARIABLE
        size = f"(sizeof({array.text}) <= {most} ? sizeof({array.text}) : 0)"
        flags = str(int(SelectFlag.CONSTANT) if constant else 0)
        return f"(sc_word) &{array.text}", size, flags, BEHIND if behind else 0

    def _is_behind_pointer(self, place: Place, array: Place) -> bool:
        """Whether nothing but the pointer's own leaves, which `_pointer_of` counts, decide where the array is."""
        base = base_of(self.p.said(array.address))
        if base != base_of(self.p.said(place.address)) or not self._pointer_of(place):
            return False
        leaves, whole = self.p.new_template(), self.p.new_template()
        leaves.add(base)
        whole.add(self.p.said(array.address))
        return len(whole.leaves) == len(leaves.leaves) <= MOST_LEAVES

    def _store_bit_field(self, s: Assign, place: Place) -> str:
        dest = self.p.dest(place)
        template = self.p.new_template()
        template.stored(self.p.said(s.exp), place)
        set_value = f"{{ {declare(unqualified(place.type), 'sc_v')} = {s.exp.c()};"
        if not template.can_be_tainted:
            clear = f"if (sc_any) sc_clear((const void *) {address_text(place)}, {dest.bits // 8});"
            return f"{set_value} {place.text} = sc_v; {clear} }}"
        d = self.p.descriptor(
            self.p.site(SiteKind.ASSIGN, [*dest.words(), *template.site_words()]),
            [dest.descriptor(), *template.descriptor()],
        )
        probe = self.p.call("sc_assign", ["sc_f", d], [*dest.passed, *template.passed()], 2)
        # The probe reads what is there before the store: should that fault, then in the program.
        touch = f"SC_TOUCH({address_text(place)}); " if _may_fault(place) else ""
        value = f" sc_value((sc_u64) SC_STORED({dest.bits}, {address_text(place)}));" if self.p.verify else ""
        return f"{set_value} {touch}{probe}; {place.text} = sc_v;{value} }}"

    def _forget(self, dest: SlotRef | Place) -> str:
        """Nothing in the value can be symbolic: the destination's taint goes."""
        if isinstance(dest, SlotRef):
            return _slot_cleared(dest) if self.p.maybe.slot(dest.slot.index) else ""
        if not self.p.maybe.place(dest):
            return ""
        return f" if (sc_any) sc_clear((const void *) &{dest.text}, sizeof {dest.text});"

    def _set_plain(self, s: SetPlain) -> str:
        return f"{s.text} = {s.exp.c()};"

    def _pin(self, s: Pin) -> str:
        return self.p.pin(s.exp, s.reason)

    def _note(self, s: Note) -> str:
        return f"sc_pin(sc_f, {self.p.note(s.reason)}, 0);"

    def _forget_object(self, s: ForgetObject) -> str:
        clear = f" sc_clear((const void *) &{s.text}, sizeof {s.text});" if s.clear else ""
        test = f"sc_any && sc_tainted((const void *) &{s.text}, sizeof {s.text})"
        return f"if ({test}) {{ sc_pin(sc_f, {self.p.note(s.reason)}, 0);{clear} }}"

    def _clear(self, s: Clear) -> str:
        if s.text in self.p.objects.automatic:
            return f"SC_LOCAL({s.text});"
        return f"if (sc_any) sc_clear((const void *) &{s.text}, sizeof {s.text});"

    def _copy(self, s: Copy) -> str:
        d = self.p.descriptor(self.p.site(SiteKind.COPY, []), [])
        dst, src = s.dest.text, s.source.text
        moved = move(dst, src) if has_const_member(s.dest.type) else f"{dst} = {src};"
        return f"if (sc_any) sc_copy(sc_f, {d}, (void *) &{dst}, (const void *) &{src}, sizeof {dst}); {moved}"

    def _move(self, s: Move) -> str:
        d = self.p.descriptor(self.p.site(SiteKind.COPY, []), [])
        words = f"(void *) {s.dest.c()}, (const void *) {s.source.c()}, {s.size.c()}"
        return f"if (sc_any) sc_copy(sc_f, {d}, {words}); __builtin_memmove({words});"

    def _fill(self, s: Fill) -> str:
        dest, size = s.dest.c(), s.size.c()
        clear = f"if (sc_any) sc_clear((const void *) {dest}, {size});"
        return f"__builtin_memset((void *) {dest}, {s.value.c()}, {size}); {clear}"

    def _init_object(self, s: InitObject) -> str:
        t = s.dest.type
        shown = declare(unqualified(t) if not isinstance(t, Array) else t, "sc_init")
        text = s.dest.text
        return (
            f"{{ static const {shown} = {s.init}; __builtin_memcpy((void *) &{text}, &sc_init, sizeof {text}); }}"
            f" if (sc_any) sc_clear((const void *) &{text}, sizeof {text});"
        )

    def _symbolic(self, s: Symbolic) -> str:
        leaf = self._symbolic_dest(s)
        size = s.size.text if s.size else "0"
        site = self.p.site(SiteKind.SYMBOLIC, [*leaf.words(), size, str(_input_flags(s))], s.name)
        if isinstance(s.dest, SlotRef):
            d = self.p.descriptor(site, [leaf.descriptor()])
            if is_float(s.dest.type):
                return f"{s.dest.c()} = sc_float{s.dest.type.bits}(sc_sym_slot(sc_f, {d}));"
            return f"{s.dest.c()} = ({declare(unqualified(s.dest.type))}) sc_sym_slot(sc_f, {d});"
        d = self.p.descriptor(site, [leaf.descriptor(), str(int(s.count is not None))])
        length = s.count.c() if s.count else size
        return f"sc_sym_mem(sc_f, {d}, (void *) &{s.dest.text}, {length});"

    def _symbolic_dest(self, s: Symbolic) -> LeafText:
        if isinstance(s.dest, SlotRef):
            return self.p.dest(s.dest)
        if s.dest.static and s.count is None:
            return LeafText(Where.GLOBAL, 8, f"(sc_word) &{s.dest.text}", 0, ())
        return LeafText(Where.MEMORY, 8, "0", 0, ())


def _object_size(size: str, behind: int) -> str:
    """What a descriptor begins with. Of an array behind a pointer only the run can tell whether it is the object; its
    size comes last."""
    return "0" if behind else f"(sc_d) ({size})"


def _array_size(size: str, behind: int) -> list[str]:
    return [f"(sc_d) ({size})"] if behind else []


def _slot_cleared(dest: SlotRef) -> str:
    index = dest.slot.index
    return f" sc_m[{1 + (index >> 5)}] &= {0xFFFFFFFF ^ 1 << (index & 31):#x}u;"


def _input_flags(s: Symbolic) -> int:
    """What an input holds, as the site table says it."""
    t, flags = s.dest.type, 0
    if s.count:
        return InputFlag.TEXT if s.text else flags
    if is_integer(t) and as_int(t).signed:
        flags |= InputFlag.SIGNED
    if s.boolean:
        flags |= InputFlag.BOOLEAN
    return flags | InputFlag.FLOAT if is_float(t) else flags


def _may_fault(place: Place) -> bool:
    """Whether its address is not that of an object of the program's."""
    return not isinstance(varying_part(place.address), (GlobalAddress, LocalAddress))


def move(dest: str, source: str) -> str:
    """A struct copy where C forbids assignment (const members)."""
    return f"__builtin_memmove((void *) &{dest}, &{source}, sizeof {dest});"
