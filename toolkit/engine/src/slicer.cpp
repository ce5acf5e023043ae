#include "slicer.hpp"

#include <algorithm>

#include "build.hpp"
#include "columns.hpp"
#include "excluded.hpp"

namespace score {

bool Slice::operator==(const Slice &other) const {
    return several.size() == other.several.size() && sets == other.sets;
}

void Slicer::add(Id condition) {
    const Node &node = score::node(condition);
    if (node.only_byte >= 0) {
        Change change;
        change.index = u32(node.only_byte);
        const ByteSet &holds = byte_set(condition);
        auto [place, is_new] = sets_.try_emplace(change.index, holds);
        if (!is_new) {
            change.had = true, change.before = place->second;
            for (unsigned i = 0; i < 4; ++i) place->second[i] &= holds[i];
        }
        path_.emplace_back(condition);
        changes_.push_back(std::move(change));
    } else if (node.deps && known_.insert(condition).second) {
        path_.emplace_back(condition);
        join(condition);
    }
}

// Put it into the largest of the groups it touches, and the others with it.
void Slicer::join(Id condition) {
    const Deps &deps = node(condition).deps;
    std::vector<GroupPtr> touching = touched(deps);
    auto largest = std::max_element(touching.begin(), touching.end(), [](const GroupPtr &a, const GroupPtr &b) {
        return a->conditions.size() < b->conditions.size();
    });
    GroupPtr group = largest == touching.end() ? std::make_shared<Group>() : *largest;
    auto merge = std::make_unique<Merge>(Merge{group, group->deps, group->conditions.size(), {}});
    Deps all = Deps::both(group->deps, deps);
    for (const GroupPtr &other : touching) {
        if (other == group) continue;
        group->conditions.insert(group->conditions.end(), other->conditions.begin(), other->conditions.end());
        for (u32 index : other->deps.indices()) merge->moved.emplace_back(index, other);
        all = Deps::both(all, other->deps);
    }
    for (u32 index : deps.indices())
        if (!group_of_.count(index)) merge->moved.emplace_back(index, nullptr);
    for (const auto &[index, before] : merge->moved) group_of_[index] = group;
    group->deps = std::move(all);
    group->conditions.push_back(condition);
    changes_.push_back({std::move(merge)});
}

std::vector<Slicer::GroupPtr> Slicer::touched(const Deps &deps) const {
    std::vector<GroupPtr> found;
    ++turn_;
    for (u32 index : deps.indices()) {
        auto group = group_of_.find(index);
        if (group == group_of_.end() || group->second->seen == turn_) continue;
        group->second->seen = turn_;
        found.push_back(group->second);
    }
    return found;
}

void Slicer::undo(std::size_t mark) {
    while (changes_.size() > mark) {
        Change &change = changes_.back();
        if (const Merge *merge = change.merge.get()) {
            Group &group = *merge->group;
            known_.erase(group.conditions.back());
            group.conditions.resize(merge->size);
            group.deps = merge->deps;
            for (const auto &[index, before] : merge->moved) {
                if (before)
                    group_of_[index] = before;
                else
                    group_of_.erase(index);
            }
        } else if (change.had) {
            sets_[change.index] = change.before;
        } else {
            sets_.erase(change.index);
        }
        changes_.pop_back();
    }
    if (path_.size() > mark) path_.erase(path_.begin() + std::ptrdiff_t(mark), path_.end());
}

std::size_t Slicer::weight(Id target) const {
    std::size_t found = 0;
    for (const GroupPtr &group : touched(node(target).deps)) found += group->conditions.size();
    return found;
}

bool Slicer::excludes(Id target, std::size_t most) const {
    if (known_.count(bit_not(target))) return true;
    static const std::vector<Id> none;
    const std::vector<u32> indices = node(target).deps.indices();
    auto found = indices.empty() ? group_of_.end() : group_of_.find(indices.front());
    bool is_looked_at = found != group_of_.end() && found->second->conditions.size() <= most;
    return is_excluded(target, is_looked_at ? found->second->conditions : none);
}

Deps Slicer::reach(Id target) const {
    Deps deps = node(target).deps;
    for (const GroupPtr &group : touched(deps)) deps = Deps::both(deps, group->deps);
    return deps;
}

Slice Slicer::slice(Id target) const {
    Slice found;
    Deps deps = node(target).deps;
    for (const GroupPtr &group : touched(deps)) {
        deps = Deps::both(deps, group->deps);
        found.several.insert(found.several.end(), group->conditions.begin(), group->conditions.end());
    }
    for (u32 index : deps.indices())
        if (const ByteSet *left = values(index)) found.sets.emplace_back(index, *left);
    return found;
}

const ByteSet *Slicer::values(u32 index) const {
    auto found = sets_.find(index);
    return found == sets_.end() ? nullptr : &found->second;
}

}  // namespace score
