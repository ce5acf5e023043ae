#include "session.hpp"

#include <algorithm>
#include <limits>

#include "pooled.hpp"

namespace score {

namespace {

constexpr u64 SMALLEST_CHUNK = 16;  // bytes of payload; with 1 % of bytes damaged, 3 of 4 such frames arrive
constexpr unsigned CLEAN_TESTS = 16;  // since the last damage, until payloads grow again

Bytes hex(const std::array<u8, 16> &bytes) {
    Bytes out;
    for (u8 byte : bytes)
        for (unsigned digit : {byte >> 4, byte & 15}) out.push_back("0123456789abcdef"[digit]);
    return out;
}

}  // namespace

Bytes Session::hello() {
    decoder_.resynchronise();
    ready.reset(), held_.reset();
    booted = is_damaged_ = false;
    return greeting();
}

Bytes Session::reset() { return frame(Type::RESET, {}); }

Bytes Session::start(Request request) {
    give_up();
    is_alone_ = true;
    begin(std::move(request));
    return attempt();
}

Bytes Session::follow(Request request) {
    is_alone_ = false;
    Bytes run = run_of(u8(number_ + behind_.size() + 1), request, request.prefix, sums_.of(request.prefix), false,
                       false);
    behind_.push_back(std::move(request));
    return frame(Type::RUN, run);
}

bool Session::advance() {
    if (behind_.empty()) return false;
    Request next = std::move(behind_.front());
    behind_.pop_front();
    elided_ = next.prefix.size();
    begin(std::move(next));
    ++number_;
    count();
    return true;
}

void Session::begin(Request request) {
    events_.clear(std::move(request.prefix));
    output_.clear(), coverage_.clear(), passed_.clear();
    request_ = std::move(request);
    result.reset();
    restarted = false;
    fruitless_ = refusals_ = 0;
    had_ = -1;
}

// Their answers are late ones.
void Session::give_up() {
    number_ = u8(number_ + behind_.size());
    behind_.clear();
}

Bytes Session::receive(View data) {
    Bytes out;
    decoder_.feed(data);
    while (behind_.empty() || !result) {  // what follows the result is of the next one
        std::optional<Frame> frame = decoder_.next();
        if (!frame) break;
        if (frame->damage == Damage::NONE) {
            Reply reply = parse(frame->type, frame->payload);
            if (!std::holds_alternative<NoMessage>(reply)) {
                out += take(reply);
                continue;
            }
        }
        bad_frames += frame->damage != Damage::SEQUENCE;  // the one before it was counted, if anything came
        is_damaged_ = true;
    }
    return out;
}

Bytes Session::nudge() { return ready ? '\0' + again() : greeting(); }

// HELLO, apart from whatever a line may have carried before.
Bytes Session::greeting() { return '\0' + frame(Type::HELLO, score::hello()); }

Bytes Session::frame(Type type, View payload) { return encode_frame(unsigned(type), ++sequence_, payload); }

Bytes Session::send(Type type, View payload) {
    is_damaged_ = false;
    return sent_ = frame(type, payload);
}

// The test once more: what is held of its events' beginning is not sent again.
Bytes Session::attempt(bool full) {
    give_up();
    const Request &request = *request_;
    reruns += had_ >= 0;
    count();
    const Bytes &prefix = events_.whole();
    Bytes run = run_of(++number_, request, prefix, sums_.of(prefix), full, is_done_);
    is_done_ = false, elided_ = prefix.size();
    return send(Type::RUN, run);
}

Bytes Session::run_of(u8 number, const Request &request, const Bytes &prefix, u32 prefix_crc, bool full,
                      bool is_acknowledged) {
    std::pair<u64, u64> limits{request.max_branches, request.watchdog_ms};
    const Bytes *base = full || limits != limits_ || !held_ ? nullptr : &*held_;
    Bytes run = encode(RunMessage{number, is_acknowledged, request.data, base, request.predicted,
                                  request.condition_hash, prefix, prefix_crc, request.max_branches,
                                  request.watchdog_ms, chunk_, request.tell_from, request.bounded, request.vectors});
    held_ = request.data, limits_ = limits;
    return run;
}

// Ask for the END of the attempt under way.
Bytes Session::again() { return send(Type::AGAIN, Bytes(1, char(number_))); }

// One more attempt. Throws if nothing comes of them.
void Session::count() {
    i64 have = i64(held() - passed_.size());  // which each attempt says anew
    passed_.clear();
    if (have > had_)
        fruitless_ = refusals_ = 0;
    else
        ++fruitless_;
    had_ = std::max({have, had_, i64(0)});
    if (fruitless_ >= MAX_ATTEMPTS)
        throw hopeless("a test could not be brought over the link in " + std::to_string(MAX_ATTEMPTS) + " attempts");
}

// What was sent came to the target damaged.
Bytes Session::refused() {
    if (++refusals_ >= MAX_REFUSALS)
        throw hopeless("what was sent arrived damaged " + std::to_string(MAX_REFUSALS) + " times");
    return sent_;
}

LinkFailure Session::hopeless(std::string what) const {
    return {false, std::move(what),
            std::to_string(bad_frames) + " damaged frames so far: check the cable, the baud rate and flow control"};
}

Bytes Session::take(const Reply &reply) {
    if (auto *found = std::get_if<Ready>(&reply)) {
        take(*found);
    } else if (std::holds_alternative<Damaged>(reply)) {
        if (!ready) return hello();
        if (is_running()) return refused();
    } else if (auto *trace = std::get_if<Trace>(&reply)) {
        if (trace->number == number_ && !result) events_.add(trace->offset, trace->data);
    } else if (auto *log = std::get_if<Log>(&reply)) {
        if (log->number == number_) output_.add(log->offset, log->data);
    } else if (auto *coverage = std::get_if<Coverage>(&reply)) {
        bool fits = coverage->offset <= std::numeric_limits<u64>::max() / 4;
        if (coverage->number == number_ && fits) coverage_.add(4 * coverage->offset, coverage->data);
    } else if (auto *passed = std::get_if<Passed>(&reply)) {
        if (passed->number == number_) passed_.emplace_back(passed->what, events_.whole().size());
    } else if (auto *need = std::get_if<NeedFull>(&reply)) {
        if (need->number == number_ && is_running()) return attempt(true);
    } else if (auto *end = std::get_if<End>(&reply)) {
        if (end->number == number_ && is_running()) return take(*end);
        ++late;
    }
    return {};  // else a late answer to an earlier attempt
}

void Session::take(const Ready &found) {
    if (found.version != WIRE_VERSION)
        throw LinkFailure{true,
                          "the target speaks version " + std::to_string(found.version) + " of the link, expected " +
                              std::to_string(WIRE_VERSION),
                          "build the image again with this version of score-embed"};
    if (found.build_id != build_id_)
        throw LinkFailure{true,
                          "the target runs another image: found build " + hex(found.build_id) + ", expected " +
                              hex(build_id_),
                          "load the image that was built from these sources onto the target, then start again"};
    if (found.capabilities & capability::BOOTED) {
        booted = true;
        restarted = is_running();
    }
    ready = found;
    largest_ = found.chunk;
}

Bytes Session::take(const End &end) {
    bad_frames += end.link_errors;
    bool has_events = end.flags & end_flag::MATCHED && end.verdict != WATCHDOG, is_missing = false;
    const Bytes &events = events_.whole(), &coverage = coverage_.whole(), &output = output_.whole();
    if (has_events) {
        if (end.flags & end_flag::ELISION_FAILED) {
            events_.clear();
            return attempt();
        }
        u64 offset = end.offset.value_or(elided_);
        events_.add(offset, end.tail);
        u128 size = offset + u128(end.tail.size());
        is_missing = events.size() < size;
        if (!is_missing && (events.size() > size || sums_.of(events) != end.event_crc)) {
            events_.clear();
            had_ = std::numeric_limits<i64>::max();  // runs differ, so more bytes are no progress
            return attempt();
        }
    }
    if (is_missing || coverage.size() / 4 < end.coverage_size || output.size() < end.log_size) {
        shrink();
        return attempt();
    }
    grow();
    is_done_ = is_alone_;
    result = std::allocate_shared<Result>(Pooled<Result>());
    result->end = end;
    result->end.tail = {};
    result->input_used = end.input_used.value_or(request_->data.size());
    if (has_events) result->events = events_.take();
    result->left_out = std::min(elided_, result->events.size());
    result->output = output.substr(0, end.log_size);
    for (std::size_t at = 0; at < 4 * end.coverage_size; at += 4) {
        u32 index = 0;
        for (unsigned i = 0; i < 4; ++i) index |= u32(u8(coverage[at + i])) << 8 * i;
        result->coverage.push_back(index);
    }
    request_.reset();
    return {};
}

// A frame was damaged: a shorter one has better chances, and less is sent again when it is lost.
void Session::shrink() {
    clean_ = 0;
    chunk_ = std::max(SMALLEST_CHUNK, (chunk_ ? chunk_ : largest_) / 4);
}

// A test came through; after many in one attempt each the line seems to be good again.
void Session::grow() {
    if (!chunk_ || ++clean_ < CLEAN_TESTS) return;
    clean_ = 0, chunk_ *= 2;
    if (chunk_ >= largest_) chunk_ = 0;
}

}  // namespace score
