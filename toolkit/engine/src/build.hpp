// Makes formulas: one function an operator, each with the light simplifications that pay for themselves.
//
// They fold constants, undo what C's promotions do (a comparison of a widened byte becomes one of the byte), and put
// memory reads back together. No simplification drops an origin silently: a constant that decides a result hands its
// origins on. Rules look one level deep, or recurse only into narrower formulas, so that deep formulas are safe. What
// is no formula (operands of unequal width, bits that are not there) is a std::invalid_argument.
#pragma once

#include "arena.hpp"

namespace score {

Ref constant(u128 value, unsigned width, const Origins &origins = {});
Ref input_byte(u64 index);
Ref truth(bool value);

// Any operator of two arguments of equal width; comparisons have width 1, CONCAT is `concat`.
Ref binary(Kind kind, Id a, Id b);
Ref less_equal(Kind kind, Id a, Id b);  // a <= b as not (b < a); `kind` is ULT or SLT
Ref bit_not(Id a);                      // also the boolean not, of a formula of one bit
Ref neg(Id a);
Ref zext(Id a, unsigned width);
Ref sext(Id a, unsigned width);
Ref extract(Id a, unsigned low, unsigned width);  // bits low ... low + width - 1
Ref concat(Id high, Id low);
Ref ite(Id condition, Id then, Id otherwise);
Ref float_binary(Kind kind, Id a, Id b);  // an operator or comparison of two floating-point numbers of equal width
Ref float_unary(Kind kind, Id a, unsigned width, u64 value = 0);  // an operator or conversion to that many bits
Ref member(Id value, u128 first, u128 last);  // first <= value <= last, unsigned: a label of a switch

// The same operator as a node's, of other arguments.
Ref rebuilt(Id expr, const Ref *arguments);

const char *name_of(Kind kind);

}  // namespace score
