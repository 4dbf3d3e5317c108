#include <map>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "lithe/core/id.hpp"

using namespace lithe;

namespace {

using NameId = Id<struct NameTag>;
using OtherId = Id<struct OtherTag>;
using Names = IdMap<NameTag, std::string>;

static_assert(!std::is_convertible_v<NameId, OtherId>);
static_assert(!std::equality_comparable_with<NameId, OtherId>);

} // namespace

TEST(Id, ADefaultIdIsNone)
{
    EXPECT_FALSE(NameId{}.valid());
    EXPECT_TRUE((NameId{0, 0}.valid()));
    EXPECT_FALSE(Names{}.contains(NameId{}));
}

TEST(Id, ADeadIdIsNotTakenForWhatCameAfterIt)
{
    Names names;
    const NameId first = names.insert("first");
    names.erase(first);
    const NameId second = names.insert("second");
    EXPECT_EQ(second.index, first.index); // the slot is used again
    EXPECT_NE(second, first);
    EXPECT_FALSE(names.contains(first));
    EXPECT_EQ(names[second], "second");
    EXPECT_EQ(names.size(), 1u);
}

TEST(IdDeathTest, ADeadIdIsRefused)
{
    Names names;
    const NameId id = names.insert("a");
    names.erase(id);
    EXPECT_DEATH((void)names[id], "contains");
    EXPECT_DEATH(names.erase(id), "contains");
}

TEST(Id, ForEachGoesInTheOrderOfSlots)
{
    Names names;
    const NameId a = names.insert("a");
    names.insert("b");
    names.insert("c");
    names.erase(a);
    std::string all;
    names.for_each([&](NameId id, const std::string& name) {
        EXPECT_TRUE(names.contains(id));
        all += name;
    });
    EXPECT_EQ(all, "bc");
}

/// Against a std::map that never forgets: any sequence of inserts and erasures.
RC_GTEST_PROP(Id, BehavesLikeAMapOfEverythingEverInserted, (const std::vector<int>& actions))
{
    IdMap<NameTag, int> map;
    std::vector<std::pair<NameId, int>> living, dead;
    for (const int action : actions) {
        if (action % 3 != 0 || living.empty()) {
            living.emplace_back(map.insert(action), action);
        } else {
            const auto which = living.begin() + std::abs(action / 3) % static_cast<int>(living.size());
            map.erase(which->first);
            dead.push_back(*which);
            living.erase(which);
        }
    }
    RC_ASSERT(map.size() == living.size());
    for (const auto& [id, value] : living) RC_ASSERT(map.contains(id) && map[id] == value);
    for (const auto& [id, value] : dead) RC_ASSERT(!map.contains(id));
}
