#include "ahead.hpp"

#include <algorithm>

namespace score {

namespace {

constexpr std::size_t MOST_BYTES = 4 << 20;  // that are kept
constexpr unsigned MOST_KEPT = 64;           // tests of a lane
constexpr unsigned FOR_ROOM = 256;           // credit that the oldest is forgotten for,
constexpr unsigned FOR_USE = 8;              // what one is worth that came to its turn; any other test is worth 1
constexpr std::size_t OVERHEAD = 512;        // bytes of each beside its contents, about
constexpr unsigned LEAST_ALONE = 15;         // tests after one that a target did not survive: its restart takes as
constexpr unsigned MOST_ALONE = 4095;        // long as some hundred
constexpr double SLOW = 0.02;                // seconds: what is won is nothing then, and others wait
constexpr unsigned SLOW_ALONE = 16;
constexpr std::size_t MOST_ENDS = 256;  // others may run the tests, in a fleet: then nobody hears of them here

std::size_t size_of(const Request &request, const Result &result) {
    return OVERHEAD + request.data.size() + request.prefix.size() + result.events.size() + result.output.size();
}

bool is_same(const Request &a, View data, const Request &b) {
    return a.data == data && a.predicted == b.predicted && a.condition_hash == b.condition_hash &&
           a.max_branches == b.max_branches && a.watchdog_ms == b.watchdog_ms;
}

}  // namespace

void Ahead::keep(const PairId &id, u8 lane, Request request, std::shared_ptr<Result> result) {
    if (has(id)) return;
    bytes_ += size_of(request, *result);
    ages_[id] = next_;
    ++lanes_[lane].kept;
    kept_.emplace_hint(kept_.end(), next_++, Kept{id, lane, std::move(request), std::move(result)});
    while (bytes_ > MOST_BYTES) forget(kept_.begin());
}

std::shared_ptr<Result> Ahead::take(const PairId &id, const Request &request, View data) {
    auto known = ages_.find(id);
    if (known == ages_.end()) return nullptr;
    auto at = kept_.find(known->second);
    Kept &kept = at->second;
    std::shared_ptr<Result> result;
    if (is_same(kept.request, data, request)) {
        result = kept.result;
        lanes_[kept.lane].credit += FOR_USE;
        ++taken;
    }
    forget(at);
    return result;
}

void Ahead::forget(ByAge::iterator at) {
    bytes_ -= size_of(at->second.request, *at->second.result);
    ages_.erase(at->second.id);
    --lanes_[at->second.lane].kept;
    kept_.erase(at);
}

bool Ahead::may_send(u8 name) {
    if (alone_) {
        --alone_;
        return false;
    }
    Lane &lane = lanes_[name];
    ++lane.credit;
    while (lane.kept >= MOST_KEPT) {
        if (lane.credit < FOR_ROOM) return false;
        lane.credit -= FOR_ROOM;
        forget(std::find_if(kept_.begin(), kept_.end(), [&](const auto &entry) { return entry.second.lane == name; }));
    }
    lane.credit = std::min(lane.credit, FOR_ROOM * MOST_KEPT);
    return true;
}

void Ahead::went_well(bool told, double seconds) {
    if (penalty_) --penalty_;
    alone_ = seconds > SLOW ? SLOW_ALONE : told;
}

void Ahead::went_wrong() { alone_ = penalty_ = std::min(4 * penalty_ + LEAST_ALONE, MOST_ALONE); }

void Unanswered::add(std::vector<PairId> tests) {
    if (ends_.size() >= MOST_ENDS) ends_.erase(ends_.begin());
    ends_.emplace_back(tests.begin(), tests.end());
}

u64 Unanswered::was_answered(const PairId &test) {
    for (std::set<PairId> &tests : ends_) tests.erase(test);
    std::size_t before = ends_.size();
    auto is_empty = [](const std::set<PairId> &tests) { return tests.empty(); };
    ends_.erase(std::remove_if(ends_.begin(), ends_.end(), is_empty), ends_.end());
    return before - ends_.size();
}

}  // namespace score
