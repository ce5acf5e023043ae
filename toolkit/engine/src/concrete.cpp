#include "concrete.hpp"

#include "build.hpp"
#include "contract.hpp"

namespace score {

namespace {

constexpr unsigned WIDEST_FORK = 64;  // bits

// Reasons of PIN sites: these values decide what is run and what is read, so that their other values are other paths.
bool is_deciding(const std::string &name) {
    return name == "address" || name == "array size" || name == "value of longjmp";
}

}  // namespace

void Concrete::use(const Site &site, Id value, const char *symbolic, const char *opaque, bool is_address) {
    const Node &node = score::node(value);
    if (!node.deps) {
        if (node.origins && *opaque) decoded_.note(opaque, site.id);
        if (node.origins && !*opaque) decoded_.pin(site.id, value);  // so it is known to be no number like others
        return;
    }
    if (is_deciding(site.name) || forks_.arguments || is_address) {
        Outcome forked = fork(site, value);
        if (forked.formula) {
            branches_.on_branch(site, {}, &forked, 1);
            return;
        }
    }
    if (decoded_.is_fixed(value)) return;
    if (*symbolic) decoded_.note(symbolic, site.id);
    decoded_.pin(site.id, value);
}

void Concrete::address(const Site &site, Id value, const char *symbolic) {
    use(site, value, symbolic, notes::OPAQUE_ADDRESS, true);
}

bool Concrete::is_few(Id value) const {
    const Node &node = score::node(value);
    if (!node.deps || node.floats || node.width > WIDEST_FORK) return false;
    return decoded_.most_values(value) <= forks_.values;
}

Outcome Concrete::fork(const Site &, Id value) {
    if (decoded_.is_fixed(value) || !is_few(value)) return {-1, 1, Ref(), {}};
    u64 now = u64(decoded_.value(value));
    Ref number = constant(now, node(value).width);
    Ref equals = binary(Kind::EQ, value, number);
    auto chosen = std::make_shared<const Choice>(Choice{Ref(value), now, 0, 0, false, {}});
    return {-1, 1, std::move(equals), {}, std::move(chosen), true};
}

}  // namespace score
