#include "frame.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace score {

namespace {

constexpr std::size_t CRC_BYTES = 4;
constexpr unsigned STEP = 8;  // bytes that one round of the CRC takes
constexpr unsigned LONGEST_BLOCK = 254;  // bytes of a COBS block without a 0 behind it

using Tables = std::array<std::array<u32, 256>, STEP>;

constexpr Tables made() {
    Tables tables{};
    for (u32 byte = 0; byte < 256; ++byte) {
        u32 crc = byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
        tables[0][byte] = crc;
    }
    for (unsigned step = 1; step < STEP; ++step)
        for (u32 byte = 0; byte < 256; ++byte)
            tables[step][byte] = tables[step - 1][byte] >> 8 ^ tables[0][tables[step - 1][byte] & 0xFF];
    return tables;
}

constexpr Tables TABLES = made();

bool unstuffed(View part, Bytes &out) {
    out.clear();
    for (std::size_t at = 0; at < part.size();) {
        std::size_t code = u8(part[at++]), count = code - 1;  // never 0: that ends a part
        if (count > part.size() - at) return false;
        out.append(part, at, count);
        at += count;
        if (code <= LONGEST_BLOCK && at < part.size()) out.push_back('\0');
    }
    return true;
}

u32 word_at(View data, std::size_t at) {
    u32 word = 0;
    for (unsigned i = 0; i < 4; ++i) word |= u32(u8(data[at + i])) << 8 * i;
    return word;
}

}  // namespace

u32 crc32(View data, u32 before) {
    u32 crc = ~before;
    std::size_t at = 0;
    for (; at + STEP <= data.size(); at += STEP) {
        u32 low = crc ^ word_at(data, at), high = word_at(data, at + 4);
        crc = TABLES[7][low & 0xFF] ^ TABLES[6][low >> 8 & 0xFF] ^ TABLES[5][low >> 16 & 0xFF] ^ TABLES[4][low >> 24] ^
              TABLES[3][high & 0xFF] ^ TABLES[2][high >> 8 & 0xFF] ^ TABLES[1][high >> 16 & 0xFF] ^
              TABLES[0][high >> 24];
    }
    for (; at < data.size(); ++at) crc = crc >> 8 ^ TABLES[0][(crc ^ u8(data[at])) & 0xFF];
    return ~crc;
}

u32 Sums::of(View stream) {
    constexpr std::size_t BLOCK = 64;  // bytes between two sums
    std::size_t blocks = 0, most = std::min(stream.size(), last_.size()) / BLOCK;
    while (blocks < most && stream.substr(blocks * BLOCK, BLOCK) == View(last_).substr(blocks * BLOCK, BLOCK)) ++blocks;
    last_.resize(blocks * BLOCK), sums_.resize(blocks + 1);
    last_.append(stream.substr(last_.size()));
    for (; (blocks + 1) * BLOCK <= stream.size(); ++blocks)
        sums_.push_back(crc32(stream.substr(blocks * BLOCK, BLOCK), sums_.back()));
    return crc32(stream.substr(blocks * BLOCK), sums_.back());
}

Bytes encode_frame(unsigned type, unsigned sequence, View payload) {
    Bytes body;
    body.reserve(1 + payload.size() + CRC_BYTES);
    body.push_back(char(type | (sequence & 15) << 4));
    body.append(payload);
    u32 crc = crc32(body);
    for (unsigned i = 0; i < CRC_BYTES; ++i) body.push_back(char(crc >> 8 * i));
    Bytes out;
    out.reserve(body.size() + body.size() / LONGEST_BLOCK + 2);
    std::size_t code = 0;  // where the length of the block under way stands
    out.push_back('\1');
    for (std::size_t at = 0; at < body.size(); ++at) {
        if (body[at]) out.push_back(body[at]);
        bool is_full = body[at] && out.size() - code == LONGEST_BLOCK + 1;
        if (body[at] && !is_full) continue;
        out[code] = char(out.size() - code);
        if (is_full && at + 1 == body.size()) return out.push_back('\0'), out;  // nothing is left for another block
        code = out.size();
        out.push_back('\1');
    }
    out[code] = char(out.size() - code);
    out.push_back('\0');
    return out;
}

void Decoder::feed(View data) {
    held_.erase(0, at_);
    searched_ -= at_;
    at_ = 0;
    held_.append(data);
}

std::optional<Frame> Decoder::next() {
    if (after_) {
        Frame frame = *after_;
        after_.reset();
        return frame;
    }
    for (;;) {
        std::size_t end = held_.find('\0', searched_);
        if (end == Bytes::npos) break;
        View part(held_.data() + at_, end - at_);
        at_ = searched_ = end + 1;
        if (dropping_)
            dropping_ = false;
        else if (!part.empty())
            return decode(part);
    }
    searched_ = held_.size();
    bool is_too_long = !dropping_ && held_.size() - at_ > MAX_FRAME;
    if (dropping_ || is_too_long) at_ = held_.size();
    if (!is_too_long) return std::nullopt;
    dropping_ = true;
    return Frame{Damage::TOO_LONG, 0, 0, {}};
}

void Decoder::resynchronise() {
    held_.clear();
    at_ = searched_ = 0;
    dropping_ = false;
    expected_ = -1;
    after_.reset();
}

Frame Decoder::decode(View part) {
    auto damaged = [](Damage how) { return Frame{how, 0, 0, {}}; };
    if (part.size() > MAX_FRAME) return damaged(Damage::TOO_LONG);
    if (!unstuffed(part, body_)) return damaged(Damage::STUFFING);
    if (body_.size() < 1 + CRC_BYTES) return damaged(Damage::TOO_SHORT);
    View payload(body_.data() + 1, body_.size() - 1 - CRC_BYTES);
    if (crc32({body_.data(), 1 + payload.size()}) != word_at(body_, body_.size() - CRC_BYTES))
        return damaged(Damage::CRC);
    u8 head = u8(body_[0]);
    Frame frame{Damage::NONE, u8(head & 15), u8(head >> 4), payload};
    bool is_next = expected_ < 0 || frame.sequence == expected_;
    expected_ = (frame.sequence + 1) & 15;
    if (is_next) return frame;
    after_ = frame;
    return damaged(Damage::SEQUENCE);
}

}  // namespace score
