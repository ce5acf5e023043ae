// What Python knows of an image, as the trail asks for it: the sites of its table, and its constants. Both are
// remembered, so that Python is asked once.
#pragma once

#include <nanobind/nanobind.h>

#include <map>

#include "access.hpp"

namespace score {

// Sites of a table as they are first seen.
class Sites {
  public:
    explicit Sites(nanobind::handle table) : get_(table.attr("sites").attr("get")) {}

    const Site *operator()(u64 id);

  private:
    nanobind::object get_;
    std::unordered_map<u64, Site> known_;
};

// An image's constants, and reads through its tables of pointers. Conditions that remember their objects keep it.
class Image final : public ConstantSource {
  public:
    Image(nanobind::object constants, std::size_t kept)
        : pointers(*this, kept), constants_(std::move(constants)), kept_(kept) {}

    Image(const Image &) = delete;

    std::optional<std::pair<u64, u64>> object_at(u64 address) override;
    SharedBytes read(u64 address, u64 size, bool initial) override;
    std::optional<std::pair<u64, u64>> bounds_at(u64 pointer) override;
    bool has_bounds() override;

    Pointers pointers;

  private:
    nanobind::object constants_;
    std::size_t kept_;
    std::map<u64, u64> objects_;
    std::optional<std::map<u64, u64>> bounds_;
    std::optional<bool> has_bounds_;
    std::map<std::tuple<u64, u64, bool>, SharedBytes> read_;
};

}  // namespace score
