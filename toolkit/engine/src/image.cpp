#include "image.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "casters.hpp"

namespace nb = nanobind;

namespace score {

namespace {

constexpr u64 OF_ORIGIN = u64(1) << 40;  // no site of a program has such a number: results are remembered by it

Leaf leaf_of(nb::handle leaf) {
    return {Place(nb::cast<int>(leaf.attr("place"))), nb::cast<u64>(leaf.attr("bits")), u64(word(leaf.attr("where")))};
}

std::vector<Leaf> leaves_of(nb::handle leaves) {
    std::vector<Leaf> found;
    for (nb::handle leaf : nb::borrow<nb::iterable>(leaves)) found.push_back(leaf_of(leaf));
    return found;
}

Template template_of(nb::handle given) {
    Template made{leaves_of(given.attr("leaves")), {}, nb::cast<bool>(given.attr("floats"))};
    for (nb::handle step : nb::borrow<nb::iterable>(given.attr("steps")))
        made.steps.push_back(
            {Op(nb::cast<int>(step.attr("op"))), nb::cast<u64>(step.attr("bits")), word(step.attr("value"))});
    return made;
}

Site site_of(nb::handle given) {
    Site site{};
    site.id = nb::cast<u64>(given.attr("id"));
    site.kind = SiteKind(nb::cast<int>(given.attr("kind")));
    std::string file = nb::cast<std::string>(given.attr("file"));
    if (!file.empty()) site.place = file + ":" + std::to_string(nb::cast<i64>(given.attr("line")));
    site.name = nb::cast<std::string>(given.attr("name"));
    if (nb::object dest = given.attr("dest"); !dest.is_none()) site.dest = leaf_of(dest);
    if (nb::object formula = given.attr("template"); !formula.is_none()) site.formula = template_of(formula);
    if (nb::object origin = given.attr("origin"); !origin.is_none()) {
        Site made{};
        made.id = site.id | OF_ORIGIN, made.kind = site.kind, made.place = site.place;
        made.formula = template_of(origin);
        site.origin = std::make_shared<const Site>(std::move(made));
    }
    site.leaves = leaves_of(given.attr("leaves"));
    for (nb::handle label : nb::borrow<nb::iterable>(given.attr("labels")))
        site.labels.emplace_back(word(label[0]), word(label[1]));
    site.coverage = nb::cast<u64>(given.attr("coverage")), site.flags = nb::cast<u64>(given.attr("flags"));
    site.size = nb::cast<u64>(given.attr("size")), site.stride = nb::cast<u64>(given.attr("stride"));
    site.is_assumption = nb::cast<bool>(given.attr("is_assumption"));
    return site;
}

}  // namespace

const Site *Sites::operator()(u64 id) {
    if (auto found = known_.find(id); found != known_.end()) return &found->second;
    nb::object site = get_(id);
    return site.is_none() ? nullptr : &known_.emplace(id, site_of(site)).first->second;
}

std::optional<std::pair<u64, u64>> Image::object_at(u64 address) {
    auto behind = objects_.upper_bound(address);
    if (behind != objects_.begin())
        if (auto known = std::prev(behind); address - known->first < known->second) return *known;
    if (constants_.is_none()) return std::nullopt;
    nb::object found = constants_.attr("object_at")(address);
    if (found.is_none()) return std::nullopt;
    auto [base, size] = nb::cast<std::pair<u64, u64>>(found);
    objects_[base] = size;
    return std::pair(base, size);
}

SharedBytes Image::read(u64 address, u64 size, bool initial) {
    std::tuple key(address, size, initial);
    if (auto found = read_.find(key); found != read_.end()) return found->second;
    if (constants_.is_none()) return nullptr;
    nb::object found = constants_.attr(initial ? "initial" : "read")(address, size);
    if (found.is_none()) return nullptr;
    nb::bytes bytes = nb::cast<nb::bytes>(found);
    if (bytes.size() != size) throw nb::value_error("a constant of another size");
    if (read_.size() >= kept_) read_.clear();
    return read_[key] = std::make_shared<const ObjectBytes>(static_cast<const u8 *>(bytes.data()), bytes.size());
}

bool Image::has_bounds() {
    if (!has_bounds_) has_bounds_ = !constants_.is_none() && nb::cast<bool>(constants_.attr("has_bounds"));
    return *has_bounds_;
}

std::optional<std::pair<u64, u64>> Image::bounds_at(u64 pointer) {
    if (!has_bounds()) return std::nullopt;
    if (!bounds_) {
        bounds_.emplace();
        for (auto [base, size] : nb::cast<std::vector<std::pair<u64, u64>>>(constants_.attr("bounds")))
            bounds_->emplace(base, size);
    }
    auto behind = bounds_->upper_bound(pointer);
    if (behind == bounds_->begin()) return std::nullopt;
    auto known = std::prev(behind);
    if (pointer - known->first >= known->second) return std::nullopt;
    return std::pair(known->first, known->second);
}

}  // namespace score
