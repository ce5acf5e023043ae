"""Formulas of whole numbers as terms of both solvers: each operator computes what the evaluator says."""

from __future__ import annotations

import pytest
from test_smt import Fixed, query

from score_embed.contract.words import Layer
from score_embed.engine._core import select
from score_embed.formula import build
from score_embed.formula.expr import Expr, Kind, evaluate
from score_embed.solve.bitwuzla import BitwuzlaLayer
from score_embed.solve.query import Answer, Result, Solver
from score_embed.solve.smt import SmtLayer

A, B = (build.from_bytes([build.byte(at), build.byte(at + 1)]) for at in (0, 2))
BELOW, EQUAL = build.binary(Kind.ULT, A, B), build.binary(Kind.EQ, build.byte(0), build.byte(2))
OF_TWO = (
    Kind.ADD, Kind.SUB, Kind.MUL, Kind.UDIV, Kind.SDIV, Kind.UREM, Kind.SREM, Kind.AND, Kind.OR, Kind.XOR, Kind.SHL,
    Kind.LSHR, Kind.ASHR,
)  # fmt: skip


def entry(content: bytes) -> Expr:
    """What lies there at the place that a byte's low bits say."""
    offset = build.zext(build.extract(build.byte(0), 0, len(content).bit_length() - 1), 32)
    found = select(offset, content, 1)
    assert found is not None
    return found


FORMULAS = {
    **{kind.name: build.binary(kind, A, B) for kind in OF_TWO},
    "NOT": build.bit_not(build.binary(Kind.MUL, A, B)),
    "NEG": build.neg(build.binary(Kind.MUL, A, B)),
    "ZEXT": build.zext(build.binary(Kind.MUL, A, B), 32),
    "SEXT": build.sext(build.binary(Kind.MUL, A, B), 32),
    "EXTRACT": build.extract(build.binary(Kind.MUL, A, B), 5, 7),
    "CONCAT": build.concat(build.binary(Kind.MUL, A, B), build.byte(3)),
    "EQ": build.zext(EQUAL, 16),
    "ULT": build.zext(BELOW, 16),
    "SLT": build.zext(build.binary(Kind.SLT, A, B), 16),
    "table": entry(bytes(value * value % 251 for value in range(16))),
    "table of XORs": entry(bytes(value ^ value << 2 & 63 ^ 5 for value in range(16))),
    "ITE": build.ite(BELOW, build.binary(Kind.MUL, A, B), B),
    "both": build.zext(build.binary(Kind.AND, BELOW, EQUAL), 8),
    "either": build.zext(build.binary(Kind.OR, BELOW, EQUAL), 8),
    "one of them": build.zext(build.binary(Kind.XOR, BELOW, EQUAL), 8),
    "not below": build.zext(build.negate(BELOW), 8),
    "a condition's bit beside a byte's": build.zext(
        build.binary(Kind.XOR, BELOW, build.extract(build.byte(1), 3, 1)), 8
    ),
}
NOTHING = build.from_bytes([build.byte(at) for at in range(4, 8)])  # four bytes that are 0
INPUTS = [
    bytes.fromhex(text + "00000000")
    for text in ("00000000", "07000300", "0300f9ff", "f9ff0300", "00800100", "ff7fff7f", "a9512c0f")
]


@pytest.mark.parametrize("layer", [SmtLayer(), BitwuzlaLayer(Fixed(Answer(Result.UNKNOWN, Layer.MODEL)))])
@pytest.mark.parametrize("name", FORMULAS)
def test_solvers_are_told_what_the_evaluator_computes(name: str, layer: Solver) -> None:
    formula = FORMULAS[name]
    # Without the sum an extended number is compared without its extension.
    formula = build.binary(Kind.ADD, formula, build.extract(NOTHING, 0, formula.width))
    for data in INPUTS:
        fixed = [equal(build.byte(at), value) for at, value in enumerate(data)]
        value = equal(formula, evaluate(formula, data))
        assert layer.solve(query(fixed, value)).result is Result.SAT, data.hex()
        assert layer.solve(query(fixed, build.negate(value))).result is Result.UNSAT, data.hex()


def equal(formula: Expr, value: int) -> Expr:
    return build.binary(Kind.EQ, formula, build.const(value, formula.width))
