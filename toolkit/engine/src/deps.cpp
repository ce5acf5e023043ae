#include "deps.hpp"

#include <stdexcept>

namespace score {

Deps Deps::of_byte(u64 index) {
    if (index >= MOST_INPUT) throw std::length_error("an input has at most 16,777,216 bytes");
    std::vector<u64> words(index / 64 + 1);
    words.back() = u64(1) << index % 64;
    Deps made;
    made.set_ = new Set{1, int(index), std::move(words)};
    return made;
}

Deps Deps::of_words(const u64 *words, std::size_t size) {
    while (size && !words[size - 1]) --size;
    Deps made;
    if (size) {
        std::vector<u64> kept(words, words + size);
        int only = only_of(kept);
        made.set_ = new Set{1, only, std::move(kept)};
    }
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
    std::vector<u64> words(longer.words(), longer.words() + longer.size());
    for (std::size_t i = 0; i < shorter.size(); ++i) words[i] |= shorter.words()[i];
    Deps made;
    made.set_ = new Set{1, -1, std::move(words)};  // neither covers the other: two bytes at least
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

int Deps::only_of(const std::vector<u64> &words) {
    int found = -1;
    for (std::size_t i = 0; i < words.size(); ++i) {
        u64 word = words[i];
        if (!word) continue;
        if (found >= 0 || word & (word - 1)) return -1;
        found = int(64 * i) + __builtin_ctzll(word);
    }
    return found;
}

}  // namespace score
