// Frames of the link: `COBS(type | sequence << 4, payload, CRC-32) | 00`, the same on pipes and serial lines.
//
// COBS keeps 0 out of the body, so that a receiver that joins late or loses bytes is in step again at the next 0. Any
// byte stream decodes to frames and named damages; nothing throws, hangs or grows without bound. No I/O here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "word.hpp"

namespace score {

using Bytes = std::string;
using View = std::string_view;

constexpr std::size_t MAX_FRAME = 1 << 17;  // encoded bytes; more without a 0 between them is not a frame

enum class Damage : u8 {
    NONE,
    TOO_LONG,   // no end of frame within MAX_FRAME bytes
    TOO_SHORT,  // fewer bytes than head and CRC
    STUFFING,   // not valid COBS
    CRC,        // bytes were changed or lost
    SEQUENCE,   // a frame is missing before the next one (which is good)
};

struct Frame {  // `damage`: then there is none
    Damage damage;
    u8 type, sequence;  // 4 bits each
    View payload;       // until the decoder is called again
};

u32 crc32(View data, u32 before = 0);

// The same of streams that begin alike, as those of consecutive tests do: what they have in common is not summed again.
class Sums {
  public:
    u32 of(View stream);

  private:
    Bytes last_;                  // the stream before
    std::vector<u32> sums_{0};    // of its first bytes, each block of them longer
};

Bytes encode_frame(unsigned type, unsigned sequence, View payload);

// Feed it bytes in any portions, then take frames and damages in order until there is none.
class Decoder {
  public:
    void feed(View data);
    std::optional<Frame> next();
    bool holds_part() const { return at_ < held_.size() || dropping_; }  // a frame has begun to arrive
    std::size_t held() const { return held_.size(); }                    // bytes
    void resynchronise();  // forget a half-received frame and the sequence: the other side started again

  private:
    Frame decode(View part);

    Bytes held_, body_;
    std::size_t at_ = 0, searched_ = 0;  // the first byte that is not decoded; the first that may be a 0
    bool dropping_ = false;              // inside a frame that is too long
    int expected_ = -1;                  // the next sequence, if anything came
    std::optional<Frame> after_;         // the good frame behind a damage
};

}  // namespace score
