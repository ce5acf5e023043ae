"""What stands before a function's body: which attributes leave it alone, which would break its probes, its header.

Instrumentation gives a function side effects and an address. Attributes that promise otherwise are taken from its
declarations, and a definition that C99's `inline` would not emit is emitted. Interrupt handlers are known here, too, by
attribute or name.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Set

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import AsmLabel, GnuAttribute
from score_embed.frontend.c.gnu_lexer import ATTRIBUTE
from score_embed.frontend.c.printer import to_c

_LEFT_ALONE = re.compile(r"\b_*(naked|interrupt|isr|signal|constructor|no_instrument_function)_*\b", re.I)
# gcc drops or merges calls of functions that promise to have no effects; probes are effects.
_PROMISES = frozenset({"const", "pure", "leaf"})
# What is always inlined cannot be the weak definition that probes need (see `header`).
_INLINING = frozenset({"always_inline", "artificial", "gnu_inline"})


def attribute_texts(node: c_ast.Node) -> list[str]:
    """The GNU attributes of a declaration, struct or enum, as source text."""
    return [a.text for a in getattr(node, "attributes", None) or [] if isinstance(a, GnuAttribute)]


def declared_attributes(decl: c_ast.Node) -> list[str]:
    """All GNU attributes of what a Decl or Typedef declares, among its specifiers too."""
    texts = [*attribute_texts(decl), *_qualifying(decl)]
    inner = decl.type
    while isinstance(inner, (c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.FuncDecl)):
        texts += [*attribute_texts(inner), *_qualifying(inner)]
        inner = inner.type
    return list(dict.fromkeys(texts))


def _qualifying(node: c_ast.Node) -> list[str]:
    return [q for q in getattr(node, "quals", None) or [] if q.startswith(ATTRIBUTE)]


def has_assembler_name(decl: c_ast.Node) -> bool:
    """`int x __asm__("y");`"""
    return any(isinstance(a, AsmLabel) for a in decl.attributes or [])


def left_alone(decl: c_ast.Decl) -> str:
    """Why a function must stay as it is ("" if it need not)."""
    found = [name for text in declared_attributes(decl) for name in _LEFT_ALONE.findall(text)]
    if "naked" in found:  # first: a naked handler is not to get a statement of ours
        return "attribute naked"
    return f"attribute {found[0]}" if found else ""


def is_handler(reason: str) -> bool:
    """Whether what left_alone said is that interrupts call the function."""
    return bool(re.fullmatch(r"attribute (interrupt|isr|signal)", reason, re.I))


def has_parameters(decl: c_ast.Decl) -> bool:
    params = decl.type.args.params if decl.type.args else []
    return bool(params) and not (len(params) == 1 and _is_void(params[0]))


def _is_void(param: c_ast.Node) -> bool:
    inner = getattr(param, "type", None)
    return isinstance(inner, c_ast.TypeDecl) and getattr(inner.type, "names", None) == ["void"]


# CMSIS: what start-up files call the handlers in their vector tables.
_CMSIS = r"\w+_IRQHandler|(NMI|HardFault|MemManage|BusFault|UsageFault|SVC|DebugMon|PendSV|SysTick)_Handler"
_IN_TABLE = re.compile(_CMSIS)
HANDLER_NAME = re.compile(rf"{_CMSIS}|__vector_\d+")  # in an object, of AVR, too


def handlers_by_name(tree: c_ast.FileAST, called: Set[str]) -> set[str]:
    """The functions of a unit that have the names of handlers in a Cortex-M's vector table, and no parameters, and are
    not `called` in the program: what has parameters (`HAL_UART_IRQHandler(handle)`) or is called is a function like
    any."""
    decls = [e.decl for e in tree.ext if isinstance(e, c_ast.FuncDef) and _IN_TABLE.fullmatch(e.decl.name)]
    return {decl.name for decl in decls if not has_parameters(decl)} - called


def drop_promises(node: c_ast.Node) -> None:
    """Take `const`, `pure` and `leaf` from the functions, and pointers to them, that are declared in a tree."""
    _drop(node, _PROMISES)


def _drop(node: c_ast.Node, words: frozenset[str]) -> None:
    for attribute in getattr(node, "attributes", None) or []:
        if isinstance(attribute, GnuAttribute):
            attribute.text = _without(attribute.text, words)
    quals = getattr(node, "quals", None) or []
    quals[:] = [_without(q, words) if q.startswith(ATTRIBUTE) else q for q in quals]
    for _, child in node.children():
        _drop(child, words)


def _without(text: str, words: frozenset[str]) -> str:
    every = list(single_attributes(text))
    kept = [word for word in every if word.strip("_ ") not in words]
    return text if kept == every else f"{ATTRIBUTE}(({','.join(kept)}))"


def single_attributes(text: str) -> Iterator[str]:
    """The single attributes of `__attribute__((a,b(1,2)))`."""
    depth, word = 0, ""
    for c in text[text.index("((") + 2 : text.rindex("))")]:
        depth += {"(": 1, ")": -1}.get(c, 0)
        if c == "," and depth == 0:
            yield word
            word = ""
        else:
            word += c
    yield word


def prototype(decl: c_ast.Decl) -> str:
    """The text of a declaration of an instrumented function."""
    decl = copy.deepcopy(decl)
    _drop(decl, _PROMISES | _INLINING)
    return to_c(decl)


def header(node: c_ast.FuncDef, *, defined_again: bool) -> str:
    """The text of an instrumented definition up to its body.

    An inline function without `static` may have no definition that is emitted, but probes need its address: it
    becomes an ordinary one, weak because other files may have it too. (Not if the file defines it again: GNU C's
    `extern inline` lets it.)
    """
    if defined_again:
        return to_c(node.decl)
    decl = copy.copy(node.decl)
    prefix = ""
    if "inline" in (decl.funcspec or []) and "static" not in (decl.storage or []):
        decl.funcspec = [word for word in decl.funcspec if word != "inline"]
        decl.storage = []
        prefix = f"{ATTRIBUTE}((weak)) "
    return "\n".join([prefix + prototype(decl), *(to_c(d) + ";" for d in node.param_decls or [])])


def named_parameter(param: c_ast.Typename, name: str) -> c_ast.Decl:
    """A parameter that its definition leaves without a name (C23, GNU), with one."""
    inner = param.type
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.declname = name
    attributes = param.attributes
    return c_ast.Decl(name, param.quals, [], [], [], param.type, None, None, param.coord, attributes=attributes)
