#include "digest.hpp"

#include <cstring>

#include "blake2b.hpp"

namespace score {

namespace {

// Kind, width (4 bytes), size of the value, value, digests of the arguments; little endian.
Digest digest_of_parts(const Node &node) {
    u8 content[6 + 16 + 3 * 16] = {u8(node.kind), node.width, 0, 0, 0, u8((bits_of(node.value) + 7) / 8)};
    std::size_t at = 6;
    for (unsigned i = 0; i < content[5]; ++i) content[at++] = u8(node.value >> 8 * i);
    for (unsigned i = 0; i < node.arity; ++i, at += 16)
        std::memcpy(content + at, arena().found(node.args[i]).digest->data(), 16);
    Digest made;
    blake2b(content, at, made.data(), made.size());
    return made;
}

}  // namespace

const Digest &digest(Id expr) {
    std::vector<Id> stack{expr};
    while (!stack.empty()) {
        Id id = stack.back();
        const Node &node = score::node(id);
        if (arena().found(id).digest) {
            stack.pop_back();
            continue;
        }
        std::size_t before = stack.size();
        for (unsigned i = 0; i < node.arity; ++i)
            if (!arena().found(node.args[i]).digest) stack.push_back(node.args[i]);
        if (stack.size() == before) arena().found(id).digest = std::make_unique<Digest>(digest_of_parts(node));
    }
    return *arena().found(expr).digest;
}

}  // namespace score
