// What has arrived of one thing that is sent in pieces, over several attempts: on a bad line none may bring it whole.
//
// Runs are deterministic, so pieces of different attempts fit together, whatever their sizes. Whether they really do is
// for the reader's CRC to say.
#pragma once

#include <map>

#include "frame.hpp"

namespace score {

class Pieces {
  public:
    const Bytes &whole() const { return whole_; }  // from the beginning to the first gap
    // All bytes held, those beyond the gap too (where pieces overlap they count twice).
    std::size_t held() const { return whole_.size() + beyond_; }

    // Forget all pieces; `start` is known.
    void clear(Bytes start = {}) {
        whole_ = std::move(start);
        later_.clear();
        beyond_ = 0;
    }

    // All that `whole` says; nothing is left.
    Bytes take() {
        Bytes all = std::move(whole_);
        clear();
        return all;
    }

    // A piece has arrived, perhaps not for the first time.
    void add(u64 offset, View data) {
        if (offset > whole_.size()) {
            Bytes &there = later_[offset];
            if (data.size() > there.size()) beyond_ += data.size() - there.size(), there.assign(data);
            return;
        }
        append(offset, data);
        for (auto next = later_.begin(); next != later_.end() && next->first <= whole_.size(); next = later_.begin()) {
            append(next->first, next->second);
            beyond_ -= next->second.size();
            later_.erase(next);
        }
    }

  private:
    void append(u64 offset, View data) {
        std::size_t known = whole_.size() - std::size_t(offset);
        if (known < data.size()) whole_.append(data.substr(known));
    }

    Bytes whole_;
    std::map<u64, Bytes> later_;  // beyond the gap, by offset
    std::size_t beyond_ = 0;      // bytes of these
};

}  // namespace score
