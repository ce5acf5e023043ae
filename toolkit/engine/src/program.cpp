#include "program.hpp"

#include <stdexcept>

#include "build.hpp"
#include "cursor.hpp"

namespace score {

namespace {

constexpr unsigned FLOOR = 1, CEIL = 2, TRUNC = 3;  // values of FROUND

bool is_unary(Op op) { return (op >= Op::NOT && op <= Op::TRUNC) || (op >= Op::FNEG && op <= Op::FTOUI); }
bool is_float_unary(Op op) { return op >= Op::FNEG && op <= Op::FTOUI; }
bool is_float_binary(Op op) { return (op >= Op::FADD && op <= Op::FDIV) || (op >= Op::FEQ && op <= Op::FLE); }
bool is_comparison(Op op) { return (op >= Op::EQ && op <= Op::SLE) || (op >= Op::FEQ && op <= Op::FLE); }
bool is_float(u64 bits) { return bits == 32 || bits == 64; }

const char *unary_name(Op op) {
    switch (op) {
    case Op::NOT: return "NOT";
    case Op::NEG: return "NEG";
    case Op::ZEXT: return "ZEXT";
    case Op::SEXT: return "SEXT";
    case Op::TRUNC: return "TRUNC";
    case Op::FNEG: return "FNEG";
    case Op::FABS: return "FABS";
    case Op::FSQRT: return "FSQRT";
    case Op::FFLOOR: return "FFLOOR";
    case Op::FCEIL: return "FCEIL";
    case Op::FTRUNC: return "FTRUNC";
    case Op::FCONV: return "FCONV";
    case Op::SITOF: return "SITOF";
    case Op::UITOF: return "UITOF";
    case Op::FTOSI: return "FTOSI";
    default: return "FTOUI";
    }
}

Ref unary_of(Op op, Id a, unsigned bits) {
    switch (op) {
    case Op::NOT: return bit_not(a);
    case Op::NEG: return neg(a);
    case Op::ZEXT: return zext(a, bits);
    case Op::SEXT: return sext(a, bits);
    case Op::TRUNC: return extract(a, 0, bits);
    case Op::FNEG: return float_unary(Kind::FNEG, a, bits);
    case Op::FABS: return float_unary(Kind::FABS, a, bits);
    case Op::FSQRT: return float_unary(Kind::FSQRT, a, bits);
    case Op::FFLOOR: return float_unary(Kind::FROUND, a, bits, FLOOR);
    case Op::FCEIL: return float_unary(Kind::FROUND, a, bits, CEIL);
    case Op::FTRUNC: return float_unary(Kind::FROUND, a, bits, TRUNC);
    case Op::FCONV: return float_unary(Kind::FCONV, a, bits);
    case Op::SITOF: return float_unary(Kind::SITOF, a, bits);
    case Op::UITOF: return float_unary(Kind::UITOF, a, bits);
    case Op::FTOSI: return float_unary(Kind::FTOSI, a, bits);
    default: return float_unary(Kind::FTOUI, a, bits);
    }
}

Ref binary_of(Op op, Id a, Id b) {
    switch (op) {
    case Op::NE: {
        Ref equal = binary(Kind::EQ, a, b);
        return bit_not(equal);
    }
    case Op::ULE: return less_equal(Kind::ULT, a, b);
    case Op::SLE: return less_equal(Kind::SLT, a, b);
    case Op::EQ: return binary(Kind::EQ, a, b);
    case Op::ULT: return binary(Kind::ULT, a, b);
    case Op::SLT: return binary(Kind::SLT, a, b);
    case Op::FADD: return float_binary(Kind::FADD, a, b);
    case Op::FSUB: return float_binary(Kind::FSUB, a, b);
    case Op::FMUL: return float_binary(Kind::FMUL, a, b);
    case Op::FDIV: return float_binary(Kind::FDIV, a, b);
    case Op::FEQ: return float_binary(Kind::FEQ, a, b);
    case Op::FLT: return float_binary(Kind::FLT, a, b);
    case Op::FLE: return float_binary(Kind::FLE, a, b);
    default:  // ADD ... ASHR stand in the order of formulas' operators
        return binary(Kind(unsigned(Kind::ADD) + unsigned(op) - unsigned(Op::ADD)), a, b);
    }
}

static_assert(unsigned(Op::ASHR) - unsigned(Op::ADD) == unsigned(Kind::ASHR) - unsigned(Kind::ADD));

u64 popped(std::vector<u64> &widths) {
    if (widths.empty()) throw std::invalid_argument("pop from empty list");
    u64 last = widths.back();
    widths.pop_back();
    return last;
}

std::string from_to(const char *first, u64 a, const char *between, u64 b) {
    return first + std::to_string(a) + between + std::to_string(b) + " bits";
}

}  // namespace

Ref fit(Id expr, u64 bits) {
    unsigned width = bits > WIDEST ? WIDEST + 1 : unsigned(bits);  // there is no such formula
    return node(expr).width < width ? zext(expr, width) : extract(expr, 0, width);
}

Program::Program(const Site &site) : site_(site.id) {
    std::string name = "site " + std::to_string(site.id);
    if (!site.formula) throw TraceFault(name + " has no template", "");
    const std::vector<Leaf> &leaves = site.formula->leaves;
    has_leaves_ = !leaves.empty();
    try {
        for (const Leaf &leaf : leaves) {
            bool in_memory = leaf.place == Place::MEMORY || leaf.place == Place::GLOBAL;
            if (leaf.bits < 1 || leaf.bits > WIDEST || (in_memory && leaf.bits % 8))
                throw std::invalid_argument("a leaf of no whole bytes, or too many");
        }
        std::vector<u64> widths;
        for (const TemplateStep &step : site.formula->steps) {
            u64 bits = compile(step, widths, leaves);
            if (bits > WIDEST) throw std::invalid_argument("a formula of " + std::to_string(bits) + " bits");
            widths.push_back(bits);
        }
        if (widths.size() != 1) throw std::invalid_argument("it leaves no single value");
        bool decides = site.kind == SiteKind::COND || site.kind == SiteKind::SWITCH || site.kind == SiteKind::CHECK ||
                       site.kind == SiteKind::RANGE;
        if (decides && widths[0] != 1) throw std::invalid_argument("it is no condition");
    } catch (const std::invalid_argument &error) {
        throw TraceFault("the template of " + name + " is malformed: " + error.what(), "");
    }
}

// Returns the width of the step's result.
u64 Program::compile(const TemplateStep &step, std::vector<u64> &widths, const std::vector<Leaf> &leaves) {
    Step made{step.op, unsigned(step.bits > WIDEST ? WIDEST + 1 : step.bits), 0, Ref()};
    u64 bits = step.bits;
    if (step.op == Op::CONST) {
        made.constant = constant(step.value, made.bits);
    } else if (step.op == Op::LEAF) {
        if (step.value >= leaves.size()) throw std::invalid_argument("tuple index out of range");
        made.leaf = std::size_t(step.value);
        bits = leaves[made.leaf].bits;
    } else if (is_unary(step.op)) {
        check_unary(step.op, popped(widths), bits);
    } else {
        u64 b = popped(widths), a = popped(widths);
        if (a != b || (is_float_binary(step.op) && !is_float(a)))
            throw std::invalid_argument(from_to("operands of ", a, " and ", b));
        if (step.op < Op::ADD || step.op > Op::FLE || step.op == Op::ADDRESS)
            throw std::invalid_argument("an unknown operator");
        bits = is_comparison(step.op) ? 1 : a;
    }
    steps_.push_back(std::move(made));
    return bits;
}

void Program::check_unary(Op op, u64 before, u64 after) const {
    bool wrong;
    if (is_float_unary(op)) {
        bool takes = op != Op::SITOF && op != Op::UITOF, gives = op != Op::FTOSI && op != Op::FTOUI;
        bool same = op >= Op::FNEG && op <= Op::FTRUNC;
        wrong = (takes && !is_float(before)) || (gives && !is_float(after)) || after < 1 || (same && before != after);
    } else {
        bool grows = op == Op::ZEXT || op == Op::SEXT;
        wrong = after < 1 || (grows && after < before) || (op == Op::TRUNC && after > before);
    }
    if (wrong) throw std::invalid_argument(unary_name(op) + from_to(" from ", before, " to ", after));
}

Ref Program::value(const Leaves &leaves) const {
    std::vector<Ref> stack;
    for (const Step &step : steps_) {
        if (step.op == Op::CONST) {
            stack.push_back(step.constant);
        } else if (step.op == Op::LEAF) {
            stack.push_back(leaves[step.leaf]);
        } else if (is_unary(step.op)) {
            stack.back() = unary_of(step.op, stack.back(), step.bits);
        } else {
            Ref right = std::move(stack.back());
            stack.pop_back();
            stack.back() = binary_of(step.op, stack.back(), right);
        }
    }
    return stack[0];
}

const Program &Programs::get(const Site &site) {
    auto &found = compiled_[site.id];
    if (!found) {
        try {
            found = std::make_unique<const Program>(site);
        } catch (...) {
            compiled_.erase(site.id);
            throw;
        }
    }
    return *found;
}

Ref Programs::value(const Program &program, const Leaves &leaves) {
    if (Ref *found = values_.find(program.site(), 0, leaves.data(), leaves.size())) return *found;
    if (values_.size() >= kept_) values_.clear();
    return values_.add(program.site(), 0, leaves.data(), leaves.size(), program.value(leaves));
}

}  // namespace score
