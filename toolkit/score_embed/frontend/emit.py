"""From the normal form back to C, with probes: one function at a time.

Every statement is printed on one line under a `#line` of the user's position, followed or preceded by its probe. The
user's expression is always evaluated before the probe runs, so that a fault happens on the user's line.
Sites are static arrays inside the function, where every name of the user's is in scope.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from score_embed.frontend.ir import (
    Assign,
    Body,
    Branch,
    Call,
    Clear,
    Coord,
    Copy,
    Exp,
    Fail,
    ForgetObject,
    Goto,
    InitObject,
    Label,
    Load,
    Pin,
    Place,
    Raw,
    Return,
    SetPlain,
    SlotRef,
    Stmt,
    Switch,
    Symbolic,
    Tick,
    Verbatim,
)
from score_embed.frontend.sites import FIRST_SITE, MAGIC, SiteKind
from score_embed.frontend.sites import Place as Where
from score_embed.frontend.templates import LeafText, TemplateText, leaf_word, oriented
from score_embed.frontend.types import (
    Array,
    CType,
    Function,
    Int,
    Pointer,
    Types,
    as_int,
    declare,
    has_const_member,
    is_integer,
    unqualified,
)

NONE_LEAF = str(int(Where.NONE) << 14)

PRELUDE = """#include "probe.h"
typedef __UINTPTR_TYPE__ sc_word;
#define SC_LO(x) ((sc_word) ((sc_u64) (x) & 0xffffffffu))
#define SC_HI(x) ((sc_word) ((sc_u64) (x) >> 32))
#define SC_SITES static const sc_word sc_sites[] __attribute__((section(".sc_sites"), used))
"""


@dataclass
class Numbering:
    """Site ids and coverage indices, unique over all translation units of an image."""

    site: int = FIRST_SITE
    coverage: int = 0

    def next_site(self) -> int:
        self.site += 1
        return self.site - 1

    def take_coverage(self, count: int) -> int:
        self.coverage += count
        return self.coverage - count


@dataclass
class Meta:
    """What goes into `.sc_meta` for one translation unit."""

    file: str
    files: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    sites: list[tuple[int, int, int, int, str]] = field(default_factory=list)

    def add(self, site: int, coord: Coord, function: str, name: str) -> None:
        self.sites.append((site, _index(self.files, coord.file), coord.line, _index(self.functions, function), name))

    def c(self) -> str:
        text = json.dumps(
            {"file": self.file, "sites": self.sites, "files": self.files, "functions": self.functions},
            separators=(",", ":"),
        )
        parts = [json.dumps(text[i : i + 400]) for i in range(0, len(text), 400)]
        body = "\n  ".join(part.replace("?", "\\?") for part in parts)
        return f'static const char sc_meta[] __attribute__((section(".sc_meta"), used)) =\n  {body};\n'


def _index(items: list[str], item: str) -> int:
    if item not in items:
        items.append(item)
    return items.index(item)


class Emitter:
    """Prints one lowered function."""

    def __init__(self, body: Body, types: Types, numbering: Numbering, meta: Meta, *, verify: bool) -> None:
        self.body = body
        self.types = types
        self.numbering = numbering
        self.meta = meta
        self.verify = verify
        self.never = body.slots  # the index of a slot whose bit is never set
        self.words = (body.slots + 1 + 31) // 32
        self.lines: list[str] = []
        self.descriptors: list[str] = []
        self.sites: list[str] = []
        self._coord = body.coord

    def c(self) -> str:
        """The whole function as C."""
        self_site = self._site(SiteKind.ENTER, [str(self.body.scalars)], self.body.name)
        enter = self._descriptor(self_site, [str(self.words), str(self.body.scalars), str(len(self.body.structs))])
        self._enter = enter
        for statement in self.body.statements:
            self._coord = statement.coord
            for note in self._notes(statement):
                self._put(note)
            self._put(self._statement(statement))
        self._put(self._leave())
        params = [
            f"sc_struct_param({self._descriptor(self._site(SiteKind.COPY, []), [])}, sc_m, {i}, &{name}, sizeof {name});"
            for i, name in enumerate(self.body.structs)
        ]
        opening = [
            f"{self.body.header}\n{{",
            *self.body.declarations,
            "SC_SITES = {\n  " + ",\n  ".join(self.sites) + "\n};",
            *self.descriptors,
            f"sc_u32 sc_m[{1 + self.words}];",
            _line(self.body.coord),
            f"sc_enter({enter}, sc_m, (const void *) {self.body.emitted_name});",
            *params,
        ]
        return "\n".join([*opening, *self.lines, "}\n"])

    # --- pieces ----------------------------------------------------------------------------------------------

    def _put(self, text: str) -> None:
        if text:
            self.lines.append(f"{_line(self._coord)}\n{text}")

    def _site(self, kind: SiteKind, words: list[str], name: str = "", ident: int | None = None) -> int:
        site = self.numbering.next_site() if ident is None else ident
        self.sites.append(", ".join([hex(MAGIC), str(site), str(int(kind)), str(len(words)), *words]))
        self.meta.add(site, self._coord, self.body.name, name)
        return site

    def _descriptor(self, site: int, rest: list[str]) -> str:
        name = f"sc_d{site}"
        self.descriptors.append(
            f"static const sc_d {name}[] = {{ {', '.join([str(site & 0xFFFF), str(site >> 16), *rest])} }};"
        )
        return name

    def _template(self, *exps: Exp) -> TemplateText:
        template = TemplateText(self.types, self.never)
        for exp in exps:
            template.add(exp)
        return template

    def _slot_test(self, slots: set[int]) -> list[str]:
        masks: dict[int, int] = {}
        for slot in slots:
            masks[slot >> 5] = masks.get(slot >> 5, 0) | 1 << (slot & 31)
        return [f"(sc_m[{1 + word}] & {mask:#x}u)" for word, mask in sorted(masks.items())]

    def _guard(self, slots: set[int], memory: bool) -> str:
        return " | ".join([*self._slot_test(slots), *(["sc_any"] if memory else [])]) or "0"

    def _bits(self, t: CType) -> int:
        return self.types.model.pointer if isinstance(t, Pointer) else as_int(t).bits

    def _dest(self, dest: SlotRef | Place) -> LeafText:
        bits = self._bits(dest.type)
        if isinstance(dest, SlotRef):
            return LeafText(Where.SLOT, bits, str(dest.slot.index), dest.slot.index, None)
        address = f"(const void *) &{dest.text}"
        if dest.static:
            return LeafText(Where.GLOBAL, bits, f"(sc_word) &{dest.text}", 0, address)
        return LeafText(Where.MEMORY, bits, "0", 0, address)

    def _as_u64(self, text: str, t: CType, *, signed: bool = False) -> str:
        """The value zero-extended (or, for verify, sign-extended from its bits) to 64 bits."""
        bits = self._bits(t)
        inner = f"(__INT{bits}_TYPE__)" if signed else f"(__UINT{bits}_TYPE__)"
        return f"(sc_u64) {inner} {'(sc_word) ' if isinstance(t, Pointer) else ''}{text}"

    def _value(self, text: str, t: CType) -> str:
        return f" sc_value({self._as_u64(text, t, signed=True)});" if self.verify else ""

    # --- notes that precede a statement ----------------------------------------------------------------------

    def _notes(self, statement: Stmt) -> list[str]:
        """Probes for what the statement uses without a formula: addresses, operands of floating point."""
        notes: dict[str, str] = {}
        for place in _places(statement):
            if place.slots and place.text not in notes:
                notes[place.text] = self._pin(place.address, "address")
        for exp in _expressions(statement):
            for raw in exp.walk():
                if isinstance(raw, Raw):
                    for read in _tracked_reads(raw):
                        notes.setdefault(f"raw {read.c()}", self._pin(read, "floating point"))
        return list(notes.values())

    def _pin(self, exp: Exp, reason: str) -> str:
        template = self._template(exp)
        if not template.can_be_tainted:
            return ""
        d = self._descriptor(self._site(SiteKind.PIN, template.site_words(), reason), template.descriptor())
        call = ", ".join([d, "sc_m", *template.tail()])
        return f"if ({self._guard(template.slots, template.memory)}) sc_pin({call});"

    def _note(self, reason: str) -> str:
        """A descriptor of a note without operands."""
        site = self._site(SiteKind.PIN, ["0", "3", str(2 | 8 << 8), "1", "0"], reason)
        return self._descriptor(site, ["0"])

    # --- statements ------------------------------------------------------------------------------------------

    def _statement(self, s: Stmt) -> str:
        text: str = getattr(self, f"_emit_{type(s).__name__}")(s)
        return text

    def _emit_Assign(self, s: Assign) -> str:
        dest = self._dest(s.dest)
        template = self._template(s.exp)
        lvalue = s.dest.c() if isinstance(s.dest, SlotRef) else s.dest.text
        if not template.can_be_tainted:
            return f"{lvalue} = {s.exp.c()};{self._forget(s.dest)}"
        d = self._descriptor(
            self._site(SiteKind.ASSIGN, [*dest.words(), *template.site_words()]),
            [dest.descriptor(), *template.descriptor()],
        )
        in_slot = isinstance(s.dest, SlotRef)
        slots = template.slots | ({dest.slot} if in_slot else set())
        guard = self._guard(slots, template.memory or not in_slot)
        probe = f"sc_assign({', '.join([d, 'sc_m', *([] if in_slot else [dest.tail or '']), *template.tail()])});"
        # A leaf's address must be computed before the destination changes, too: `i = t[i]`.
        used = template.slots | {slot.index for e in s.exp.walk() if isinstance(e, Load) for slot in e.place.slots}
        if in_slot and dest.slot not in used:
            return f"{lvalue} = {s.exp.c()}; if ({guard}) {{ {probe}{self._value(lvalue, s.dest.type)} }}"
        t = declare(unqualified(s.dest.type), "sc_v")
        return f"{{ {t} = {s.exp.c()}; if ({guard}) {{ {probe}{self._value('sc_v', s.dest.type)} }} {lvalue} = sc_v; }}"

    def _forget(self, dest: SlotRef | Place) -> str:
        """Nothing in the value can be symbolic: the destination's taint goes."""
        if isinstance(dest, SlotRef):
            index = dest.slot.index
            return f" sc_m[{1 + (index >> 5)}] &= ~{1 << (index & 31):#x}u;"
        return f" if (sc_any) sc_clear((const void *) &{dest.text}, sizeof {dest.text});"

    def _emit_SetPlain(self, s: SetPlain) -> str:
        return f"{s.text} = {s.exp.c()};"

    def _emit_Pin(self, s: Pin) -> str:
        return self._pin(s.exp, s.reason)

    def _emit_ForgetObject(self, s: ForgetObject) -> str:
        clear = f" sc_clear((const void *) &{s.text}, sizeof {s.text});" if s.clear else ""
        test = f"sc_any && sc_tainted((const void *) &{s.text}, sizeof {s.text})"
        return f"if ({test}) {{ sc_pin({self._note(s.reason)}, sc_m);{clear} }}"

    def _emit_Branch(self, s: Branch) -> str:
        op, left, right = oriented(s.op, s.left, s.right)
        template = TemplateText(self.types, self.never)
        template.comparison(op, left, right)
        coverage = self.numbering.take_coverage(2)
        words = [str(coverage), str(int(s.assumption)), *template.site_words()]
        d = self._descriptor(
            self._site(SiteKind.COND, words), [str(coverage & 0xFFFF), str(coverage >> 16), *template.descriptor()]
        )
        a, b = (declare(unqualified(e.type), name) for e, name in ((left, "sc_a"), (right, "sc_b")))
        compute = f"{a} = {left.c()}; {b} = {right.c()}; sc_u32 sc_t = sc_a {op} sc_b;"
        probe = f"sc_branch({d}, sc_t);"
        if template.can_be_tainted:
            operands = [self._as_u64("sc_a", left.type), self._as_u64("sc_b", right.type)]
            call = f"sc_cond({', '.join([d, 'sc_m', 'sc_t', *operands, *template.tail()])});"
            probe = f"if ({self._guard(template.slots, template.memory)}) {{ {call} }} else {probe}"
        return f"{{ {compute} {probe} if ({'' if s.when else '!'}sc_t) goto {s.label}; }}"

    def _emit_Goto(self, s: Goto) -> str:
        return f"goto {s.label};"

    def _emit_Label(self, s: Label) -> str:
        return f"{s.name}: ;"

    def _emit_Tick(self, s: Tick) -> str:
        return "sc_tick();"

    def _emit_Clear(self, s: Clear) -> str:
        return f"if (sc_any) sc_clear((const void *) &{s.text}, sizeof {s.text});"

    def _emit_Verbatim(self, s: Verbatim) -> str:
        return s.text

    def _emit_Switch(self, s: Switch) -> str:
        bits = self._bits(s.slot.type)
        leaf = self._dest(s.slot)
        coverage = self.numbering.take_coverage(len(s.cases) + 1)
        t = declare(unqualified(s.slot.type))
        words = [str(coverage), str(bits), *leaf.words(), str(len(s.cases))]
        for case in s.cases:
            for text in (case.first, case.last):
                words += [f"SC_LO(({t}) ({text}))", f"SC_HI(({t}) ({text}))"]
        d = self._descriptor(
            self._site(SiteKind.SWITCH, words),
            [str(coverage & 0xFFFF), str(coverage >> 16), leaf.descriptor(), str(len(s.cases))],
        )
        value = self._as_u64(s.slot.c(), s.slot.type)
        arms = [f"switch ({s.slot.c()}) {{"]
        for arm, case in enumerate(s.cases):
            label = case.first if case.first == case.last else f"{case.first} ... {case.last}"
            arms.append(f"case {label}: sc_switch({d}, sc_m, {arm}, {value}); goto {case.label};")
        arms.append(f"default: sc_switch({d}, sc_m, {len(s.cases)}, {value}); goto {s.default}; }}")
        return " ".join(arms)

    # --- calls -----------------------------------------------------------------------------------------------

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
            return f"{self._before_known(s, callee)} {call} {self._after_known(s, callee)}"
        before, after = self._opaque(s)
        if s.kind == "opaque":
            return f"{{ {before} {call} {after} }}"
        known = self._after_known(s, callee)
        return f"{{ {before} {self._before_known(s, callee)} {call} if (sc_returned({callee})) {{ {known} }} else {{ {after} }} }}"

    def _before_known(self, s: Call, callee: str) -> str:
        leaves: list[LeafText | None] = []
        structs: list[str] = []
        for argument in s.args:
            if isinstance(argument.exp, Place):
                structs.append(argument.exp.text)
            else:
                leaves.append(self._dest(argument.exp) if isinstance(argument.exp, SlotRef) else None)
        words = [str(len(leaves))]
        for leaf in leaves:
            words += leaf.words() if leaf else [str(int(Where.NONE)), "0", "0"]
        d = self._descriptor(
            self._site(SiteKind.CALL, words, s.name),
            [str(len(leaves)), *(leaf.descriptor() if leaf else NONE_LEAF for leaf in leaves)],
        )
        passed = "".join(f" sc_struct_arg({i}, &{text});" for i, text in enumerate(structs))
        return f"sc_call({d}, sc_m, {callee});{passed}"

    def _after_known(self, s: Call, callee: str) -> str:
        if isinstance(s.dest, Place):
            d = self._descriptor(self._site(SiteKind.COPY, [], s.name), [])
            return f"sc_struct_result({d}, sc_m, {callee}, &{s.dest.text}, sizeof {s.dest.text});"
        if not isinstance(s.dest, SlotRef):
            return ""
        leaf = self._dest(s.dest)
        d = self._descriptor(self._site(SiteKind.RESULT, leaf.words(), s.name), [leaf.descriptor()])
        return f"sc_result({d}, sc_m, {callee});{self._value(s.dest.c(), s.dest.type)}"

    def _opaque(self, s: Call) -> tuple[str, str]:
        leaves: list[str] = []
        tail: list[str] = []
        log2 = {8: 0, 16: 1, 32: 2, 64: 3}[self.types.model.pointer]
        for argument in s.args:
            exp = argument.exp
            pointer = isinstance(exp, Place) or (isinstance(exp.type, Pointer) and not is_function_pointer(exp.type))
            slot = exp.slot.index if isinstance(exp, SlotRef) else self.never
            if pointer:
                leaves.append(str(int(Where.MEMORY) << 14 | log2 << 12 | slot))
                tail.append(f"(const void *) &{exp.text}" if isinstance(exp, Place) else f"(const void *) {exp.c()}")
            elif isinstance(exp, SlotRef):
                leaves.append(str(leaf_word(Where.SLOT, self._bits(exp.type), slot)))
            else:
                leaves.append(NONE_LEAF)
        dest = self._dest(s.dest) if isinstance(s.dest, SlotRef) else None
        words = dest.words() if dest else [str(int(Where.NONE)), "0", "0"]
        site = self._site(SiteKind.OPAQUE, [*words, str(int(s.harmless))], s.name)
        head = [str(int(s.harmless)), dest.descriptor() if dest else NONE_LEAF, str(len(leaves)), *leaves]
        d = self._descriptor(site, head)
        value = self._as_u64(s.dest.c(), s.dest.type) if isinstance(s.dest, SlotRef) else "0"
        clear = f" if (sc_any) sc_clear(&{s.dest.text}, sizeof {s.dest.text});" if isinstance(s.dest, Place) else ""
        before = f"sc_u32 sc_s = sc_opaque({', '.join([d, 'sc_m', *tail])});"
        return before, f"sc_opaque_end({d}, sc_m, sc_s, {value});{clear}"

    # --- the rest --------------------------------------------------------------------------------------------

    def _leave(self) -> str:
        leave = f"sc_leave({self._enter}, sc_m, (const void *) {self.body.emitted_name});"
        if self.body.emitted_name == "sc_main" and isinstance(self.body.result, Int):
            return f"{leave} return 0;"
        return leave

    def _emit_Return(self, s: Return) -> str:
        leave = f"sc_leave({self._enter}, sc_m, (const void *) {self.body.emitted_name});"
        if s.value is None:
            return f"{leave} return;"
        if isinstance(s.value, Place):
            return f"sc_struct_ret(&{s.value.text}); {leave} return {s.value.text};"
        return f"{leave} return {s.value.c()};"

    def _emit_Copy(self, s: Copy) -> str:
        d = self._descriptor(self._site(SiteKind.COPY, []), [])
        dst, src = s.dest.text, s.source.text
        move = _move(dst, src) if has_const_member(s.dest.type) else f"{dst} = {src};"
        return f"if (sc_any) sc_copy({d}, sc_m, (void *) &{dst}, (const void *) &{src}, sizeof {dst}); {move}"

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
        signed = is_integer(s.dest.type) and as_int(s.dest.type).signed and s.count is None
        size = s.size.text if s.size else "0"
        site = self._site(SiteKind.SYMBOLIC, [*leaf.words(), size, str(int(signed))], s.name)
        if isinstance(s.dest, SlotRef):
            d = self._descriptor(site, [leaf.descriptor()])
            return f"{s.dest.c()} = ({declare(unqualified(s.dest.type))}) sc_sym_slot({d}, sc_m);"
        d = self._descriptor(site, [leaf.descriptor(), str(int(s.count is not None))])
        length = s.count.c() if s.count else size
        return f"sc_sym_mem({d}, sc_m, (void *) &{s.dest.text}, {length});"

    def _symbolic_dest(self, s: Symbolic) -> LeafText:
        if isinstance(s.dest, SlotRef):
            return self._dest(s.dest)
        if s.dest.static and s.count is None:
            return LeafText(Where.GLOBAL, 8, f"(sc_word) &{s.dest.text}", 0, None)
        return LeafText(Where.MEMORY, 8, "0", 0, None)

    def _emit_Fail(self, s: Fail) -> str:
        if s.kind == "assume":
            return "sc_assume_fail();"
        return f"sc_assert_fail({self._note('assertion')});"


def is_function_pointer(t: CType) -> bool:
    return isinstance(t, Pointer) and isinstance(t.to, Function)


def _move(dest: str, source: str) -> str:
    """A struct copy where C forbids assignment (const members)."""
    return f"__builtin_memmove((void *) &{dest}, &{source}, sizeof {dest});"


def _line(coord: Coord) -> str:
    return f"#line {coord.line} {json.dumps(coord.file)}" if coord.line else ""


def _expressions(s: Stmt) -> list[Exp]:
    match s:
        case Assign() | SetPlain():
            return [s.exp]
        case Branch():
            return [s.left, s.right]
        case Call():
            return [a.exp for a in s.args if isinstance(a.exp, Exp)]
    return []


def _places(s: Stmt) -> list[Place]:
    """Every memory place the statement touches: its address may be symbolic."""
    found = [e.place for exp in _expressions(s) for e in exp.walk() if isinstance(e, Load)]
    match s:
        case Assign(dest=Place() as dest) | Symbolic(dest=Place() as dest):
            found.append(dest)
        case Copy():
            found += [s.dest, s.source]
        case Call():
            found += [a.exp for a in s.args if isinstance(a.exp, Place)]
    return found


def _tracked_reads(raw: Raw) -> list[Exp]:
    return [e for e in raw.walk() if isinstance(e, (SlotRef, Load))]
