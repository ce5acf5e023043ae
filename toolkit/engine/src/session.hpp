// The host's side of the link as a state machine: bytes in, bytes out, no I/O, no clock.
//
// One test at a time is under way; others may have been sent behind it. Whatever is damaged on the way is asked for
// again: the END by AGAIN, missing pieces of events, coverage and output by running the test again (runs are
// deterministic) with the prefix already held left out, the input in full when the target lost what the difference was
// made against. Every attempt has its own number on the wire, so that late answers are recognised. The number of
// attempts that bring nothing new is bounded.
#pragma once

#include <deque>
#include <memory>

#include "message.hpp"
#include "pieces.hpp"

namespace score {

constexpr unsigned MAX_ATTEMPTS = 20;   // that bring nothing new
constexpr unsigned MAX_REFUSALS = 200;  // of a frame of ours that arrives damaged; these are cheap

// One test. `prefix`: event bytes that the host already holds and expects; they are not sent again. `tell_from`: say
// all at once, for the test may be the target's end, and after so many event bytes also where it is; `bounded`: end it
// where the input does; `vectors`: say of all conditions how they came out, and nothing else.
struct Request {
    Bytes data;
    u64 predicted = 0, condition_hash = 0, max_branches = 0, watchdog_ms = 0;
    Bytes prefix;
    std::optional<u64> tell_from;
    bool bounded = false, vectors = false;
};

struct Result {
    End end;  // without its tail
    u64 input_used;  // bytes
    Bytes events;    // empty if the run was mispredicted
    std::size_t left_out;  // bytes of their beginning that were not sent
    std::vector<u32> coverage;
    Bytes output;
};

// The target is not ours, or the link is of no use.
struct LinkFailure {
    bool is_wrong_image;
    std::string what, hint;
};

class Session {
  public:
    explicit Session(const std::array<u8, 16> &build_id) : build_id_(build_id) {}

    // Each returns bytes to send. Call `hello`, then `receive` until `ready`; `start` a test, then `receive` until
    // `result`. `follow`: a test to be run behind those that were begun. When there is a result, `advance` makes the
    // next of these the test under way, and `receive`, of nothing first, goes on with what has arrived. False: there is
    // none, or no more, since those behind are given up where something of a test is lost, or another one is started.
    Bytes hello();
    Bytes reset();  // the target is to start again from its beginning
    Bytes start(Request request);
    Bytes follow(Request request);
    bool advance();
    Bytes receive(View data);  // throws LinkFailure
    Bytes nudge();             // it has been quiet for long: a RUN or an END may be lost

    // Bytes that have arrived of the test under way: as long as they grow there is hope.
    std::size_t held() const { return events_.held() + output_.held() + coverage_.held() + passed_.size(); }
    // Something of the answer was lost, or ended in the middle: silence need not be waited for.
    bool doubtful() const { return is_damaged_ || decoder_.holds_part(); }

    // What has arrived of a test that has told no end.
    const Bytes &events() const { return events_.whole(); }  // from the first one to the first that is missing
    const Bytes &output() const { return output_.whole(); }
    // What an eager test said: what, and the event bytes before it.
    const std::vector<std::pair<u64, std::size_t>> &passed() const { return passed_; }

    std::optional<Ready> ready;
    std::shared_ptr<Result> result;
    bool booted = false;     // since HELLO a READY has come that was not asked for
    bool restarted = false;  // a READY came while a test ran: the target started again by itself
    u64 late = 0;            // ENDs that nobody needed any more: they were asked for too early
    u64 bad_frames = 0, reruns = 0;

  private:
    bool is_running() const { return request_ && !result; }
    Bytes greeting();
    Bytes frame(Type type, View payload);
    Bytes send(Type type, View payload);
    Bytes attempt(bool full = false);
    Bytes run_of(u8 number, const Request &request, const Bytes &prefix, u32 prefix_crc, bool full,
                 bool is_acknowledged);
    void begin(Request request);
    void give_up();
    Bytes again();
    Bytes refused();
    Bytes take(const Reply &reply);
    void take(const Ready &found);
    Bytes take(const End &end);
    void count();
    void shrink();
    void grow();
    LinkFailure hopeless(std::string what) const;

    std::array<u8, 16> build_id_;
    Decoder decoder_;
    unsigned sequence_ = 0;
    u8 number_ = 0;         // of the attempt under way: answers that come late come soon
    bool is_done_ = false;  // all of that attempt has arrived, and may be acknowledged
    bool is_alone_ = true;  // no test was sent behind it, whose coverage would be acknowledged with it
    std::optional<Bytes> held_;                // the input that the target has
    std::pair<u64, u64> limits_{0, 0};         // that it has, too
    std::optional<Request> request_;
    std::deque<Request> behind_;  // sent, and not under way yet
    Sums sums_;  // of events, also of those that are left out
    std::size_t elided_ = 0;    // event bytes that it leaves out
    Bytes sent_;                // the last RUN or AGAIN
    unsigned fruitless_ = 0;    // attempts since something new arrived
    unsigned refusals_ = 0;     // of frames of ours since something new arrived
    i64 had_ = 0;               // bytes of the test's pieces at the last attempt; -1: there was none
    Pieces events_, output_, coverage_;
    std::vector<std::pair<u64, std::size_t>> passed_;
    u64 chunk_ = 0;             // bytes of payload asked for while errors last; 0: the target's own size
    u64 largest_ = 0;           // bytes of payload that the target likes
    unsigned clean_ = 0;        // tests since payloads changed
    bool is_damaged_ = false;   // something of the answer was lost on the way
};

}  // namespace score
