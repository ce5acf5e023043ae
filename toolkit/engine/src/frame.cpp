#include "frame.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "difference.hpp"

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

// COBS: blocks without a 0, each behind its length; a 0 stands between two, unless the first is as long as one can be.
class Stuffed {
  public:
    explicit Stuffed(std::size_t room) {
        out_.reserve(room);
        out_.push_back(0);
    }
    void put(View bytes) {
        for (char byte : bytes) {
            if (out_.size() - block_ > LONGEST_BLOCK) begin();
            if (byte)
                out_.push_back(byte);
            else
                begin();
        }
    }
    Bytes taken() {
        end();
        out_.push_back(0);
        return std::move(out_);
    }

  private:
    void end() { out_[block_] = char(out_.size() - block_); }
    void begin() {
        end();
        block_ = out_.size();
        out_.push_back(0);
    }

    Bytes out_;
    std::size_t block_ = 0;  // where the length of the block under way stands
};

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
    std::size_t most = std::min(stream.size(), last_.size());
    std::size_t blocks = first_difference(stream.data(), last_.data(), most) / BLOCK;
    last_.resize(blocks * BLOCK), sums_.resize(blocks + 1);
    last_.append(stream.substr(last_.size()));
    for (; (blocks + 1) * BLOCK <= stream.size(); ++blocks)
        sums_.push_back(crc32(stream.substr(blocks * BLOCK, BLOCK), sums_.back()));
    return crc32(stream.substr(blocks * BLOCK), sums_.back());
}

Bytes encode_frame(unsigned type, unsigned sequence, View payload) {
    char head = char(type | (sequence & 15) << 4), sum[CRC_BYTES];
    u32 crc = crc32(payload, crc32({&head, 1}));
    for (unsigned i = 0; i < CRC_BYTES; ++i) sum[i] = char(crc >> 8 * i);
    std::size_t size = 1 + payload.size() + CRC_BYTES;
    Stuffed out(size + size / LONGEST_BLOCK + 2);
    out.put({&head, 1}), out.put(payload), out.put({sum, CRC_BYTES});
    return out.taken();
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
