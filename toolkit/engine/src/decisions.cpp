#include "decisions.hpp"

#include <cstring>

#include "blake2b.hpp"
#include "siphash.hpp"

namespace score {

namespace {

constexpr std::size_t DECISION = 9, OBJECT = 16;

template <class Number> std::size_t put(u8 *to, Number number) {  // little endian
    for (std::size_t i = 0; i < sizeof number; ++i) to[i] = u8(number >> 8 * i);
    return sizeof number;
}

}  // namespace

PairId decided(const PairId &before, const Condition &condition, bool flipped) {
    // Where the one object lies that it can be is no decision: what opaque code allocates moves a block, so it would
    // be taken for another path.
    const Choice *chosen = node(condition.formula).deps ? condition.chosen.get() : nullptr;
    std::size_t others = chosen ? chosen->others.size() : 0;
    u8 short_text[DECISION + OBJECT];
    std::vector<u8> long_text(others ? sizeof short_text + OBJECT * others : 0);
    u8 *text = others ? long_text.data() : short_text;
    std::size_t at = 0;
    at += put(text + at, u32(condition.site));
    at += put(text + at, u32(condition.chain));
    text[at++] = u8(condition.direction ^ unsigned(flipped));
    if (chosen) {
        at += put(text + at, chosen->base);
        at += put(text + at, chosen->size);
        for (const auto &[base, size] : chosen->others) {
            at += put(text + at, base);
            at += put(text + at, size);
        }
    }
    PairId made;
    siphash(before.data(), text, at, made.data());
    return made;
}

Decisions::Decisions() {
    PairId none;
    blake2b(nullptr, 0, none.data(), none.size());
    ids_.push_back(none);
}

}  // namespace score
