"""From the normal form back to C, with probes: one function at a time.

Every statement is printed on one line under a `#line` of the user's position, followed or preceded by its probe. The
user's expression is always evaluated before the probe runs, so that a fault happens on the user's line.
Sites are static arrays inside the function, where every name of the user's is in scope.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from score_embed.frontend.addresses import base_of, stride_text
from score_embed.frontend.blocks import RETURNS_TWICE
from score_embed.frontend.comparisons import Side, comparison_test
from score_embed.frontend.formulas import mentioned, substituted
from score_embed.frontend.ir import (
    Assembly,
    Assign,
    Branch,
    Call,
    Check,
    Clear,
    Convert,
    Copy,
    Exp,
    Fail,
    Fill,
    ForgetObject,
    GlobalAddress,
    Goto,
    HeapCheck,
    InitObject,
    Jump,
    Label,
    Load,
    LocalAddress,
    Move,
    Pin,
    Place,
    RangeCheck,
    Return,
    Select,
    SetPlain,
    SlotRef,
    Stmt,
    Store,
    Switch,
    Symbolic,
    Tick,
    Truncate,
    VaStart,
    Verbatim,
)
from score_embed.frontend.pins import varying_part
from score_embed.frontend.printer import line_directive
from score_embed.frontend.probes import ARRAY, Probes
from score_embed.frontend.sites import CONSTANT, MAIN, PROGRAM_MAIN, SiteKind
from score_embed.frontend.sites import Place as Where
from score_embed.frontend.templates import LeafText, TemplateText, address_text, leaf_word, long_words, oriented
from score_embed.frontend.types import (
    Array,
    CType,
    Function,
    Int,
    Pointer,
    Struct,
    VaList,
    Void,
    as_int,
    declare,
    has_const_member,
    is_constant,
    is_float,
    is_integer,
    unqualified,
)

RETURN = "sc_return"
# What a violated check is called: the verdicts of the wire.
VERDICTS = {
    "null": "SC_NULL_DEREFERENCE",
    "bounds": "SC_OUT_OF_BOUNDS",
    "division": "SC_DIVISION_BY_ZERO",
    "overflow": "SC_OVERFLOW",
    "shift": "SC_SHIFT_RANGE",
    "unreachable": "SC_UNREACHABLE",
}
MOST_CONSTANT, MOST_VARIABLE = 65535, 4096  # bytes of an object that is read at a symbolic address
MOST_STORED = 256  # elements of one that is stored to
_MOST_WORDS = 16_000  # of an array of the site table
NONE_LEAF = str(int(Where.NONE) << 14)
DOUBLE, UNKNOWN = 1, 2  # in a call's leaf without taint: what it has instead of a size (runtime/variadic.c)

PRELUDE = """#include "probe.h"
typedef __UINTPTR_TYPE__ sc_word;
#define SC_LO(x) ((sc_word) ((sc_u64) (x) & 0xffffffffu))
#define SC_HI(x) ((sc_word) ((sc_u64) (x) >> 32))
#define SC_PART(type, x, shift) ((sc_word) ((type) (x) >> (shift)))
#define SC_TOUCH(p) ((void) *(const volatile char *) (p))
#define SC_STORED(bits, p) (((const struct { __INT##bits##_TYPE__ v; } __attribute__((packed)) *) (p))->v)
#define sc_f (&sc_a.head)
#define sc_m sc_a.m
#define SC_SITES(n) static const sc_word sc_sites##n[] __attribute__((section(".sc_sites"), used))
"""


class Emitter(Probes):
    """Prints one lowered function."""

    def c(self) -> str:
        """The whole function as C."""
        self_site = self._site(SiteKind.ENTER, [str(self.body.scalars)], self.body.name)
        self._begin_table(self_site)
        for statement in self.body.statements:
            self._at(statement)
            for note in self._notes(statement):
                self._put(note)
            self._put(self._statement(statement))
        self._put(self._end())
        params = [
            f"sc_struct_param(sc_f, {self._descriptor(self._site(SiteKind.COPY, []), [])}, {i}, &{name}, sizeof {name});"
            for i, name in enumerate(self.body.structs)
        ]
        opening = [
            f"{self.body.header} {{",  # on one line: where a linker says that the function is
            *self.body.declarations,
            *(["const SC_ROM sc_d *sc_passed;"] if self.body.declared is not None else []),
            *self._site_arrays(),
            "static const SC_ROM sc_d sc_table[] = {\n  " + ",\n  ".join(self.table) + "\n};",
            f"SC_ACTIVATION({self.words}) sc_a;",
            line_directive(self.body.coord.file, self.body.coord.line),
            f"sc_enter(sc_f, sc_table, (const void *) {self.body.emitted_name});",
            *(["sc_passed = sc_arguments();"] if self.body.declared is not None else []),
            *params,
        ]
        return "\n".join([*opening, *self.lines, "}\n"])

    def _site_arrays(self) -> list[str]:
        """The records of the site table: several arrays, as none has more than 32767 bytes where int has 16 bits."""
        arrays: list[list[str]] = [[]]
        words = 0
        for record in self.sites:
            words += record.count(",") + 1
            if words > _MOST_WORDS:
                arrays.append([])
                words = record.count(",") + 1
            arrays[-1].append(record)
        return [f"SC_SITES({n}) = {{\n  " + ",\n  ".join(records) + "\n};" for n, records in enumerate(arrays)]

    def _statement(self, s: Stmt) -> str:
        text: str = getattr(self, f"_emit_{type(s).__name__}")(s)
        return text

    def _emit_Assign(self, s: Assign) -> str:
        if isinstance(s.dest, Place) and s.dest.bit_field is not None:
            return self._store_bit_field(s, s.dest)
        dest = self._dest(s.dest)
        template = self._template(s.exp)
        lvalue = s.dest.c() if isinstance(s.dest, SlotRef) else s.dest.text
        if id(s) in self.plan.silent:
            return f"{lvalue} = {s.exp.c()};"
        if not template.can_be_tainted:
            return f"{lvalue} = {s.exp.c()};{self._forget(s.dest)}"
        d = self._descriptor(
            self._site(SiteKind.ASSIGN, [*dest.words(), *template.site_words()]),
            [dest.descriptor(), *template.descriptor()],
        )
        in_slot = isinstance(s.dest, SlotRef)
        slots = template.slots | ({dest.slot} if in_slot and self.maybe.slot(dest.slot) else set())
        guard = self._guard(slots, template.memory or not in_slot)
        probe = self._call("sc_assign", ["sc_f", d], [*dest.passed, *template.passed()], 2)
        # A leaf's address must be computed before the destination changes, too: `i = t[i]`.
        if in_slot and dest.slot not in mentioned(substituted(s.exp, self._known)):
            return f"{lvalue} = {s.exp.c()}; {guard}{{ {probe};{self._value(lvalue, s.dest.type)} }}"
        t = declare(unqualified(s.dest.type), "sc_v")
        return f"{{ {t} = {s.exp.c()}; {guard}{{ {probe};{self._value('sc_v', s.dest.type)} }} {lvalue} = sc_v; }}"

    def _emit_Truncate(self, s: Truncate) -> str:
        assert isinstance(s.exp, Convert)
        assert isinstance(s.exp.operand, SlotRef)
        assert isinstance(s.dest, SlotRef)
        source, set_value = s.exp.operand, f"{s.dest.c()} = {s.exp.c()};"
        if not self.maybe.slot(source.slot.index):
            return f"{set_value}{self._forget(s.dest)}"
        dest, template = self._dest(s.dest), self._template(s.exp)
        test = TemplateText(self.types, self.never, self.maybe)
        holds = test.in_range(source, as_int(s.exp.type))
        at = self._descriptor(self._site(SiteKind.RANGE, test.site_words()), test.descriptor())
        d = self._descriptor(
            self._site(SiteKind.ASSIGN, [*dest.words(), *template.site_words()]),
            [dest.descriptor(), *template.descriptor()],
        )
        within = self._call("sc_range", ["sc_f", at, holds], test.passed(), 1)
        probe = self._call("sc_assign", ["sc_f", d], template.passed(), 2)
        return (
            f"{{ sc_uint sc_v = {self._slot_test(test.slots)[0]} && {within}; {set_value}"
            f" if (sc_v) {{ {probe};{self._value(s.dest.c(), s.dest.type)} }} else {{{self._forget(s.dest)} }} }}"
        )

    def _emit_Select(self, s: Select) -> str:
        assert isinstance(s.exp, Load)
        assert isinstance(s.dest, SlotRef)
        place = s.exp.place
        address = self._template(place.address)
        if not address.can_be_tainted:
            return self._emit_Assign(s)
        dest, load = self._dest(s.dest), self._template(s.exp)
        array, size, flags, described = self._object_of(place)
        d = self._descriptor(
            self._site(SiteKind.ASSIGN, [*dest.words(), *load.site_words()]), [dest.descriptor(), *load.descriptor()]
        )
        self._descriptor(
            self._site(SiteKind.SELECT, [*dest.words(), size, flags, *address.site_words()]),
            [f"(sc_d) ({size})", described, *address.descriptor()],
        )
        probe = self._changing("sc_select", d, [*load.passed(), array, *address.passed()])
        # First the probe, which needs the address as it is before the destination changes: `i = t[i]`.
        return f"{probe}; {s.dest.c()} = {s.exp.c()};{self._value(s.dest.c(), s.dest.type)}"

    def _emit_Store(self, s: Store) -> str:
        assert isinstance(s.exp, SlotRef)
        assert isinstance(s.dest, Place)
        dest, template = self._dest(s.dest), self._template(s.exp)
        address = TemplateText(
            self.types, self.never, self.maybe, leaves=list(template.leaves)
        )  # its first is the value
        address.add(substituted(s.dest.address, self._known))
        if not address.can_be_tainted:
            return self._emit_Assign(s)
        array, size, _, described = self._object_of(s.dest)
        step = stride_text(substituted(s.dest.address, self._known), f"sizeof({s.dest.text})")
        if size != "0":
            size = f"({step} && {size} / ({step} ? {step} : 1) <= {MOST_STORED} ? {size} : 0)"
        d = self._descriptor(
            self._site(SiteKind.ASSIGN, [*dest.words(), *template.site_words()]),
            [dest.descriptor(), *template.descriptor()],
        )
        self._descriptor(
            self._site(SiteKind.STORE, [*dest.words(), size, step, *address.site_words()]),
            [f"(sc_d) ({size})", f"{described} | 2", *address.descriptor(), f"(sc_d) ({step})"],
        )
        probe = self._changing("sc_store", d, [*dest.passed, array, *address.passed()])
        return f"{probe};{self._value(s.exp.c(), s.dest.type)} {s.dest.text} = {s.exp.c()};"

    @staticmethod
    def _changing(probe: str, descriptor: str, words: list[str]) -> str:
        return f"{probe}(sc_f, {descriptor}, ({ARRAY} {{ {', '.join(words)} }})"

    def _object_of(self, place: Place) -> tuple[str, str, str, str]:
        """Where the object begins that the place is in, its size, its flags and these as the probe is told.

        Where the size is not known here, it is 0, and the first is the pointer that the address is computed from; the
        probe is told how many leaves of the address are that pointer's."""
        array = place.array
        if array is None or self.maybe.exp(substituted(array.address, self._known)):
            base = base_of(substituted(place.address, self._known))
            leaves = TemplateText(self.types, self.never, self.maybe)
            leaves.add(base)
            return f"(sc_word) {base.c()}", "0", "0", str(len(leaves.leaves) << 8)
        assert isinstance(array.type, Array)
        constant = array.static and is_constant(array.type)
        most = MOST_CONSTANT if constant else MOST_VARIABLE
        size = f"(sizeof({array.text}) <= {most} ? sizeof({array.text}) : 0)"
        flags = str(CONSTANT if constant else 0)
        return f"(sc_word) &{array.text}", size, flags, flags

    def _store_bit_field(self, s: Assign, place: Place) -> str:
        dest = self._dest(place)
        template = TemplateText(self.types, self.never, self.maybe)
        template.stored(substituted(s.exp, self._known), place)
        set_value = f"{{ {declare(unqualified(place.type), 'sc_v')} = {s.exp.c()};"
        if not template.can_be_tainted:
            clear = f"if (sc_any) sc_clear((const void *) {address_text(place)}, {dest.bits // 8});"
            return f"{set_value} {place.text} = sc_v; {clear} }}"
        d = self._descriptor(
            self._site(SiteKind.ASSIGN, [*dest.words(), *template.site_words()]),
            [dest.descriptor(), *template.descriptor()],
        )
        probe = self._call("sc_assign", ["sc_f", d], [*dest.passed, *template.passed()], 2)
        # The probe reads what is there before the store: should that fault, then in the program.
        touch = f"SC_TOUCH({address_text(place)}); " if _may_fault(place) else ""
        value = f" sc_value((sc_u64) SC_STORED({dest.bits}, {address_text(place)}));" if self.verify else ""
        return f"{set_value} {touch}{probe}; {place.text} = sc_v;{value} }}"

    def _forget(self, dest: SlotRef | Place) -> str:
        """Nothing in the value can be symbolic: the destination's taint goes."""
        if isinstance(dest, SlotRef):
            index = dest.slot.index
            if not self.maybe.slot(index):
                return ""
            return f" sc_m[{1 + (index >> 5)}] &= {0xFFFFFFFF ^ 1 << (index & 31):#x}u;"
        if not self.maybe.place(dest):
            return ""
        return f" if (sc_any) sc_clear((const void *) &{dest.text}, sizeof {dest.text});"

    def _emit_SetPlain(self, s: SetPlain) -> str:
        return f"{s.text} = {s.exp.c()};"

    def _emit_Pin(self, s: Pin) -> str:
        return self._pin(s.exp, s.reason)

    def _emit_ForgetObject(self, s: ForgetObject) -> str:
        clear = f" sc_clear((const void *) &{s.text}, sizeof {s.text});" if s.clear else ""
        test = f"sc_any && sc_tainted((const void *) &{s.text}, sizeof {s.text})"
        return f"if ({test}) {{ sc_pin(sc_f, {self._note(s.reason)}, 0);{clear} }}"

    def _emit_Branch(self, s: Branch) -> str:
        op, left, right = oriented(s.op, s.left, s.right)
        template = TemplateText(self.types, self.never, self.maybe)
        a, b = (Side(exp, substituted(exp, self._known)) for exp in (left, right))
        template.comparison(op, a.said, b.said)
        coverage = self.numbering.take_coverage(2)
        words = [str(coverage), str(int(s.assumption)), *template.site_words()]
        site = self._site(SiteKind.COND, words)
        head = [str(coverage & 0xFFFF), str(coverage >> 16)]
        test = comparison_test(op, a, b, template) if template.can_be_tainted else None
        holds = f"{left.c()} {op} {right.c()}"
        if test is not None:
            probe = f"{test.probe}({', '.join(['sc_f', self._descriptor(site, [*head, *test.words]), *test.passed])})"
        elif template.can_be_tainted:
            d = self._descriptor(site, [*head, *template.descriptor()])
            probe = self._call("sc_cond", ["sc_f", d, holds], template.passed(), 2)
        else:
            probe = f"sc_branch(sc_f, {self._descriptor(site, [*head, *template.descriptor()])}, {holds})"
        return f"if ({'' if s.when else '!'}{probe}) goto {s.label};"

    def _emit_VaStart(self, s: VaStart) -> str:
        d = self._descriptor(self._site(SiteKind.VARIADIC, []), [str(self.body.declared)])
        return f"__builtin_va_start({s.list}, {s.last}); sc_variadic(sc_f, {d}, sc_passed, {s.list});"

    def _emit_Goto(self, s: Goto) -> str:
        return f"goto {s.label};"

    def _emit_Jump(self, s: Jump) -> str:
        return f"goto *{s.target.c()};"

    def _emit_Label(self, s: Label) -> str:
        return f"{s.name}: ;"

    def _emit_Tick(self, s: Tick) -> str:
        return "sc_tick();"

    def _emit_Clear(self, s: Clear) -> str:
        return f"if (sc_any) sc_clear((const void *) &{s.text}, sizeof {s.text});"

    def _emit_Verbatim(self, s: Verbatim) -> str:
        return s.text

    def _emit_Assembly(self, s: Assembly) -> str:
        if not s.opaque:
            return s.text
        site = self._site(SiteKind.OPAQUE, [str(int(Where.NONE)), "0", "0", "0"], "inline assembly")
        d = self._descriptor(site, ["0", NONE_LEAF, "0"])
        return f"{{ sc_u32 sc_s = sc_opaque(sc_f, {d}); {s.text} sc_opaque_end(sc_f, {d}, sc_s, 0); }}"

    def _emit_Switch(self, s: Switch) -> str:
        bits = self._bits(s.slot.type)
        leaf = self._dest(s.slot)
        coverage = self.numbering.take_coverage(len(s.cases) + 1)
        t = declare(unqualified(s.slot.type))
        words = [str(coverage), str(bits), *leaf.words(), str(len(s.cases))]
        for case in s.cases:
            for text in (case.first, case.last):
                words += long_words(f"(({t}) ({text}))", self.types.model.pointer)
        d = self._descriptor(
            self._site(SiteKind.SWITCH, words),
            [str(coverage & 0xFFFF), str(coverage >> 16), leaf.descriptor(), str(len(s.cases))],
        )
        value = self._as_u64(s.slot.c(), s.slot.type)
        arms, jumps = [], []
        for arm, case in enumerate(s.cases):
            label = case.first if case.first == case.last else f"{case.first} ... {case.last}"
            arms.append(f"case {label}: sc_t = {arm}; break;")
            jumps.append(f"case {arm}: goto {case.label};")
        return " ".join(
            [
                f"{{ sc_u32 sc_t; switch ({s.slot.c()}) {{",
                *arms,
                f"default: sc_t = {len(s.cases)}; }} switch (sc_switch(sc_f, {d}, sc_t, {value})) {{",
                *jumps,
                f"default: goto {s.default}; }} }}",
            ]
        )

    def _emit_Call(self, s: Call) -> str:
        args = ", ".join(a.exp.text if isinstance(a.exp, Place) else a.exp.c() for a in s.args)
        dest = (
            s.dest
            if isinstance(s.dest, str)
            else s.dest.text
            if isinstance(s.dest, Place)
            else s.dest.c()
            if s.dest
            else ""
        )
        call = f"{dest + ' = ' if dest else ''}{s.callee}({args});"
        if isinstance(s.dest, Place) and has_const_member(s.dest.type):
            call = f"{{ {declare(unqualified(s.dest.type), 'sc_v')} = {s.callee}({args}); {_move(dest, 'sc_v')} }}"
        callee = f"(const void *) {s.callee}"
        if s.kind == "known":
            text = f"{self._before_known(s, callee)} {call} {self._after_known(s, callee)}"
            # Its address is taken before the call that would declare it.
            return f"{{ extern int {s.callee}(); {text} }}" if s.implicit else text
        before, after = self._opaque(s)
        if s.kind == "opaque":
            return f"{{ {before} {call} {after} }}"
        known = self._after_known(s, callee)
        return f"{{ {before} {self._before_known(s, callee)} {call} if (sc_returned({callee})) {{ {known} }} else {{ {after} }} }}"

    def _before_known(self, s: Call, callee: str) -> str:
        leaves: list[LeafText] = []
        structs: list[str] = []
        doubles: list[int] = []  # among arguments of `...`: they have a place of their own
        for index, argument in enumerate(s.args):
            if isinstance(argument.exp, Place):
                structs.append(argument.exp.text)
                if s.declared is not None and index >= s.declared:
                    leaves.append(LeafText(Where.NONE, 8, "0", UNKNOWN, ()))
            elif self._may_be_passed(argument.exp):
                leaves.append(self._dest(argument.exp))
                if s.declared is not None and index >= s.declared and is_float(argument.exp.type):
                    doubles.append(len(leaves) - 1)
            else:
                leaves.append(self._untracked_argument(argument.exp.type))
        words = [str(len(leaves))]
        for leaf in leaves:
            words += leaf.words()
        passed_as = [replace(leaf, where=Where.GLOBAL) if i in doubles else leaf for i, leaf in enumerate(leaves)]
        d = self._descriptor(
            self._site(SiteKind.CALL, words, s.name), [str(len(leaves)), *(leaf.descriptor() for leaf in passed_as)]
        )
        passed = "".join(f" sc_struct_arg({i}, &{text});" for i, text in enumerate(structs))
        return f"sc_call(sc_f, {d}, {callee});{passed}"

    def _untracked_argument(self, t: CType) -> LeafText:
        """An argument without taint. A walk over arguments of `...` passes over it by its size."""
        if is_integer(t) or isinstance(t, Pointer):
            bits = self._bits(t)
            return LeafText(Where.NONE, bits, "0", 0, ()) if bits <= 64 else LeafText(Where.NONE, 8, "0", UNKNOWN, ())
        if is_float(t):
            return LeafText(Where.NONE, t.bits, "0", DOUBLE, ())
        return LeafText(Where.NONE, 8, "0", UNKNOWN, ())

    def _may_be_passed(self, exp: Exp | Place) -> TypeGuard[SlotRef]:
        """An argument whose taint a callee may have to know: all others are constants."""
        return isinstance(exp, SlotRef) and self.maybe.slot(exp.slot.index)

    def _after_known(self, s: Call, callee: str) -> str:
        if isinstance(s.dest, Place):
            d = self._descriptor(self._site(SiteKind.COPY, [], s.name), [])
            return f"sc_struct_result(sc_f, {d}, {callee}, &{s.dest.text}, sizeof {s.dest.text});"
        if not isinstance(s.dest, SlotRef) or not self.whole.slot(s.dest.slot.index):
            return ""
        leaf = self._dest(self.plan.results.get(id(s), s.dest))
        d = self._descriptor(self._site(SiteKind.RESULT, leaf.words(), s.name), [leaf.descriptor()])
        return f"sc_result(sc_f, {d}, {callee});{self._value(s.dest.c(), s.dest.type)}"

    def _opaque(self, s: Call) -> tuple[str, str]:
        leaves: list[str] = []
        tail: list[str] = []
        log2 = {8: 0, 16: 1, 32: 2, 64: 3}[self.types.model.pointer]
        for argument in s.args if s.name not in RETURNS_TWICE else []:  # what lies around a jmp_buf is not looked at
            exp = argument.exp
            if isinstance(exp, Exp) and isinstance(exp.type, VaList):
                leaves += [str(int(Where.MEMORY) << 14 | log2 << 12 | self.never)] * 2
                tail += [f"SC_VA_AT({exp.c()}, int)", f"SC_VA_STACK({exp.c()})"]
                continue
            pointer = isinstance(exp, Place) or (isinstance(exp.type, Pointer) and not is_function_pointer(exp.type))
            slot = exp.slot.index if self._may_be_passed(exp) else self.never
            if pointer:
                leaves.append(str(int(Where.MEMORY) << 14 | log2 << 12 | slot))
                tail.append(f"(const void *) &{exp.text}" if isinstance(exp, Place) else f"(const void *) {exp.c()}")
            elif self._may_be_passed(exp):
                leaves.append(str(leaf_word(Where.SLOT, self._bits(exp.type), slot)))
            else:
                leaves.append(NONE_LEAF)
        dest = self._dest(self.plan.results.get(id(s), s.dest)) if isinstance(s.dest, SlotRef) else None
        words = dest.words() if dest else [str(int(Where.NONE)), "0", "0"]
        site = self._site(SiteKind.OPAQUE, [*words, str(int(s.harmless))], s.name)
        head = [str(int(s.harmless)), dest.descriptor() if dest else NONE_LEAF, str(len(leaves)), *leaves]
        d = self._descriptor(site, head)
        value = self._as_u64(s.dest.c(), s.dest.type) if isinstance(s.dest, SlotRef) else "0"
        clear = f" if (sc_any) sc_clear(&{s.dest.text}, sizeof {s.dest.text});" if isinstance(s.dest, Place) else ""
        before = f"sc_u32 sc_s = sc_opaque({', '.join(['sc_f', d, *tail])});"
        return before, f"sc_opaque_end(sc_f, {d}, sc_s, {value});{clear}"

    def _leave(self) -> str:
        return "sc_leave(sc_f);"

    def _end(self) -> str:
        """The end of the function, where all returns but those of structs meet: one probe for all."""
        falls_off = (
            "sc_r = 0; " if self.body.emitted_name in (MAIN, PROGRAM_MAIN) and isinstance(self.body.result, Int) else ""
        )
        label = f"{RETURN}: " if any(map(_is_plain_return, self.body.statements)) else ""
        if isinstance(self.body.result, (Struct, Void)):
            return f"{label}{self._leave()}"
        return f"{falls_off}{label}{self._leave()} return sc_r;"

    def _emit_Return(self, s: Return) -> str:
        if isinstance(s.value, Place):
            return f"sc_struct_ret(&{s.value.text}); {self._leave()} return {s.value.text};"
        return f"goto {RETURN};"

    def _emit_Copy(self, s: Copy) -> str:
        d = self._descriptor(self._site(SiteKind.COPY, []), [])
        dst, src = s.dest.text, s.source.text
        move = _move(dst, src) if has_const_member(s.dest.type) else f"{dst} = {src};"
        return f"if (sc_any) sc_copy(sc_f, {d}, (void *) &{dst}, (const void *) &{src}, sizeof {dst}); {move}"

    def _emit_Move(self, s: Move) -> str:
        d = self._descriptor(self._site(SiteKind.COPY, []), [])
        words = f"(void *) {s.dest.c()}, (const void *) {s.source.c()}, {s.size.c()}"
        return f"if (sc_any) sc_copy(sc_f, {d}, {words}); __builtin_memmove({words});"

    def _emit_Fill(self, s: Fill) -> str:
        dest, size = s.dest.c(), s.size.c()
        clear = f"if (sc_any) sc_clear((const void *) {dest}, {size});"
        return f"__builtin_memset((void *) {dest}, {s.value.c()}, {size}); {clear}"

    def _emit_InitObject(self, s: InitObject) -> str:
        t = s.dest.type
        shown = declare(unqualified(t) if not isinstance(t, Array) else t, "sc_init")
        text = s.dest.text
        return (
            f"{{ static const {shown} = {s.init}; __builtin_memcpy((void *) &{text}, &sc_init, sizeof {text}); }}"
            f" if (sc_any) sc_clear((const void *) &{text}, sizeof {text});"
        )

    def _emit_Symbolic(self, s: Symbolic) -> str:
        leaf = self._symbolic_dest(s)
        size = s.size.text if s.size else "0"
        site = self._site(SiteKind.SYMBOLIC, [*leaf.words(), size, str(_input_flags(s))], s.name)
        if isinstance(s.dest, SlotRef):
            d = self._descriptor(site, [leaf.descriptor()])
            if is_float(s.dest.type):
                return f"{s.dest.c()} = sc_float{s.dest.type.bits}(sc_sym_slot(sc_f, {d}));"
            return f"{s.dest.c()} = ({declare(unqualified(s.dest.type))}) sc_sym_slot(sc_f, {d});"
        d = self._descriptor(site, [leaf.descriptor(), str(int(s.count is not None))])
        length = s.count.c() if s.count else size
        return f"sc_sym_mem(sc_f, {d}, (void *) &{s.dest.text}, {length});"

    def _symbolic_dest(self, s: Symbolic) -> LeafText:
        if isinstance(s.dest, SlotRef):
            return self._dest(s.dest)
        if s.dest.static and s.count is None:
            return LeafText(Where.GLOBAL, 8, f"(sc_word) &{s.dest.text}", 0, ())
        return LeafText(Where.MEMORY, 8, "0", 0, ())

    def _emit_Check(self, s: Check) -> str:
        op, left, right = oriented(s.op, s.left, s.right)
        template = TemplateText(self.types, self.never, self.maybe)
        template.comparison(op, substituted(left, self._known), substituted(right, self._known))
        site = self._site(SiteKind.CHECK, template.site_words(), s.kind)
        verdict, holds = VERDICTS[s.kind], f"{left.c()} {op} {right.c()}"
        if not (s.tracked and template.can_be_tainted):
            return f"if (!({holds})) sc_fail(sc_f, {self._descriptor(site, [verdict, '0'])});"
        d = self._descriptor(site, [verdict, *template.descriptor()])
        probe = self._call("sc_check", ["sc_f", d, "sc_v"], template.passed(), 1)
        tainted = [] if template.memory else self._slot_test(template.slots)
        guard = f"if ({' | '.join(['!sc_v', *tainted])}) " if tainted else ""
        return f"{{ sc_uint sc_v = {holds}; {guard}{probe}; }}"

    def _emit_HeapCheck(self, s: HeapCheck) -> str:
        formula = substituted(s.address, self._known)
        base = base_of(formula)
        template, of_base = (TemplateText(self.types, self.never, self.maybe) for _ in range(2))
        template.add(formula)
        of_base.add(base)  # its leaves come first in the whole, too
        site = self._site(SiteKind.HEAP, [s.size, *template.site_words()], "bounds")
        pointers = f"(const void *) {s.text}, (const void *) {base.c()}"
        if not template.can_be_tainted or (of_base.can_be_tainted and len(of_base.leaves) == len(template.leaves)):
            return f"sc_heap_range(sc_f, {self._descriptor(site, [])}, {pointers}, {s.size});"
        size = f"(sc_d) ({s.size} < 0xffff ? {s.size} : 0xffff)"
        d = self._descriptor(site, [size, str(len(of_base.leaves)), *template.descriptor()])
        return f"{self._call('sc_heap_access', ['sc_f', d, pointers], template.passed(), 0)};"

    def _emit_RangeCheck(self, s: RangeCheck) -> str:
        d = self._descriptor(self._site(SiteKind.CHECK, self._nothing(), "bounds"), [])
        pointer = f"(const void *) {s.pointer.c()}"
        return f"sc_heap_range(sc_f, {d}, {pointer}, {pointer}, {s.size.c()});"

    def _emit_Fail(self, s: Fail) -> str:
        if s.kind == "assume":
            return "sc_assume_fail();"
        if s.kind == "unreachable":
            site = self._site(SiteKind.CHECK, self._nothing(), s.kind)
            return f"sc_fail(sc_f, {self._descriptor(site, [VERDICTS[s.kind], '0'])});"
        return f"sc_assert_fail(sc_f, {self._note('assertion')});"


def _may_fault(place: Place) -> bool:
    """Whether its address is not that of an object of the program's."""
    return not isinstance(varying_part(place.address), (GlobalAddress, LocalAddress))


def _input_flags(s: Symbolic) -> int:
    """What an input holds, as the site table says it."""
    t = s.dest.type
    signed = is_integer(t) and as_int(t).signed
    return 0 if s.count else int(signed) | int(s.boolean) << 1 | int(is_float(t)) << 2


def is_function_pointer(t: CType) -> bool:
    return isinstance(t, Pointer) and isinstance(t.to, Function)


def _is_plain_return(s: Stmt) -> bool:
    return isinstance(s, Return) and not isinstance(s.value, Place)


def _move(dest: str, source: str) -> str:
    """A struct copy where C forbids assignment (const members)."""
    return f"__builtin_memmove((void *) &{dest}, &{source}, sizeof {dest});"
