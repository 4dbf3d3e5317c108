#include "lithe/server/protocol.hpp"

#include <random>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/server/recording.hpp"

namespace lithe {
namespace {

using Json = nlohmann::json;

/// A value that the rule allows.
Json example(const Json& rule)
{
    const std::string type = rule["type"];
    if (type == "number") return 0.5 * (rule["min"].get<double>() + rule["max"].get<double>());
    if (type == "integer") return rule["min"];
    if (type == "boolean") return true;
    if (type == "point") return Json{1.0, 2.0, 3.0};
    return "drop";
}

Json example_command(const std::string& name)
{
    Json out = {{"do", name}};
    for (const auto& [field, rule] : protocol()["commands"][name].items()) out[field] = example(rule);
    return out;
}

TEST(Protocol, NumbersAreThoseOfTheDescription)
{
    const Json& binary = protocol()["binary"];
    EXPECT_EQ(binary["kinds"], (Json{{"frame", 1}, {"body", 2}, {"overlays", 3}}));
    EXPECT_EQ(static_cast<int>(BinaryKind::Frame), binary["kinds"]["frame"]);
    EXPECT_EQ(static_cast<int>(BinaryKind::Body), binary["kinds"]["body"]);
    EXPECT_EQ(static_cast<int>(BinaryKind::Overlays), binary["kinds"]["overlays"]);
    EXPECT_EQ(static_cast<int>(BodyForm::Rigid), binary["forms"]["rigid"]);
    EXPECT_EQ(static_cast<int>(BodyForm::Bones), binary["forms"]["bones"]);
    EXPECT_EQ(static_cast<int>(BodyForm::Positions), binary["forms"]["positions"]);
}

TEST(Protocol, TakesEveryCommand)
{
    for (const auto& [name, rules] : protocol()["commands"].items()) {
        const Command command = parse_command(example_command(name).dump());
        EXPECT_EQ(command.name, name);
        EXPECT_EQ(command.fields.size(), rules.size());
    }
    EXPECT_EQ(parse_command(R"({"do":"drag","target":[1,-2,0.5]})").point("target"), Vec3(1, -2, 0.5));
}

TEST(Protocol, RefusesEveryFaultOfEveryCommand)
{
    for (const auto& [name, rules] : protocol()["commands"].items()) {
        Json more = example_command(name);
        more["surplus"] = 1;
        EXPECT_THROW((void)parse_command(more.dump()), InputError) << name;
        for (const auto& [field, rule] : rules.items()) {
            Json without = example_command(name);
            without.erase(field);
            EXPECT_THROW((void)parse_command(without.dump()), InputError) << name << ' ' << field;
            std::vector<Json> wrong = {nullptr, Json::object(), Json::array(), Json{1, 2, "x"},
                                       Json{1e300, 0, 0}};
            if (rule["type"] != "boolean") wrong.push_back(true);
            if (rule["type"] != "text") wrong.push_back("text");
            if (rule.contains("min") && rule["type"] != "text") {
                wrong.push_back(rule["min"].get<double>() - 1.0);
                wrong.push_back(rule["max"].get<double>() + 1.0);
            }
            if (rule["type"] == "integer") wrong.push_back(1.5);
            if (rule["type"] == "text") wrong.push_back(std::string(1000, 'a'));
            for (const Json& value : wrong) {
                Json bad = example_command(name);
                bad[field] = value;
                EXPECT_THROW((void)parse_command(bad.dump()), InputError) << bad.dump();
            }
        }
    }
}

TEST(Protocol, RefusesWhatIsNoCommand)
{
    for (const char* text : {"", "{", "[]", "null", "1", "\"play\"", "{}", "{\"do\":1}", "{\"do\":\"\"}",
                             "{\"do\":\"stop\"}", "\xff\xfe"})
        EXPECT_THROW((void)parse_command(text), InputError) << text;
    EXPECT_THROW((void)parse_command(std::string(100'000, '[')), InputError);
    EXPECT_THROW((void)parse_command("{\"do\":\"play\"}" + std::string(20'000, ' ')), InputError);
}

/// Bytes at random, and commands with bytes changed, cut out and put in: none may do anything but pass or be refused.
TEST(Protocol, TenThousandMalformedMessages)
{
    std::mt19937 random(7);
    std::vector<std::string> seeds;
    for (const auto& [name, rules] : protocol()["commands"].items())
        seeds.push_back(example_command(name).dump());
    int refused = 0;
    for (int k = 0; k < 10'000; ++k) {
        std::string text = seeds[random() % seeds.size()];
        if (k % 4 == 0) {
            text.resize(random() % 300);
            for (char& c : text) c = static_cast<char>(random());
        }
        for (unsigned edits = 1 + random() % 4; edits > 0 && !text.empty(); --edits) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
            case 0:
                text[at] = static_cast<char>(random());
                break;
            case 1:
                text.erase(at, 1 + random() % 5);
                break;
            case 2:
                text.insert(at, std::string(1 + random() % 3, "[]{}\",:0e9-"[random() % 11]));
                break;
            default:
                text += text.substr(at);
                break;
            }
        }
        try {
            (void)parse_command(text);
        } catch (const InputError&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 8'000);
}

TEST(Recording, KeepsTheLastFramesWithinItsBytes)
{
    Recording recording(1000);
    for (std::uint32_t k = 0; k < 50; ++k)
        recording.add(10 + k, std::make_shared<const std::string>(100, static_cast<char>(k)), {});
    EXPECT_EQ(recording.size(), 10u);
    EXPECT_EQ(recording.bytes(), 1000u);
    EXPECT_EQ(recording.first(), 50u);
    EXPECT_FALSE(recording.find(49));
    EXPECT_FALSE(recording.find(60));
    EXPECT_FALSE(recording.find(-1));
    ASSERT_TRUE(recording.find(55));
    EXPECT_EQ(recording.find(55)->front(), 45);
    recording.add(60, std::make_shared<const std::string>(5000, 'x'),
                  {}); // one frame beyond the limit is still shown
    EXPECT_EQ(recording.size(), 1u);
}

TEST(Recording, KeepsStatesWithinAsManyBytesAndForgetsTheFuture)
{
    Recording recording(1000);
    const auto add = [&](std::uint32_t number) {
        recording.add(number, std::make_shared<const std::string>(50, 'f'), std::string(250, 's'));
    };
    for (std::uint32_t k = 0; k < 30; ++k) add(k);
    EXPECT_EQ(recording.size(), 20u);
    EXPECT_EQ(recording.bytes(), 2000u);
    EXPECT_FALSE(recording.state(25)); // there to look at only
    EXPECT_TRUE(recording.find(25));
    ASSERT_TRUE(recording.state(26));
    recording.forget_after(27);
    EXPECT_EQ(recording.bytes(), 18u * 50u + 2u * 250u);
    EXPECT_FALSE(recording.find(28));
    ASSERT_TRUE(recording.state(27));
    for (std::uint32_t k = 28; k < 30; ++k) add(k);
    EXPECT_TRUE(recording.state(26) && recording.state(29));
    recording.forget_after(20); // all that have a state
    add(21);
    EXPECT_FALSE(recording.state(20));
    EXPECT_TRUE(recording.state(21));
}

} // namespace
} // namespace lithe
