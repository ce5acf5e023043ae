// Puts random and damaged streams to the host's side of the link, under the sanitizers
// (tests/property/test_sanitized.py): frames of every type, damaged on the line or inside a frame that is intact, in
// portions of any size. A second decoder gets the same bytes at once and has to find the same. Usage: score_fuzz_wire
// SEED ROUNDS. Prints how many frames were damaged, how many results there were, and how many sessions gave up.
#include <cstdio>
#include <cstdlib>
#include <random>

#include "session.hpp"

using namespace score;

namespace {

void require(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "score_fuzz_wire: %s\n", what);
    std::abort();
}

class Line {
  public:
    explicit Line(u64 seed) : random_(seed) {}

    std::size_t below(std::size_t n) { return n ? std::size_t(random_() % n) : 0; }
    bool once_in(unsigned n) { return below(n) == 0; }

    Bytes bytes(std::size_t size) {
        Bytes out;
        while (out.size() < size) out.push_back(char(random_()));
        return out;
    }

    Bytes damaged(Bytes data) {
        for (std::size_t changes = 1 + below(3); changes--;) {
            std::size_t at = below(data.size() + 1);
            switch (below(4)) {
            case 0: data.insert(at, bytes(1 + below(4))); break;
            case 1: data.erase(at, 1 + below(8)); break;
            case 2: data.insert(at, once_in(2) ? Bytes(1, '\0') : Bytes(10, '\xFF')); break;
            default:
                if (at < data.size()) data[at] = char(data[at] ^ (1 << below(8)));
            }
        }
        return data;
    }

    // What the target may say about attempt `number`.
    Bytes frame(u8 number) {
        Bytes events = bytes(below(40)), payload(1, char(number));
        unsigned type = unsigned(Type::END);
        switch (below(8)) {
        case 0: type = unsigned(Type::READY), payload = ready(); break;
        case 1:
            type = unsigned(Type::TRACE), payload += varint(below(once_in(9) ? ~std::size_t(0) : 60)) + events;
            break;
        case 2: type = unsigned(Type::LOG), payload += varint(0) + events; break;
        case 3: type = unsigned(Type::COVERAGE), payload += varint(below(4)) + bytes(4 * below(5)); break;
        case 4:
            type = unsigned(once_in(2) ? Type::NEED_FULL : Type::PASSED);
            if (once_in(2)) payload += varint(below(90));
            break;
        case 5: type = once_in(2) ? unsigned(Type::DAMAGED) : unsigned(below(16)), payload.clear(); break;
        default: payload += end(events);
        }
        return encode_frame(type, sequence_++, once_in(4) ? damaged(payload) : payload);
    }

  private:
    static Bytes fixed(u64 value, unsigned size) {
        Bytes out;
        for (unsigned i = 0; i < size; ++i) out.push_back(char(value >> 8 * i));
        return out;
    }

    static Bytes varint(u64 value) {
        Bytes out;
        for (; value > 127; value >>= 7) out.push_back(char((value & 127) | 128));
        out.push_back(char(value));
        return out;
    }

    Bytes ready() {
        return fixed(once_in(20) ? 9 : WIRE_VERSION, 2) + fixed(once_in(3) ? capability::BOOTED : 0, 2) + fixed(8, 1) +
               Bytes(16, once_in(20) ? 'x' : '\0') + fixed(1000, 4) + fixed(1000, 4) + fixed(64, 2) + fixed(10, 4);
    }

    Bytes end(const Bytes &events) {
        unsigned flags = unsigned(random_() & 0xFF);
        Bytes out = fixed(flags, 1) + bytes(12) + fixed(crc32(events), 4) + varint(2) + varint(5);
        if (flags & end_flag::USED) out += varint(below(50));
        if (flags & end_flag::CHUNKED) out += varint(once_in(9) ? ~u64(0) : 0);
        if (flags & end_flag::VERDICT) out += fixed(below(VERDICTS + 2), 1) + bytes(4) + '\0' + varint(below(9)) + '\0';
        if (flags & end_flag::EXTRAS)
            out += varint(once_in(5) ? random_() : 0) + varint(once_in(5) ? random_() : 0) + varint(0);
        if (flags & end_flag::UNCHECKED) out += varint(1);
        return out + events;
    }

    std::mt19937_64 random_;
    unsigned sequence_ = 0;
};

struct Counts {
    u64 damaged = 0, results = 0, failures = 0;
};

void take(Session &session, Line &line, const Bytes &data) {
    for (std::size_t at = 0; at < data.size();) {
        std::size_t size = std::min(data.size() - at, 1 + line.below(90));
        session.receive(View(data).substr(at, size));
        at += size;
    }
}

Request request(Line &line) {
    return {line.bytes(line.below(30)), line.below(3), 7, 1000, 1000, line.bytes(line.below(20)),
            line.once_in(4) ? std::optional<u64>(3) : std::nullopt, line.once_in(5), line.once_in(5)};
}

void play(Line &line, Counts &counts) {
    Session session({});
    Decoder whole, parts;
    Bytes stream;
    try {
        session.hello();
        unsigned first = 1;
        for (unsigned test = 0; test < 4; ++test) {
            session.start(request(line));
            std::size_t behind = line.once_in(2) ? 0 : 1 + line.below(3), seen = 0;
            for (std::size_t i = 0; i < behind; ++i) session.follow(request(line));
            unsigned number = first + unsigned(line.below(3));
            do {
                require(seen++ <= behind, "more tests follow than were sent");
                for (unsigned answer = 0; answer < 16 && !session.result; ++answer) {
                    Bytes frame = line.frame(u8(number + line.below(3)));
                    stream += line.once_in(3) ? line.damaged(frame) : frame;
                    take(session, line, line.once_in(3) ? line.damaged(frame) : frame);
                    if (line.once_in(6)) session.nudge();
                    require(session.held() >= session.events().size(), "less is held than has arrived");
                }
                counts.results += session.result != nullptr;
                ++number;
            } while (session.result && session.advance());
            first += 1 + unsigned(behind);
        }
    } catch (const LinkFailure &failure) {
        require(!failure.what.empty() && !failure.hint.empty(), "a failure says nothing");
        ++counts.failures;
    }
    whole.feed(stream);
    for (std::size_t at = 0; at < stream.size();) {
        std::size_t size = std::min(stream.size() - at, 1 + line.below(50));
        parts.feed(View(stream).substr(at, size));
        at += size;
        while (auto found = parts.next()) {
            auto expected = whole.next();
            require(expected && found->damage == expected->damage && found->type == expected->type &&
                        found->sequence == expected->sequence && found->payload == expected->payload,
                    "portions matter");
            counts.damaged += found->damage != Damage::NONE;
        }
    }
    require(!whole.next(), "portions lose a frame");
}

}  // namespace

int main(int count, char **words) {
    if (count != 3) return std::fprintf(stderr, "usage: score_fuzz_wire SEED ROUNDS\n"), 2;
    Line line(std::strtoull(words[1], nullptr, 10));
    Counts counts;
    for (u64 round = std::strtoull(words[2], nullptr, 10); round--;) play(line, counts);
    std::printf("%llu damaged, %llu results, %llu given up\n", static_cast<unsigned long long>(counts.damaged),
                static_cast<unsigned long long>(counts.results), static_cast<unsigned long long>(counts.failures));
}
