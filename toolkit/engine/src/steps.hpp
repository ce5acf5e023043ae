// One step per kind of event: decode its body, apply it. Compiled when the head of an event is first seen.
//
// A head is a site and a direction, so all that can be known from the site table is decided once: places, widths,
// labels, whether an address is sent. What is left runs at every event.
#pragma once

#include <algorithm>

#include "access.hpp"
#include "leaves.hpp"

namespace score {

class Steps {
  public:
    Steps(const SiteSource &sites, Decoded &decoded, Branches &branches, Concrete &concrete, Access &access,
          Programs &programs, std::size_t kept)
        : sites_(sites), decoded_(decoded), cursor_(decoded.cursor), mirror_(decoded.mirror), branches_(branches),
          concrete_(concrete), access_(access), programs_(programs), kept_(kept) {}

    // The next event's body, whose head was read. TraceFault or NotMirrored if it makes no sense.
    void run(u128 head);

    std::size_t remembered() const { return std::max(conditions_.size(), links_.size()); }

  private:
    struct Step {
        void (Steps::*run)(const Step &);
        const Site *site;
        unsigned direction;
        const Program *program;
        Mask mask;
        const char *symbolic, *opaque;  // notes
    };

    Step compile(u128 head);
    Step reserved(u128 head) const;
    Step compiled(const Site &site, unsigned direction);
    void compile_leaves(Step &step) const;

    Leaves leaves(const Step &step);
    Leaves leaves(const Site &site, Mask mask);
    void put(const Site &site, Ref value);

    void frame(const Step &);
    void untaint(const Step &);
    void loss(const Step &step);
    void assign(const Step &step);
    void call(const Step &step);
    void result(const Step &step);
    void opaque(const Step &step);
    void numbers(const Step &step);
    bool is_open(const Site &call) const;
    void copy(const Step &step);
    void variadic(const Step &step);
    void pin_of_nothing(const Step &step);
    void pin(const Step &step);
    void symbolic(const Step &step);
    void condition(const Step &step);
    void range(const Step &step);
    void bounds(const Step &step);
    void astray(const Site &site, Id address, Id size, u64 base, u128 length);
    void sized(const Step &step);
    void switched(const Step &step);
    void select(const Step &step);
    void store(const Step &step);

    u64 told_site();
    bool compare(const Step &step, const Leaves &leaves);

    struct Link {  // a label of a switch: the value is not in it, the value is
        Ref passed, inside;
    };
    const std::vector<Link> &chain(const Site &site, const Ref &value);

    const SiteSource &sites_;
    Decoded &decoded_;
    Cursor &cursor_;
    Mirror &mirror_;
    Branches &branches_;
    Concrete &concrete_;
    Access &access_;
    Programs &programs_;
    std::size_t kept_;
    LeafReader leaves_{cursor_, mirror_};
    Leaves read_, said_;  // of the condition in work: vectors whose memory is used again and again
    std::vector<Outcome> path_;  // of a switch
    std::unordered_map<u64, Step> compiled_;  // by the head of the event
    // Runs meet the same conditions again and again: by the event's head and the leaves it read.
    Remembered<Ref> conditions_;
    Remembered<std::vector<Link>> links_;
};

}  // namespace score
