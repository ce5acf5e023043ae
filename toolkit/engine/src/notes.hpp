// The words of what could not be followed, as contract/words.py has them: results are told in these.
#pragma once

namespace score::notes {

constexpr const char *SYMBOLIC_ADDRESS = "symbolic address";
constexpr const char *OUTSIDE = "symbolic address outside of its object";
constexpr const char *OPAQUE_ADDRESS = "opaque result in an address";
constexpr const char *OPAQUE_CONDITION = "opaque result in a condition";
constexpr const char *CONCRETIZED = "concretized value";
constexpr const char *CONVERSION = "conversion to an integer out of range";
constexpr const char *FLOAT_PATTERN = "pattern of a floating-point result";
constexpr const char *OPAQUE_ARGUMENTS = "symbolic data given to an opaque call";
constexpr const char *OPAQUE_CHANGED = "symbolic memory changed by an opaque call";
constexpr const char *OPAQUE_FINDS = "symbolic data that an opaque call can find";
constexpr const char *CALLBACK_RETURN = "symbolic result given to an opaque caller";
constexpr const char *OUT_OF_REACH = "symbolic value stored out of reach";
constexpr const char *IN_HANDLER = "symbolic data in an interrupt handler";
constexpr const char *HANDLER_READS = "symbolic data where an interrupt handler without probes can read it";
constexpr const char *DIVERGENCE = "divergence";

}  // namespace score::notes
