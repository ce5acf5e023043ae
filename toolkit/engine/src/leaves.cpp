#include "leaves.hpp"

#include "build.hpp"
#include "program.hpp"

namespace score {

namespace {

enum Taint : unsigned { UNTAINTED, TAINTED, PARTLY };

}  // namespace

Mask mask_of(const std::vector<Leaf> &leaves) {
    if (leaves.empty()) return Mask::NONE;
    if (leaves.size() > 1) return leaves.size() == 2 ? Mask::TWO : Mask::MANY;
    // One leaf that can only be tainted as a whole needs no mask: nothing untainted is sent.
    const Leaf &leaf = leaves[0];
    bool is_whole = leaf.place == Place::SLOT || leaf.place == Place::NONE || leaf.bits <= 8;
    return is_whole ? Mask::TAINTED : Mask::ONE;
}

void LeafReader::read(const Site &site, Mask mask, Leaves &found) {
    found.clear();
    if (mask == Mask::NONE) return;
    const std::vector<Leaf> &leaves = site.formula->leaves;
    found.reserve(leaves.size());
    if (mask == Mask::TAINTED || mask == Mask::ONE) {
        found.push_back(leaf(leaves[0], mask == Mask::ONE ? cursor_.varint() : u128(TAINTED)));
        return;
    }
    u128 taints = cursor_.varint();
    bool is_more = mask == Mask::TWO && taints > 15;
    for (std::size_t i = 0; i < leaves.size() && !is_more; ++i, taints >>= 2)
        found.push_back(leaf(leaves[i], taints & 3));
    if (is_more || taints) throw cursor_.fail(name_of(site) + " has fewer leaves");
}

Ref LeafReader::leaf(const Leaf &leaf, u128 taint) {
    auto impossible = [&] { return cursor_.fail("a leaf with an impossible taint"); };
    unsigned bits = unsigned(leaf.bits);
    if (leaf.place == Place::SLOT && taint == TAINTED) {
        Ref found = mirror_.slot(cursor_.depth, leaf.where);
        return node(found).width == bits ? found : fit(found, bits);
    }
    if (taint == UNTAINTED) return constant(u128(cursor_.signed_number()), bits);
    if (leaf.place == Place::SLOT || leaf.place == Place::NONE || taint > PARTLY) throw impossible();
    u64 address = leaf.place == Place::MEMORY ? cursor_.next_address() : leaf.where;
    unsigned size = bits / 8;
    if (taint == TAINTED) return mirror_.read(address, size);
    u128 mask = cursor_.varint();
    if (!mask || mask >= (u128(1) << size) - 1) throw cursor_.fail("a partly tainted leaf with an impossible mask");
    i128 value = cursor_.signed_number();
    return mirror_.read_partly(address, size, u64(mask), value);
}

}  // namespace score
