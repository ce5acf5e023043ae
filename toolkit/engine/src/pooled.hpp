// Memory for what every test makes and drops some of, one object at a time: kept in a list of its own and used again.
// The C library's allocator keeps seven of a size at hand, and a test needs more. It is never given back: what was once
// in use at the same time will be again. There is one thread (Python's lock is held).
#pragma once

#include <cstddef>
#include <new>

namespace score {

// An allocator (C++17, [allocator.requirements]). Several at once, as tables want, come from the C++ library.
template <class T> class Pooled {
  public:
    using value_type = T;

    Pooled() = default;
    template <class Other> Pooled(const Pooled<Other> &) {}

    T *allocate(std::size_t count) {
        if (!IS_KEPT || count != 1) return static_cast<T *>(::operator new(count * sizeof(T)));
        if (!free_) refill();
        Place *taken = free_;
        free_ = taken->next;
        return reinterpret_cast<T *>(taken);
    }
    void deallocate(T *at, std::size_t count) noexcept {
        if (!IS_KEPT || count != 1) return ::operator delete(at);
        auto *place = reinterpret_cast<Place *>(at);
        place->next = free_;
        free_ = place;
    }

    friend bool operator==(const Pooled &, const Pooled &) { return true; }
    friend bool operator!=(const Pooled &, const Pooled &) { return false; }

  private:
#ifdef __SANITIZE_ADDRESS__  // which sees a use of what was dropped
    static constexpr bool IS_KEPT = false;
#else
    static constexpr bool IS_KEPT = true;
#endif
    static constexpr std::size_t AT_ONCE = 64;

    union Place {
        Place *next;
        alignas(T) unsigned char bytes[sizeof(T)];
    };

    static void refill() {
        auto *places = static_cast<Place *>(::operator new(AT_ONCE * sizeof(Place)));
        for (std::size_t i = 0; i < AT_ONCE; ++i) places[i].next = i + 1 < AT_ONCE ? &places[i + 1] : nullptr;
        free_ = places;
    }

    static inline Place *free_ = nullptr;
};

}  // namespace score
