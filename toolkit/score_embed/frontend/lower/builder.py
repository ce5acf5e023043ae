"""The state of one function while it is lowered: its slots, temporaries, hoisted declarations and statements.

Temporaries are pooled by type: a full expression gives its temporaries back, so that the taint mask and the
stack stay small. Declarations are hoisted to the top of the function (without their initialisers), because
lowered code jumps freely between what were blocks; scopes.py has made their names unique.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from score_embed.frontend.declarations.declare import Declarations
from score_embed.frontend.declarations.symbols import PlainVariable, SlotVariable, Symbol, Unsupported, Variable
from score_embed.frontend.ir.body import Assign, Begin, Body, Coord, Goto, Label, Pin, SetPlain, Stmt, Truncate
from score_embed.frontend.ir.exp import (
    Convert,
    Exp,
    Load,
    LocalAddress,
    Place,
    Raw,
    Slot,
    SlotRef,
    base_of,
    is_arithmetic,
    rebased,
)
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Int,
    Pointer,
    as_int,
    compatible_text,
    declare,
    is_integer,
    is_scalar,
    is_untracked,
    unqualified,
    without_const,
)

_MOST_SLOTS = 4095  # a leaf word has 12 bits for its slot, and one slot is never tainted


class Builder:
    """Collects the normal form of one function."""

    def __init__(
        self, declarations: Declarations, body: Body, addressed: set[str], *, tells_statements: bool = False
    ) -> None:
        self.declarations = declarations
        self.types = declarations.types
        self.body = body
        self.addressed = addressed
        self._tells_statements = tells_statements
        self.definitions: dict[str, None] = {}  # structs, enums and typedefs of the function, in order
        self.counts: dict[str, SlotRef] = {}  # of arrays of variable length, by the names that types have for them
        self.is_unevaluated = False
        self.coord = body.coord
        self._free: dict[str, list[SlotRef]] = {}
        self._busy: list[SlotRef] = []
        self._nesting = 0
        self._labels = 0
        self._names = 0

    # --- statements ------------------------------------------------------------------------------------------

    def add(self, statement: Stmt) -> None:
        self.body.statements.append(statement)

    def begin(self, node: object) -> None:
        """A statement of C begins. What we write ourselves is in no file of the user's."""
        coord = self.where(node)
        if self._tells_statements and not coord.file.startswith("<"):
            self.add(Begin(coord))

    @contextmanager
    def buffered(self) -> Iterator[list[Stmt]]:
        """Collect statements aside; the caller decides where they go."""
        saved, self.body.statements = self.body.statements, []
        buffer = self.body.statements
        try:
            yield buffer
        finally:
            self.body.statements = saved

    def label(self, hint: str) -> str:
        self._labels += 1
        return f"sc_{hint}_{self._labels}"

    def place_label(self, name: str) -> None:
        self.add(Label(self.coord, name))

    def goto(self, name: str) -> None:
        self.add(Goto(self.coord, name))

    # --- slots and temporaries -------------------------------------------------------------------------------

    def new_slot(self, name: str, t: CType) -> Slot:
        if self.body.slots >= _MOST_SLOTS:
            raise Unsupported(f"more than {_MOST_SLOTS} variables and temporaries")
        slot = Slot(self.body.slots, name, t)
        self.body.slots += 1
        return slot

    def fresh_name(self, hint: str) -> str:
        self._names += 1
        return f"sc_{hint}{self._names}"

    def temporary(self, t: CType, *, keep: bool = False) -> SlotRef:
        """A scalar temporary of type t, given back at the end of the full expression unless kept."""
        t = as_int(t) if is_integer(t) else unqualified(t)
        t = unqualified(t)
        shown = self.shown(t)
        key = compatible_text(shown)
        free = self._free.setdefault(key, [])
        if free and not keep:
            ref = replace(free.pop(), type=t)  # the same but for its precision
        else:
            slot = self.new_slot(self.fresh_name("t"), t)
            self.body.declarations.append(declare(shown, slot.name) + ";")
            ref = SlotRef(t, slot)
        if not keep:
            self._busy.append(ref)
        return ref

    def is_variable(self, t: CType) -> bool:
        """Whether a type has a size, or leads to one, that is computed at run time."""
        while isinstance(t, (Array, Pointer)):
            if isinstance(t, Array) and t.count in self.counts:
                return True
            t = t.of if isinstance(t, Array) else t.to
        return False

    def shown(self, t: CType) -> CType:
        """The type with which a slot is declared, at the top, where counts of variable length arrays are not known."""
        return Pointer(self.types.void) if self.is_variable(t) else t

    def plain_temporary(self, t: CType) -> str:
        name = self.fresh_name("f")
        self.body.declarations.append(declare(unqualified(t), name) + ";")
        return name

    def object_temporary(self, t: CType) -> Place:
        """A temporary in memory (a struct returned by a call)."""
        name = self.fresh_name("o")
        self.body.declarations.append(declare(unqualified(t), name) + ";")
        return self.local_place(name, unqualified(t))

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Inside a statement expression the enclosing expression's temporaries stay alive."""
        self._nesting += 1
        try:
            yield
        finally:
            self._nesting -= 1

    @contextmanager
    def unevaluated(self) -> Iterator[None]:
        """Lower something only to learn its type: nothing of it stays."""
        body = self.body
        kept = (body.statements, body.declarations, body.slots, self.coord)
        outer, self.is_unevaluated = self.is_unevaluated, True
        pools = ({k: list(v) for k, v in self._free.items()}, list(self._busy))
        body.statements, body.declarations = [], []
        try:
            with self.nested():
                yield
        finally:
            definitions = [text for text in body.declarations if text in self.definitions]
            body.statements, body.declarations, body.slots, self.coord = kept
            body.declarations += definitions
            self._free, self._busy = pools
            self.is_unevaluated = outer

    def end_full_expression(self) -> None:
        if self._nesting == 0:
            for ref in self._busy:
                self._free.setdefault(compatible_text(self.shown(ref.type)), []).append(ref)
            self._busy.clear()

    # --- values ----------------------------------------------------------------------------------------------

    def save(self, exp: Exp, *, keep: bool = False) -> Exp:
        """Compute `exp` now, into a temporary."""
        if is_untracked(exp.type):
            name = self.plain_temporary(exp.type)
            self.add(SetPlain(self.coord, name, exp))
            return Raw(exp.type, name)
        ref = self.temporary(exp.type, keep=keep)
        self.assign(ref, exp)
        return ref

    def settled(self, exp: Exp) -> Exp:
        """An address or index over slots and constants only: inner loads go to temporaries."""
        if any(isinstance(e, (Load, Raw)) for e in exp.walk()):
            return self.save(exp)
        return exp

    def truncated(self, exp: Exp, to: Int) -> Exp:
        """A floating-point number as an integer: of a slot, so that a probe has one leaf to ask for its range."""
        source = exp if isinstance(exp, SlotRef) else self.save(exp)
        dest = self.temporary(to)
        self.add(Truncate(self.coord, dest, Convert(to, source)))
        return dest

    def assign(self, dest: SlotRef | Place, exp: Exp) -> None:
        self.add(Assign(self.coord, dest, self._of_slot(exp)))

    def _of_slot(self, exp: Exp) -> Exp:
        """Arithmetic with a pointer begins with a slot: what it was made from is known of slots (origins.py)."""
        base = base_of(exp)
        if isinstance(exp.type, Pointer) and isinstance(base, Load) and is_arithmetic(exp):
            return rebased(exp, self.save(base))
        return exp

    def report(self, exp: Exp, reason: str) -> None:
        """Note that what `exp` reads is used without a formula."""
        for read in exp.walk():
            if isinstance(read, SlotRef) or (hasattr(read, "place") and not read.children()):
                self.add(Pin(self.coord, read, reason))

    # --- declarations ----------------------------------------------------------------------------------------

    def define(self, text: str) -> None:
        """A struct, enum or typedef: it stays even if it stood in an operand that is not evaluated."""
        if text not in self.definitions:
            self.definitions[text] = None
            self.body.declarations.append(text)

    def declare_local(self, name: str, t: CType, emitted: str = "", attributes: str = "") -> Symbol:
        """An automatic variable: a slot if it can be one, else memory (or untracked, if it has no integer value).

        `emitted`: its name in the emitted code, if another; `attributes`: text before its declaration.
        """
        emitted = emitted or name
        symbol: Symbol
        trackable = is_scalar(t) and not is_untracked(t)
        if trackable and name not in self.addressed and not t.volatile:
            plain = unqualified(t)
            symbol = SlotVariable(self.new_slot(emitted, plain))
            self.body.declarations.append(declare(self.shown(plain), emitted) + ";")
        else:
            if self.is_variable(t):
                raise Unsupported("a pointer to a variable length array in memory")
            if isinstance(t, Array) and t.length is None and t.count is None:
                raise Unsupported("an array of unknown size")
            shown = without_const(t)
            if t.spelling and shown != t:
                raise Unsupported("a constant of a type with an alignment of its own")
            self.body.declarations.append(f"{attributes}{declare(shown, emitted)};")
            plain_kind = is_untracked(t) and name not in self.addressed and not t.volatile
            symbol = PlainVariable(emitted, t) if plain_kind else Variable(emitted, t, False)
        self.declarations.scope.names[name] = symbol
        return symbol

    def local_place(self, name: str, t: CType) -> Place:
        return Place(name, t, self.local_address(name, t), False)

    def local_address(self, text: str, t: CType) -> LocalAddress:
        return LocalAddress(Pointer(t), text)

    def at(self, node: object) -> None:
        self.coord = self.where(node)

    def where(self, node: object) -> Coord:
        """Where a node stands; if it does not say: where lowering is."""
        coord = getattr(node, "coord", None)
        return Coord(coord.file, coord.line) if coord is not None and coord.line else self.coord
