#include "message.hpp"

#include <algorithm>

#include "difference.hpp"

namespace score {

namespace {

struct NoSuchMessage {};

constexpr std::size_t SHORT = 64;  // bytes that most RUNs have room in
constexpr std::size_t GAP = 2;  // equal bytes between two changes that are cheaper sent than left out

class Reader {
  public:
    explicit Reader(View data) : data_(data) {}

    u64 fixed(unsigned bytes) {
        u64 value = 0;
        for (unsigned i = 0; i < bytes; ++i) value |= u64(take()) << 8 * i;
        return value;
    }

    u64 varint() {  // LEB128
        u64 value = 0;
        for (unsigned shift = 0;; shift += 7) {
            u8 byte = take();
            u64 bits = byte & 127;
            if (bits && (shift > 63 || (shift == 63 && bits > 1))) throw NoSuchMessage();
            if (shift < 64) value |= bits << shift;
            if (byte < 128) return value;
        }
    }

    u8 take() {
        if (at_ == data_.size()) throw NoSuchMessage();
        return u8(data_[at_++]);
    }

    View rest() const { return data_.substr(at_); }

    void end() const {
        if (at_ != data_.size()) throw NoSuchMessage();
    }

  private:
    View data_;
    std::size_t at_ = 0;
};

Ready ready(Reader &from) {
    Ready found{};
    found.version = unsigned(from.fixed(2));
    found.capabilities = unsigned(from.fixed(2));
    found.pointer_bytes = unsigned(from.fixed(1));
    for (u8 &byte : found.build_id) byte = from.take();
    found.input_capacity = u32(from.fixed(4));
    found.free_ram = u32(from.fixed(4));
    found.chunk = u32(from.fixed(2));
    found.coverage_total = u32(from.fixed(4));
    from.end();
    return found;
}

Piece piece(Reader &from) {
    u8 number = from.take();
    u64 offset = from.varint();
    return {number, offset, from.rest()};
}

Coverage coverage(Reader &from) {
    Piece found = piece(from);
    if (found.data.size() % 4) throw NoSuchMessage();
    return {found};
}

Passed passed(Reader &from) {
    u8 number = from.take();
    u64 what = from.varint();
    from.end();
    return {number, what};
}

End end(Reader &from) {
    End found{};
    found.number = from.take();
    found.flags = from.take();
    found.path_hash = from.fixed(8);
    found.operand_hash = u32(from.fixed(4));
    found.event_crc = u32(from.fixed(4));
    found.conditions = from.varint();
    found.branches = from.varint();
    if (found.flags & end_flag::USED) found.input_used = from.varint();
    if (found.flags & end_flag::CHUNKED) found.offset = from.varint();
    if (found.flags & end_flag::VERDICT) {
        found.verdict = from.take();
        found.code = i64(std::int32_t(u32(from.varint())));
        found.site = from.varint();
        found.pc = from.varint();
        found.address = from.varint();
        while (u64 entered = from.varint()) found.stack.push_back(entered);
    }
    if (found.flags & end_flag::EXTRAS) {
        found.log_size = from.varint();
        found.coverage_size = from.varint();
        found.link_errors = from.varint();
    }
    if (found.flags & end_flag::UNCHECKED) found.unchecked = from.varint();
    if (found.verdict >= VERDICTS) throw NoSuchMessage();
    found.tail = from.rest();
    return found;
}

Reply parsed(Type type, Reader from) {
    switch (type) {
    case Type::READY: return ready(from);
    case Type::TRACE: return Trace{piece(from)};
    case Type::END: return end(from);
    case Type::LOG: return Log{piece(from)};
    case Type::COVERAGE: return coverage(from);
    case Type::PASSED: return passed(from);
    case Type::NEED_FULL: {
        NeedFull found{from.take()};
        from.end();
        return found;
    }
    case Type::DAMAGED: from.end(); return Damaged{};
    default: return NoMessage{};
    }
}

void put_varint(Bytes &out, u64 value) {
    for (; value > 127; value >>= 7) out.push_back(char((value & 127) | 128));
    out.push_back(char(value));
}

void put_fixed(Bytes &out, u64 value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) out.push_back(char(value >> 8 * i));
}

// `data` as (skip, count, bytes)* against `base`.
void put_difference(Bytes &out, const Bytes *base, View data) {
    auto put = [&](std::size_t skip, View bytes) {
        put_varint(out, skip);
        put_varint(out, bytes.size());
        out.append(bytes);
    };
    if (!base) return put(0, data);
    auto differs = [&](std::size_t from) { return first_difference(base->data(), data.data(), data.size(), from); };
    std::size_t position = 0;
    for (std::size_t first = differs(0); first < data.size();) {
        std::size_t last = first + 1, next;
        while ((next = differs(last)) < data.size() && next - last <= GAP) last = next + 1;
        put(first - position, data.substr(first, last - first));
        position = last, first = next;
    }
}

// 16 bits of a condition hash: the host looks at all of them when it has the events.
unsigned fold(u64 hash) { return unsigned(hash ^ hash >> 32) & 0xFFFF; }

}  // namespace

Reply parse(unsigned type, View payload) {
    try {
        return parsed(Type(type), Reader(payload));
    } catch (const NoSuchMessage &) {
        return NoMessage{};
    }
}

Bytes encode(const RunMessage &run) {
    const Bytes *base = run.base && run.base->size() == run.data.size() ? run.base : nullptr;
    unsigned flags = 0;
    auto say = [&](bool holds, unsigned flag) { flags |= holds ? flag : 0; };
    say(!base, run_flag::FULL), say(run.predicted, run_flag::PREDICTED), say(!run.elided.empty(), run_flag::ELIDED);
    say(run.chunk, run_flag::SHORT), say(run.acknowledged, run_flag::ACKNOWLEDGED);
    say(run.tell_from.has_value(), run_flag::EAGER), say(run.bounded, run_flag::BOUNDED),
        say(run.vectors, run_flag::VECTORS);
    Bytes out;
    out.reserve(SHORT + (base ? 0 : run.data.size()));
    put_fixed(out, run.number, 1);
    put_fixed(out, flags, 1);
    put_fixed(out, crc32(run.data), 4);
    if (!base) {
        put_varint(out, run.data.size());
        put_varint(out, run.max_branches);
        put_varint(out, run.watchdog_ms);
    }
    if (run.predicted) {
        put_varint(out, run.predicted);
        put_fixed(out, fold(run.condition_hash), 2);
    }
    if (!run.elided.empty()) {
        put_varint(out, run.elided.size());
        put_fixed(out, run.elided_crc, 2);
    }
    if (run.tell_from) put_varint(out, *run.tell_from);
    if (run.chunk) put_varint(out, run.chunk);
    put_difference(out, base, run.data);
    return out;
}

Bytes hello() {
    Bytes out;
    put_fixed(out, WIRE_VERSION, 2);
    return out;
}

}  // namespace score
