// Tests that were run before their turn: what they brought is kept until it comes.
//
// A target that finds the next RUN in its pipe need not wait for the host, and what is written and read at once costs
// one call of the system instead of several. But which test is next the host knows only when it has seen the one
// before: often it is one of its children. So several that are likely to be next are sent with it, and what they bring
// is kept. The order of a campaign is as if they had not been; only the time is another.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "decisions.hpp"
#include "pooled.hpp"
#include "session.hpp"

namespace score {

class Ahead {
  public:
    bool has(const PairId &id) const { return ages_.count(id) != 0; }
    // `lane`: of the work list, in which the pair waits.
    void keep(const PairId &id, u8 lane, Request request, std::shared_ptr<Result> result);
    // What this run brought, if it was made as it would be now, for `data`; the events that it was told to leave out
    // may be others.
    std::shared_ptr<Result> take(const PairId &id, const Request &request, View data);

    // Whether pairs of this lane should be sent along with the next test. Asked once for each that is sent.
    bool may_send(u8 lane);
    // Those that were sent along came to their ends. `told`: something was covered, which is not acknowledged unless a
    // test is sent alone.
    void went_well(bool told, double seconds);
    // After one of them the target was of no use. The next ones are sent alone, and more of them than the last time.
    void went_wrong();

    u64 taken = 0;  // tests that had been run when their turn came

  private:
    struct Kept {
        PairId id;
        u8 lane;
        Request request;
        std::shared_ptr<Result> result;
    };
    // Where pairs do not come to their turn, tests are run in vain: there is room for so many, and more only for what
    // came to its turn.
    struct Lane {
        unsigned kept = 0, credit = 0;
    };
    struct Hash {
        std::size_t operator()(const PairId &id) const {  // which is one
            std::size_t word;
            std::memcpy(&word, id.data(), sizeof word);
            return word;
        }
    };

    using ByAge = std::map<u64, Kept, std::less<>, Pooled<std::pair<const u64, Kept>>>;

    void forget(ByAge::iterator at);

    ByAge kept_;  // the oldest first
    std::unordered_map<PairId, u64, Hash, std::equal_to<>, Pooled<std::pair<const PairId, u64>>> ages_;
    std::map<u8, Lane> lanes_;
    u64 next_ = 0;
    std::size_t bytes_ = 0;  // of what is kept, about
    unsigned alone_ = 0, penalty_ = 0;  // tests
};

// Ends of targets with several tests in them. Which one it was nobody can say, since a target writes what it has to say
// of some at once. If none of them ends a target when it is run again, somebody else did.
class Unanswered {
  public:
    // The target ended with these tests in it, none of which was answered.
    void add(std::vector<PairId> tests);
    // It has come to an end now. Returns how many ends of targets were nobody's doing, as is known now: one that ends
    // its target is never answered.
    u64 was_answered(const PairId &test);

  private:
    std::vector<std::set<PairId>> ends_;  // for each the tests that were not run again yet
};

}  // namespace score
