// The trail: the decoded path of the last run, rolled back to where a new trace first differs and extended from there.
//
// Consecutive tests share long prefixes, so work is done for the rest only: a checkpoint stands before every branch
// event. Formulas do not depend on the input's values, so equal events have equal formulas; what does depend on them
// (operands of branches, values of pins) is computed again where a changed input byte reaches it.
//
// Each condition is evaluated under the run's own input and compared with what the target did. Where they disagree (a
// *divergence*) the mirror no longer describes the run, so the path is cut there.
#pragma once

#include "operands.hpp"
#include "steps.hpp"

namespace score {

// Who goes along the path.
struct Listener {
    // A new condition, before later ones are decoded. What it throws ends the decoding.
    virtual void reached(std::size_t index, const ConditionPtr &condition) = 0;
    // The path has these many conditions, pins and objects again; what was told of others is void.
    virtual void cut(std::size_t conditions, std::size_t pins, std::size_t objects) = 0;
    virtual void tick() = 0;  // now and then, while events are decoded

  protected:
    ~Listener() = default;
};

class Trail final : private Branches {
  public:
    struct Settings {
        unsigned pointer_bits;
        bool verify;
        Forks forks;
        std::size_t kept;  // results of each kind that are remembered
    };

    Trail(const Settings &settings, SiteSource sites, ConstantSource &constants, Pointers &pointers,
          Listener &listener);
    Trail(const Trail &) = delete;

    void clear();  // the state before the first event
    // Go back to the last branch event that a run with this stream and input shares, within `limit` conditions; returns
    // the number of conditions kept. Both are the caller's, who keeps them until the next call, and the last ones
    // during it.
    std::size_t rewind(Input events, Input data, u64 limit);
    // Decode the rest of the stream. TraceFault if it makes no sense: then the trail is empty. What the listener throws
    // ends it: the trail is before the event of the condition that was reached.
    void extend();
    // The site whose event holds this byte of the stream.
    u64 site_at(Input events, Input data, u64 offset);
    // How many bytes of a stream that breaks off or was damaged are whole events that make sense, from its first on.
    std::size_t sound(Input events, Input data);

    std::size_t remembered() const;
    const Decoded &decoded() const { return decoded_; }
    u32 operand_hash() const { return operands_.hash(); }

    Path conditions;
    u64 diverged = 0;  // the site where the path was cut, or 0
    Range diverged_elsewhere;  // coverage indices that could not be asked for there
    u64 last_site = 0;  // of the last event that was decoded; 0: there was none
    u64 counted = 0;  // conditions that the target counts, too
    bool nothing_there = false;  // what `sound` stopped at reads where the image has nothing

  private:
    struct Branch {  // the state before a branch event
        Checkpoint point;
        Lanes lanes;
        u64 counted;
        std::size_t start, first;  // its first byte, and the number of conditions before it
    };

    bool on_branch(const Site &site, const Leaves &operands, const Outcome *outcomes, std::size_t count) override;
    bool says_numbers(const Site &site, Id held);
    void return_to(std::size_t branch);
    std::ptrdiff_t shared_branches(Input events, u64 limit) const;
    std::ptrdiff_t still_true(std::ptrdiff_t kept, const Deps &changed);
    u64 decode(u64 end);

    SiteSource sites_;
    Listener &listener_;
    Decoded decoded_;
    Concrete concrete_;
    Programs programs_;
    Pointers &pointers_;
    Access access_;
    Steps steps_;
    Operands operands_;
    std::vector<Branch> branches_;
    Lanes lanes_;
    std::size_t event_ = 0;  // first byte of the event being decoded
    u64 address_ = 0;        // and the last address before it
};

}  // namespace score
