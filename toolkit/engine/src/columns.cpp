#include "columns.hpp"

#include <stdexcept>

#include "operate.hpp"

namespace score {

namespace {

std::unique_ptr<Column> column_of_parts(const Node &node) {
    auto made = std::make_unique<Column>();
    auto &low = made->low;
    Operator op = operator_of(node);
    const Column *args[3] = {};
    for (unsigned i = 0; i < node.arity; ++i) args[i] = arena().found(node.args[i]).column.get();
    if (node.kind == Kind::BYTE) {
        for (unsigned v = 0; v < COLUMN; ++v) low[v] = v;
    } else if (op.fits() && node.kind == Kind::CONST) {
        low.fill(u64(node.value));
    } else if (op.fits()) {
        const u64 *values[3] = {};
        for (unsigned i = 0; i < node.arity; ++i) values[i] = args[i]->low.data();
        operate(op, values, low.data(), COLUMN);
    } else {
        made->high = std::make_unique<std::array<u64, COLUMN>>();
        for (unsigned v = 0; v < COLUMN; ++v) {
            u128 values[3] = {};
            for (unsigned i = 0; i < node.arity; ++i)
                values[i] = u128(args[i]->high ? (*args[i]->high)[v] : 0) << 64 | args[i]->low[v];
            u128 value = node.is_const() ? node.value : operate(op, values);
            low[v] = u64(value), (*made->high)[v] = u64(value >> 64);
        }
    }
    return made;
}

}  // namespace

const Column &column(Id expr) {
    if (node(expr).deps && node(expr).only_byte < 0) throw std::invalid_argument("a formula of more than one byte");
    std::vector<Id> stack{expr};
    while (!stack.empty()) {
        Id id = stack.back();
        if (arena().found(id).column) {
            stack.pop_back();
            continue;
        }
        const Node &node = score::node(id);
        std::size_t before = stack.size();
        for (unsigned i = 0; i < node.arity; ++i)
            if (!arena().found(node.args[i]).column) stack.push_back(node.args[i]);
        if (stack.size() == before) arena().keep_column(id, column_of_parts(node));
    }
    return *arena().found(expr).column;
}

const ByteSet &byte_set(Id condition) {
    Found &found = arena().found(condition);
    if (found.byte_set) return *found.byte_set;
    auto made = std::make_unique<ByteSet>();
    const Node &node = score::node(condition);
    if (node.kind == Kind::NOT && node.width == 1) {
        const ByteSet &other = byte_set(node.args[0]);  // NOT never holds a NOT: no deep recursion
        for (unsigned i = 0; i < 4; ++i) (*made)[i] = ~other[i];
    } else {
        arena().forget_columns();
        const Column &values = column(condition);
        for (unsigned v = 0; v < COLUMN; ++v) {
            bool holds = values.low[v] || (values.high && (*values.high)[v]);
            (*made)[v / 64] |= u64(holds) << v % 64;
        }
    }
    found.byte_set = std::move(made);
    return *found.byte_set;
}

unsigned smallest(const ByteSet &values) {
    for (unsigned i = 0; i < 4; ++i)
        if (values[i]) return 64 * i + unsigned(__builtin_ctzll(values[i]));
    throw std::invalid_argument("the smallest of no values");
}

}  // namespace score
