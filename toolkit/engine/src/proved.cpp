#include "proved.hpp"

#include <algorithm>
#include <cstring>

#include "columns.hpp"

namespace score {

namespace {

constexpr std::size_t MODELS_TRIED = 50;  // for a question

Name name_of(Id condition) {
    const Digest &digest = score::digest(condition);
    Name name;
    std::memcpy(&name.first, digest.data(), 8);
    std::memcpy(&name.second, digest.data() + 8, 8);
    return name;
}

u64 mark_of(const Name &name) { return u64(1) << name.second % 64; }

template <class Said> void sort_by_byte(std::vector<std::pair<u32, Said>> &bytes) {
    std::sort(bytes.begin(), bytes.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
}

// Whether `fits` for each byte of the first list, with what the second says of it (null: nothing). Both rise.
template <class Said, class Other, class Fits>
bool all_fit(const std::vector<std::pair<u32, Said>> &bytes, const std::vector<std::pair<u32, Other>> &others,
             const Fits &fits) {
    auto other = others.begin();
    for (const auto &[index, said] : bytes) {
        while (other != others.end() && other->first < index) ++other;
        bool is_there = other != others.end() && other->first == index;
        if (!fits(index, said, is_there ? &other->second : nullptr)) return false;
    }
    return true;
}

// Whether all names of the smaller list are in the larger one; marks are looked at first.
bool holds(const std::vector<Name> &larger, u64 larger_mark, const std::vector<Name> &smaller, u64 smaller_mark) {
    return !(smaller_mark & ~larger_mark) && smaller.size() <= larger.size() &&
           std::includes(larger.begin(), larger.end(), smaller.begin(), smaller.end());
}

}  // namespace

Conjunction::Conjunction(const std::vector<Id> &conditions, const ByteSets &sets) : sets_(sets) {
    auto depends_on = [&](std::size_t at, u64 word) {
        if (at >= deps_.size()) deps_.resize(at + 1);
        deps_[at] |= word;
    };
    for (const auto &set : sets_) depends_on(set.first / 64, u64(1) << set.first % 64);
    sort_by_byte(sets_);
    for (Id condition : conditions) {
        const Node &node = score::node(condition);
        for (std::size_t i = node.deps.size(); i--;) depends_on(i, node.deps.words()[i]);
        if (node.only_byte < 0) {
            in_order_.push_back(name_of(condition));
            mark_ |= mark_of(in_order_.back());
            continue;
        }
        const ByteSet &values = byte_set(condition);
        u32 index = u32(node.only_byte);
        auto mine = std::lower_bound(sets_.begin(), sets_.end(), index,
                                     [](const auto &set, u32 index) { return set.first < index; });
        if (mine == sets_.end() || mine->first != index)
            sets_.insert(mine, {index, values});
        else
            for (std::size_t i = 0; i < values.size(); ++i) mine->second[i] &= values[i];
    }
    names_ = in_order_;
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
}

std::vector<u32> Conjunction::bytes() const { return Deps::of_words(deps_.data(), deps_.size()).indices(); }

Decided Proved::find(const Conjunction &asked, const Input &data) {
    if (auto core = core_of(asked)) {
        cores_.used(*core);
        return {Decided::UNSAT, {}};
    }
    auto model = model_of(asked, data);
    if (!model) return {Decided::LEFT, {}};
    Decided found{Decided::SAT, {}};
    const auto &known = models_.used(*model).bytes;
    auto value = known.begin(), end = known.end();
    for (u32 index : asked.bytes()) {
        while (value != end && value->first < index) ++value;
        if (value != end && value->first == index) found.values.push_back(*value);
    }
    return found;
}

// An entry whose conditions all follow from these.
std::optional<ProvedTable<ByteSet>::Place> Proved::core_of(const Conjunction &asked) const {
    auto is_within = [](u32, const ByteSet &core, const ByteSet *given) {
        const ByteSet &mine = given ? *given : EVERY_BYTE;
        return !((mine[0] & ~core[0]) | (mine[1] & ~core[1]) | (mine[2] & ~core[2]) | (mine[3] & ~core[3]));
    };
    for (const Name &name : asked.in_order())
        for (auto place : cores_.under(name))
            if (holds(asked.names(), asked.mark(), place->names, place->mark) &&
                all_fit(place->bytes, asked.sets(), is_within))
                return place;
    return std::nullopt;
}

// An entry whose model satisfies these: of those under the name that the fewest are under, the latest first.
std::optional<ProvedTable<u8>::Place> Proved::model_of(const Conjunction &asked, const Input &data) const {
    const std::vector<ProvedTable<u8>::Place> *rarest = nullptr;
    for (const Name &name : asked.in_order()) {
        const auto &places = models_.under(name);
        if (places.empty()) return std::nullopt;
        if (!rarest || places.size() < rarest->size()) rarest = &places;
    }
    if (!rarest) return std::nullopt;
    auto is_one = [&](u32 index, const ByteSet &values, const u8 *known) {
        u8 value = known ? *known : data[index];
        return values[value / 64] >> value % 64 & 1;
    };
    for (std::size_t tried = 0; tried < std::min(MODELS_TRIED, rarest->size()); ++tried) {
        auto place = (*rarest)[rarest->size() - 1 - tried];
        if (holds(place->names, place->mark, asked.names(), asked.mark()) &&
            all_fit(asked.sets(), place->bytes, is_one))
            return place;
    }
    return std::nullopt;
}

// What is impossible, under the name that the fewest entries are found under.
void Proved::add_core(const Conjunction &core) {
    if (core.names().empty()) return;
    const Name &rarest = *std::min_element(
        core.in_order().begin(), core.in_order().end(),
        [&](const Name &a, const Name &b) { return cores_.under(a).size() < cores_.under(b).size(); });
    std::size_t at = std::size_t(std::lower_bound(core.names().begin(), core.names().end(), rarest) -
                                 core.names().begin());
    cores_.add({core.names(), core.mark(), core.sets(), at, at + 1});
}

void Proved::add_model(const Conjunction &satisfied, const Input &data) {
    std::vector<std::pair<u32, u8>> values;
    for (u32 index : satisfied.bytes()) values.emplace_back(index, data[index]);
    models_.add({satisfied.names(), satisfied.mark(), std::move(values), 0, satisfied.names().size()});
}

}  // namespace score
