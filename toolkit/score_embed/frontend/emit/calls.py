"""Calls and returns as C with their probes: instrumented functions, opaque ones, assembly, variable arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from score_embed.contract.descriptors import OpaqueCall, Unsized
from score_embed.contract.sites import OpaqueFlag, SiteKind, is_main
from score_embed.contract.sites import Place as Where
from score_embed.frontend.emit.memory import move
from score_embed.frontend.emit.probes import ByStatement, Probes, on
from score_embed.frontend.ir.body import ARGUMENT, Assembly, Call, Return, Stmt, VaStart, Verbatim
from score_embed.frontend.ir.exp import Const, Exp, Place, SlotRef
from score_embed.frontend.probes.templates import LeafText, leaf_word
from score_embed.frontend.types.ctype import (
    CType,
    Function,
    Int,
    Pointer,
    Struct,
    VaList,
    Void,
    declare,
    has_const_member,
    is_float,
    is_integer,
    unqualified,
)
from score_embed.frontend.types.library_calls import RETURNS_TWICE, flags

RETURN = "sc_return"
NONE_LEAF = str(int(Where.NONE) << 14)


class CallEmitter:
    """Prints the statements that leave a function, for a while or for good."""

    def __init__(self, probes: Probes) -> None:
        self.p = probes
        self.by_statement: ByStatement = dict(
            [
                on(VaStart, self._va_start),
                on(Verbatim, self._verbatim),
                on(Assembly, self._assembly),
                on(Call, self._call),
                on(Return, self._return),
            ]
        )

    def _va_start(self, s: VaStart) -> str:
        d = self.p.descriptor(self.p.site(SiteKind.VARIADIC, []), [str(self.p.body.declared)])
        return f"__builtin_va_start({s.list}, {s.last}); sc_variadic(sc_f, {d}, sc_passed, {s.list});"

    def _verbatim(self, s: Verbatim) -> str:
        return s.text

    def _assembly(self, s: Assembly) -> str:
        self.p.numbering.beyond_names = True
        if not s.opaque:
            return s.text
        site = self.p.site(SiteKind.OPAQUE, [str(int(Where.NONE)), "0", "0", "0"], "inline assembly")
        d = self.p.descriptor(site, [str(int(OpaqueCall.OF_THE_PROJECT)), NONE_LEAF, "0"])
        lent = self._lend([(pointer, True) for pointer in s.pointers])
        return f"{{ {lent} sc_u32 sc_s = sc_opaque(sc_f, {d}); {s.text} sc_opaque_end(sc_f, {d}, sc_s, 0); }}"

    def _lend(self, values: Sequence[tuple[str, bool]]) -> str:
        """Code without probes knows these from here on: values as C text, and whether they are pointers."""
        self.p.numbering.finds_objects = True
        return " ".join(
            f"sc_lend((const void *) {text}, {int(pointer)});" for text, pointer in values or [("0", False)]
        )

    @staticmethod
    def _finds(values: Sequence[tuple[str, bool]]) -> str:
        """Whether code without probes would find symbolic data if it were given these, which have no side effects."""
        pointers, numbers = ([text for text, pointer in values if pointer is wanted] for wanted in (True, False))
        given = "".join(f", (const void *) {text}" for text in (*pointers, *numbers))
        return f"sc_finds({len(pointers)}, {len(numbers)}{given})"

    def _lent(self, s: Call) -> list[tuple[str, bool]]:
        """The arguments of a call that may lead to memory."""
        found = []
        for argument in s.args:
            exp = argument.exp
            if isinstance(exp, Place):
                found.append((f"&{exp.text}", True))
            elif isinstance(exp.type, VaList):
                found += [(f"SC_VA_AT({exp.c()}, int)", True), (f"SC_VA_STACK({exp.c()})", True)]
            elif isinstance(exp.type, Pointer):
                found += [] if is_function_pointer(exp.type) else [(exp.c(), True)]
            elif (
                is_integer(exp.type)
                and not isinstance(exp, Const)
                and self.p.bits(exp.type) >= self.p.types.model.pointer
            ):
                found.append((f"(sc_word) {exp.c()}", False))
        return found

    def _lent_back(self, s: Call) -> str:
        """What code without probes returns is what it may read and write."""
        if isinstance(s.dest, SlotRef) and isinstance(s.dest.type, Pointer) and not is_function_pointer(s.dest.type):
            return self._lend([(s.dest.c(), True)])
        return self._lend([(f"&{s.dest.text}", True)]) if isinstance(s.dest, Place) else ""

    def _call(self, s: Call) -> str:
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
            call = f"{{ {declare(unqualified(s.dest.type), 'sc_v')} = {s.callee}({args}); {move(dest, 'sc_v')} }}"
        callee = f"(const void *) {s.callee}"
        if s.kind == "known":
            text = f"{self._before_known(s, callee)} {call} {self._after_known(s, callee)}"
            # Its address is taken before the call that would declare it.
            return f"{{ extern int {s.callee}(); {text} }}" if s.implicit else text
        before, after = self._opaque(s)
        if s.kind == "opaque":
            if s.library:
                return f"{{ {before} {call} {after} }}"
            return f"{{ {self._lend(self._lent(s))} {before} {call} {after} {self._lent_back(s)} }}"
        after = f"{self._pins_after(s)}{after}"
        known = self._after_known(s, callee)
        self.p.numbering.beyond_names = True
        if self.p.numbering.has_opaque_code:  # only now it is known whether this was some of it
            lent = self._lent(s)
            before = f"{before} sc_s |= {self._finds(lent)};"
            after = f"{self._lend(lent)} {after} {self._lent_back(s)}"
        return f"{{ {before} {self._before_known(s, callee)} {call} if (sc_returned({callee})) {{ {known} }} else {{ {after} }} }}"

    def _before_known(self, s: Call, callee: str) -> str:
        leaves: list[LeafText] = []
        structs: list[str] = []
        doubles: list[int] = []  # among arguments of `...`: they have a place of their own
        for index, argument in enumerate(s.args):
            if isinstance(argument.exp, Place):
                structs.append(argument.exp.text)
                if s.declared is not None and index >= s.declared:
                    leaves.append(LeafText(Where.NONE, 8, "0", Unsized.UNKNOWN, ()))
            elif self._may_be_passed(argument.exp):
                leaves.append(self.p.dest(argument.exp))
                if s.declared is not None and index >= s.declared and is_float(argument.exp.type):
                    doubles.append(len(leaves) - 1)
            else:
                leaves.append(self._untracked_argument(argument.exp.type))
        words = [str(len(leaves))]
        for leaf in leaves:
            words += leaf.words()
        passed_as = [replace(leaf, where=Where.GLOBAL) if i in doubles else leaf for i, leaf in enumerate(leaves)]
        d = self.p.descriptor(
            self.p.site(SiteKind.CALL, words, s.name), [str(len(leaves)), *(leaf.descriptor() for leaf in passed_as)]
        )
        passed = "".join(f" sc_struct_arg({i}, &{text});" for i, text in enumerate(structs))
        return f"sc_call(sc_f, {d}, {callee});{passed}"

    def _untracked_argument(self, t: CType) -> LeafText:
        """An argument without taint. A walk over arguments of `...` passes over it by its size."""
        if is_integer(t) or isinstance(t, Pointer):
            bits = self.p.bits(t)
            return (
                LeafText(Where.NONE, bits, "0", 0, ())
                if bits <= 64
                else LeafText(Where.NONE, 8, "0", Unsized.UNKNOWN, ())
            )
        if is_float(t):
            return LeafText(Where.NONE, t.bits, "0", Unsized.DOUBLE, ())
        return LeafText(Where.NONE, 8, "0", Unsized.UNKNOWN, ())

    def _may_be_passed(self, exp: Exp | Place) -> TypeGuard[SlotRef]:
        """An argument whose taint a callee may have to know: all others are constants."""
        return isinstance(exp, SlotRef) and self.p.maybe.slot(exp.slot.index)

    def _after_known(self, s: Call, callee: str) -> str:
        if isinstance(s.dest, Place):
            d = self.p.descriptor(self.p.site(SiteKind.COPY, [], s.name), [])
            return f"sc_struct_result(sc_f, {d}, {callee}, &{s.dest.text}, sizeof {s.dest.text});"
        if not isinstance(s.dest, SlotRef) or not self.p.whole.slot(s.dest.slot.index):
            return ""
        leaf = self.p.dest(self.p.plan.results.get(id(s), s.dest))
        d = self.p.descriptor(self.p.site(SiteKind.RESULT, leaf.words(), s.name), [leaf.descriptor()])
        return f"sc_result(sc_f, {d}, {callee});{self.p.value(s.dest.c(), s.dest.type)}"

    def _opaque(self, s: Call) -> tuple[str, str]:
        leaves: list[str] = []
        tail: list[str] = []
        log2 = {8: 0, 16: 1, 32: 2, 64: 3}[self.p.types.model.pointer]
        # What lies around a jmp_buf is not looked at; what a block held that is freed is not put out.
        for argument in s.args if s.name not in RETURNS_TWICE | {"free"} else []:
            exp = argument.exp
            if isinstance(exp, Exp) and isinstance(exp.type, VaList):
                leaves += [str(int(Where.MEMORY) << 14 | log2 << 12 | self.p.never)] * 2
                tail += [f"SC_VA_AT({exp.c()}, int)", f"SC_VA_STACK({exp.c()})"]
                continue
            pointer = _is_pointer(exp)
            slot = exp.slot.index if self._may_be_passed(exp) else self.p.never
            if pointer:
                leaves.append(str(int(Where.MEMORY) << 14 | log2 << 12 | slot))
                tail.append(f"(const void *) &{exp.text}" if isinstance(exp, Place) else f"(const void *) {exp.c()}")
            elif self._may_be_passed(exp):
                leaves.append(str(leaf_word(Where.SLOT, self.p.bits(exp.type), slot)))
            else:
                leaves.append(NONE_LEAF)
        dest = self.p.dest(self.p.plan.results.get(id(s), s.dest)) if isinstance(s.dest, SlotRef) else None
        words = dest.words() if dest else [str(int(Where.NONE)), "0", "0"]
        site = self.p.site(SiteKind.OPAQUE, [*words, str(int(OpaqueFlag.HARMLESS) if s.harmless else 0)], s.name)
        pointers = any(_is_pointer(a.exp) or isinstance(a.exp.type, VaList) for a in s.args)
        kind = flags(s.name, harmless=s.harmless, library=s.library, pointers=pointers)
        kind |= OpaqueCall.TOLD if s.kind == "opaque" else OpaqueCall.TOLD_AFTER
        head = [str(int(kind)), dest.descriptor() if dest else NONE_LEAF, str(len(leaves)), *leaves]
        d = self.p.descriptor(site, head)
        value = self.p.as_u64(s.dest.c(), s.dest.type) if isinstance(s.dest, SlotRef) else "0"
        clear = f" if (sc_any) sc_clear(&{s.dest.text}, sizeof {s.dest.text});" if isinstance(s.dest, Place) else ""
        before = f"sc_u32 sc_s = sc_opaque({', '.join(['sc_f', d, *tail])});"
        return before, f"sc_opaque_end(sc_f, {d}, sc_s, {value});{clear}"

    def _pins_after(self, s: Call) -> str:
        """What code without probes was given through a pointer. Where it called back, more depends on it than this."""
        pins = "".join(self.p.pin_slot(a.exp, ARGUMENT) for a in s.args if self._may_be_passed(a.exp))
        return f"if (!sc_called_back()) {{ {pins} }} " if pins else ""

    def _leave(self) -> str:
        return "sc_leave(sc_f);"

    def end(self) -> str:
        """The end of the function, where all returns but those of structs meet: one probe for all."""
        falls_off = (
            "sc_r = 0; "
            if is_main(self.p.body.emitted_name) and isinstance(self.p.body.result, Int)
            else ""
        )
        label = f"{RETURN}: " if any(map(_is_plain_return, self.p.body.statements)) else ""
        if isinstance(self.p.body.result, (Struct, Void)):
            return f"{label}{self._leave()}"
        return f"{falls_off}{label}{self._leave()} return sc_r;"

    def _return(self, s: Return) -> str:
        if isinstance(s.value, Place):
            return f"sc_struct_ret(&{s.value.text}); {self._leave()} return {s.value.text};"
        return f"goto {RETURN};"


def _is_pointer(argument: Exp | Place) -> bool:
    """Whether it leads to memory; a struct is passed as one."""
    return isinstance(argument, Place) or (
        isinstance(argument.type, Pointer) and not is_function_pointer(argument.type)
    )


def is_function_pointer(t: CType) -> bool:
    return isinstance(t, Pointer) and isinstance(t.to, Function)


def _is_plain_return(s: Stmt) -> bool:
    return isinstance(s, Return) and not isinstance(s.value, Place)
