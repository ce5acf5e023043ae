#include "deps.hpp"

#include <cstring>
#include <stdexcept>

namespace score {

Deps::Deps(std::size_t size) : set_(new (::operator new(sizeof(Set) + size * sizeof(u64))) Set{1, u32(size), -1}) {
    std::memset(set_->words(), 0, size * sizeof(u64));
}

Deps Deps::of_byte(u64 index) {
    if (index >= MOST_INPUT) throw std::length_error("an input has at most 16,777,216 bytes");
    Deps made(std::size_t(index / 64 + 1));
    made.set_->words()[index / 64] = u64(1) << index % 64;
    made.set_->only = int(index);
    return made;
}

Deps Deps::of_words(const u64 *words, std::size_t size) {
    while (size && !words[size - 1]) --size;
    if (!size) return {};
    Deps made(size);
    std::memcpy(made.set_->words(), words, size * sizeof(u64));
    made.set_->only = made.only_of_words();
    return made;
}

Deps Deps::both(const Deps &a, const Deps &b) {
    if (!b.set_ || a.set_ == b.set_) return a;
    if (!a.set_) return b;
    const Deps &longer = a.size() >= b.size() ? a : b, &shorter = &longer == &a ? b : a;
    bool covers = true, equal_sizes = a.size() == b.size(), covered = equal_sizes;
    for (std::size_t i = 0; i < shorter.size(); ++i) {
        covers = covers && !(shorter.words()[i] & ~longer.words()[i]);
        covered = covered && !(longer.words()[i] & ~shorter.words()[i]);
    }
    if (covers) return longer;
    if (covered) return shorter;
    Deps made(longer.size());  // neither covers the other: two bytes at least
    u64 *words = made.set_->words();
    std::memcpy(words, longer.words(), longer.size() * sizeof(u64));
    for (std::size_t i = 0; i < shorter.size(); ++i) words[i] |= shorter.words()[i];
    return made;
}

bool Deps::meets(const Deps &other) const {
    std::size_t common = size() < other.size() ? size() : other.size();
    for (std::size_t i = 0; i < common; ++i)
        if (words()[i] & other.words()[i]) return true;
    return false;
}

int Deps::compare(const Deps &other) const {
    if (set_ == other.set_) return 0;
    if (size() != other.size()) return size() < other.size() ? -1 : 1;
    for (std::size_t i = size(); i--;)
        if (words()[i] != other.words()[i]) return words()[i] < other.words()[i] ? -1 : 1;
    return 0;
}

std::vector<u32> Deps::indices() const {
    std::vector<u32> found;
    for (std::size_t i = 0; i < size(); ++i)
        for (u64 left = words()[i]; left; left &= left - 1) found.push_back(u32(64 * i) + u32(__builtin_ctzll(left)));
    return found;
}

int Deps::only_of_words() const {
    int found = -1;
    for (std::size_t i = 0; i < size(); ++i) {
        u64 word = words()[i];
        if (!word) continue;
        if (found >= 0 || word & (word - 1)) return -1;
        found = int(64 * i) + __builtin_ctzll(word);
    }
    return found;
}

}  // namespace score
