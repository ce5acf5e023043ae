"""One function's lowering: the parts that it is made of, and how they are tied to each other.

An expression contains a call, which contains expressions; a statement expression contains statements. Each part gets
the parts it builds on when it is made, in the order below. What leads back from a part to one that is made after it
goes through `Expressions`, whose tables are filled here, in one place, once all parts are there.
"""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import StatementExpression
from score_embed.frontend.c.names import labels_with_address
from score_embed.frontend.c.scopes import FUNCTION_NAMES
from score_embed.frontend.c.signature import header
from score_embed.frontend.declarations.symbols import Variable
from score_embed.frontend.ir.exp import Slot
from score_embed.frontend.lower.assignments import Assignments
from score_embed.frontend.lower.bit_fields import BitFields
from score_embed.frontend.lower.builder import Builder
from score_embed.frontend.lower.calls import Callees, Calls
from score_embed.frontend.lower.conditions import Conditions
from score_embed.frontend.lower.expressions import Expressions, Parts
from score_embed.frontend.lower.initialisers import Initialisers
from score_embed.frontend.lower.operators import Operators
from score_embed.frontend.lower.parameters import lower_parameters
from score_embed.frontend.lower.places import Places
from score_embed.frontend.lower.statements import Statements
from score_embed.frontend.types.ctype import Array, Struct, as_int, declare, is_integer, is_untracked, unqualified


class FunctionLowering:
    """Fills the builder's body. `callees`: what is known of the functions that it calls."""

    def __init__(self, builder: Builder, callees: Callees) -> None:
        self.builder = builder
        self.expressions = Expressions(builder)
        self.places = Places(self.expressions, BitFields(builder, self.expressions.arith))
        assignments = Assignments(self.expressions, self.places)
        conditions = Conditions(self.expressions, self.places)
        initialisers = Initialisers(self.expressions, self.places, assignments)
        operators = Operators(self.expressions, self.places, assignments, conditions, initialisers)
        calls = Calls(self.expressions, self.places, assignments, callees)
        self.statements = Statements(self.expressions, self.places, assignments, conditions, initialisers)
        self.parts = Parts(
            values={
                **operators.values,
                c_ast.FuncCall: lambda node: calls.call(node, True),
                StatementExpression: self.statements.statement_expression,
            },
            effects={**operators.effects, c_ast.FuncCall: lambda node: calls.call(node, False)},
            type_of=operators.type_of,
            literal=initialisers.literal,
        )
        self.expressions.tie(self.parts)

    def declare(self, node: c_ast.FuncDef, *, defined_again: bool) -> None:
        """What the function begins with: its name, its result, its parameters. `defined_again`: see `header`."""
        builder, body = self.builder, self.builder.body
        for name in FUNCTION_NAMES:
            own = Array(replace(builder.types.char, const=True), f"sizeof({name})")
            builder.declarations.scope.names[name] = Variable(name, own, True)
        self._result_variable()
        lower_parameters(node, builder, self.statements.declarations.variable_arrays.count)
        body.header = header(node, defined_again=defined_again)

    def _result_variable(self) -> None:
        body = self.builder.body
        result = body.result
        if isinstance(result, Struct) or result == self.builder.types.void:
            return
        if not is_untracked(result):
            plain = as_int(result) if is_integer(result) else result
            body.result_slot = Slot(0, "sc_r", plain)
            result = plain
        body.declarations.append(declare(unqualified(result), "sc_r") + ";")

    def lower(self, body: c_ast.Compound) -> None:
        """The function's statements."""
        self.statements.addressed_labels = labels_with_address(body)
        self.statements.cleanups.find_labels(body)
        self.statements.statement(body)
