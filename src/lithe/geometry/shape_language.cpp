#include "lithe/geometry/shape_language.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/suggest.hpp"

namespace lithe {
namespace {

// What a text may ask for, so that no text costs more than a moment. Real shapes stay a hundred times below.
constexpr std::size_t max_text = 1 << 20;
constexpr std::size_t max_parts = 4096;
constexpr std::size_t max_joints = 2048;
constexpr int max_joint_depth = 200;
constexpr int max_statements = 20000; ///< after all repetition
constexpr std::size_t max_block_depth = 4;
constexpr int max_expression_depth = 32;
constexpr int max_copies = 256;
constexpr double max_number = 1e6;
constexpr std::size_t max_name = 64;

constexpr double degree = 3.14159265358979323846 / 180.0;

struct Line {
    int number;
    std::vector<std::string_view> words;
};

std::vector<Line> split_lines(std::string_view text)
{
    std::vector<Line> lines;
    int number = 0;
    while (!text.empty()) {
        ++number;
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        line = line.substr(0, line.find('#'));
        Line result{number, {}};
        constexpr std::string_view space = " \t\r\f\v";
        for (std::size_t at = line.find_first_not_of(space); at != line.npos;
             at = line.find_first_not_of(space, at)) {
            const std::size_t stop = std::min(line.find_first_of(space, at), line.size());
            result.words.push_back(line.substr(at, stop - at));
            at = stop;
        }
        if (!result.words.empty()) lines.push_back(std::move(result));
    }
    return lines;
}

/// One of the copies that a mirror or a repeat makes of its lines.
struct Copy {
    Mat3 turn = Mat3::Identity(); ///< applied to every offset written inside
    std::string suffix;           ///< of the names made inside
    bool star = false;            ///< a * in the name takes the number instead
};

/// What may follow the first word of joint, ball and cone.
struct Attributes {
    std::optional<std::string_view> of, color;
    std::optional<Vec3> at, from, to, squash;
    std::optional<double> radius_a, radius_b, blend;
};

/// A named number; inner ones hide outer ones.
struct Constant {
    std::string name;
    double value;
};

/// Runs the lines one after the other, building the model.
class Interpreter {
public:
    Interpreter(std::vector<Line> lines, std::filesystem::path file)
        : lines_(std::move(lines)), file_(std::move(file))
    {
    }

    ShapeModel run()
    {
        run_lines(0, lines_.size());
        if (model_.parts.empty())
            throw InputError(
                {file_},
                "the shape has no flesh; begin with a line such as 'joint body at 0 0 0 radius 0.1'");
        return std::move(model_);
    }

private:
    // -- lines and blocks
    void run_lines(std::size_t begin, std::size_t end);
    std::size_t end_of_block(std::size_t begin, std::size_t end) const;
    void run_block(std::size_t begin, std::size_t end);
    std::vector<Copy> copies_of(const Line& line);

    // -- statements
    void let(const Line& line);
    void define_color(const Line& line);
    void joint(const Line& line);
    void ball(const Line& line);
    void cone(const Line& line);

    // -- pieces of statements
    Attributes attributes(std::size_t begin, const std::vector<std::string>& allowed);
    Vec3 vector(std::size_t& word);
    double number(std::string_view text, std::string_view meaning);
    double length(std::string_view text, std::string_view meaning, double lo);
    double expression(std::string_view& text, int depth);
    double product(std::string_view& text, int depth);
    double factor(std::string_view& text, int depth);
    double named_value(std::string_view& text, int depth);
    std::string checked_name(std::string_view name) const;
    std::string full_name(std::string_view name, std::size_t depth) const;
    int find_joint(std::string_view name) const;
    int parent_of(const Attributes& a) const;
    ShapePart new_part(int joint, const Attributes& a) const;
    void add_part(const ShapePart& part);
    Vec3 turned(const Vec3& offset) const;
    [[noreturn]] void fail(const std::string& what) const { throw InputError({file_, line_->number}, what); }

    std::vector<Line> lines_;
    std::filesystem::path file_;
    const Line* line_ = nullptr; ///< that is being run
    int statements_ = 0;
    std::vector<Copy> copies_; ///< outermost first
    std::vector<Constant> constants_;
    std::size_t scope_begin_ = 0; ///< of constants_: those of the innermost block
    std::map<std::string, Vec3, std::less<>> colors_;
    std::map<std::string, int, std::less<>> joint_index_;
    std::vector<Vec3> joint_color_;
    std::vector<int> joint_depth_;
    ShapeModel model_;
};

const std::vector<std::string> statement_words = {"joint", "ball",   "cone",   "let",
                                                  "color", "mirror", "repeat", "end"};

void Interpreter::run_lines(std::size_t begin, std::size_t end)
{
    for (std::size_t i = begin; i < end; ++i) {
        line_ = &lines_[i];
        const std::string_view word = line_->words[0];
        if (++statements_ > max_statements)
            fail(fmt::format("the repeats make more than {} statements; use fewer copies", max_statements));
        if (word == "joint")
            joint(*line_);
        else if (word == "ball")
            ball(*line_);
        else if (word == "cone")
            cone(*line_);
        else if (word == "let")
            let(*line_);
        else if (word == "color")
            define_color(*line_);
        else if (word == "mirror" || word == "repeat") {
            const std::size_t stop = end_of_block(i, end);
            run_block(i, stop);
            i = stop;
        } else if (word == "end")
            fail("'end' without a 'mirror' or 'repeat' before it; remove it");
        else
            fail(fmt::format("'{}' is not a statement{}; lines begin with {}", word,
                             did_you_mean(word, statement_words), fmt::join(statement_words, ", ")));
    }
}

/// The line of the `end` that closes the block that begins at `begin`.
std::size_t Interpreter::end_of_block(std::size_t begin, std::size_t end) const
{
    int depth = 0;
    for (std::size_t i = begin; i < end; ++i) {
        const std::string_view word = lines_[i].words[0];
        if (word == "mirror" || word == "repeat") ++depth;
        if (word == "end" && --depth == 0) return i;
    }
    fail(fmt::format("this '{}' is not closed; write 'end' after its last line", lines_[begin].words[0]));
}

void Interpreter::run_block(std::size_t begin, std::size_t end)
{
    if (copies_.size() >= max_block_depth)
        fail(fmt::format("blocks are nested deeper than {}", max_block_depth));
    if (lines_[end].words.size() > 1) {
        line_ = &lines_[end];
        fail("nothing may follow 'end' on its line");
    }
    const std::vector<Copy> copies = copies_of(lines_[begin]);
    const std::size_t outer_scope = scope_begin_;
    for (std::size_t c = 0; c < copies.size(); ++c) {
        scope_begin_ = constants_.size();
        if (copies.front().star) constants_.push_back({"copy", static_cast<double>(c + 1)});
        copies_.push_back(copies[c]);
        run_lines(begin + 1, end);
        copies_.pop_back();
        constants_.resize(scope_begin_);
    }
    scope_begin_ = outer_scope;
}

/// mirror
/// repeat COUNT [around x|y|z [by DEGREES]]
std::vector<Copy> Interpreter::copies_of(const Line& line)
{
    const auto& words = line.words;
    if (words[0] == "mirror") {
        if (words.size() > 1)
            fail("'mirror' stands alone on its line: it makes a left (+x) and a right (-x) copy");
        for (const Copy& outer : copies_)
            if (!outer.star)
                fail("a mirror inside a mirror would make the same names twice; close the outer one first");
        return {{Mat3::Identity(), "_l", false}, {Vec3(-1, 1, 1).asDiagonal(), "_r", false}};
    }
    const bool around = words.size() >= 4 && words[2] == "around" && words[3].size() == 1 &&
                        words[3][0] >= 'x' && words[3][0] <= 'z';
    const bool by = around && words.size() == 6 && words[4] == "by";
    if (words.size() != 2 && !(around && words.size() == 4) && !by)
        fail("write 'repeat COUNT', 'repeat COUNT around x' (or y, or z), or 'repeat COUNT around x by "
             "DEGREES'");
    const double count = number(words[1], "the count of a repeat");
    if (count != std::floor(count) || count < 1 || count > max_copies)
        fail(fmt::format("a repeat makes 1 to {} copies, not {}", max_copies, words[1]));
    const double step = by ? number(words[5], "the angle of a repeat") : around ? 360.0 / count : 0.0;
    const Vec3 axis = Vec3::Unit(around ? words[3][0] - 'x' : 0);
    std::vector<Copy> copies;
    for (int c = 0; c < static_cast<int>(count); ++c)
        copies.push_back(
            {Eigen::AngleAxisd(c * step * degree, axis).toRotationMatrix(), std::to_string(c + 1), true});
    return copies;
}

/// let NAME = EXPRESSION
void Interpreter::let(const Line& line)
{
    if (line.words.size() < 4 || line.words[2] != "=")
        fail("write 'let NAME = VALUE', as in 'let arm = 0.3'");
    const std::string name = checked_name(line.words[1]);
    for (std::size_t i = scope_begin_; i < constants_.size(); ++i)
        if (constants_[i].name == name) fail(fmt::format("'{}' is set already; choose another name", name));
    std::string text;
    for (std::size_t w = 3; w < line.words.size(); ++w) (text += line.words[w]) += ' ';
    constants_.push_back({name, number(text, name)});
}

/// color NAME = RED GREEN BLUE
void Interpreter::define_color(const Line& line)
{
    if (line.words.size() != 6 || line.words[2] != "=")
        fail("write 'color NAME = RED GREEN BLUE' with each between 0 and 1, as in 'color leaf = 0.3 0.6 "
             "0.2'");
    std::size_t word = 2;
    const Vec3 value = vector(word);
    if (value.minCoeff() < 0.0 || value.maxCoeff() > 1.0) fail("red, green and blue lie between 0 and 1");
    colors_[checked_name(line.words[1])] = value;
}

/// joint NAME [of PARENT] at X Y Z [radius R | radius R0 to R1] [blend K] [squash X Y Z] [color C]
void Interpreter::joint(const Line& line)
{
    if (line.words.size() < 2) fail("a joint needs a name: 'joint NAME of PARENT at X Y Z radius R'");
    const std::string name = full_name(checked_name(line.words[1]), copies_.size());
    if (name.find('*') != name.npos)
        fail("a '*' in a name takes the number of a copy and belongs inside a 'repeat'");
    if (joint_index_.contains(name))
        fail(fmt::format("there is a joint '{}' already; choose another name", name));
    const Attributes a = attributes(2, {"of", "at", "radius", "blend", "squash", "color"});
    if (!a.at)
        fail(fmt::format("joint '{}' has no place; add 'at X Y Z' (from its parent, in metres)", name));
    if (model_.joints.size() == max_joints)
        fail(fmt::format("more than {} joints; use fewer copies", max_joints));

    ShapeJoint joint{name, a.of ? parent_of(a) : -1, turned(*a.at), a.radius_b.value_or(0.0), 0.0};
    const int index = static_cast<int>(model_.joints.size());
    const int depth = joint.parent < 0 ? 0 : joint_depth_[joint.parent] + 1;
    if (depth > max_joint_depth) fail(fmt::format("a chain of more than {} joints", max_joint_depth));
    if (joint.parent >= 0) {
        joint.position += model_.joints[joint.parent].position;
        joint.blend = model_.joints[joint.parent].blend;
    } else {
        joint.blend = 0.5 * joint.radius;
    }
    joint.blend = a.blend.value_or(joint.blend);

    Vec3 color = joint.parent < 0 ? ShapePart().color : joint_color_[joint.parent];
    if (a.color) color = colors_.find(*a.color)->second;
    joint_index_[name] = index;
    joint_color_.push_back(color);
    joint_depth_.push_back(depth);
    model_.joints.push_back(joint);
    if (!a.radius_b) {
        if (a.squash) fail(fmt::format("joint '{}' has no flesh to squash; add 'radius R'", name));
        return;
    }
    ShapePart part = new_part(index, a);
    part.b = joint.position;
    part.a = joint.parent < 0 ? joint.position : model_.joints[joint.parent].position;
    const double parent_radius = joint.parent < 0 ? 0.0 : model_.joints[joint.parent].radius;
    part.radius_a = a.radius_a ? *a.radius_a : parent_radius > 0.0 ? parent_radius : joint.radius;
    part.radius_b = joint.radius;
    add_part(part);
}

/// ball of JOINT at X Y Z radius R [blend K] [squash X Y Z] [color C]
void Interpreter::ball(const Line&)
{
    const Attributes a = attributes(1, {"of", "at", "radius", "blend", "squash", "color"});
    if (!a.of || !a.at || !a.radius_b) fail("write 'ball of JOINT at X Y Z radius R'");
    if (a.radius_a) fail("a ball has one radius; for two write a cone");
    const int joint = parent_of(a);
    ShapePart part = new_part(joint, a);
    part.a = part.b = model_.joints[joint].position + turned(*a.at);
    part.radius_a = part.radius_b = *a.radius_b;
    add_part(part);
}

/// cone of JOINT [from X Y Z] to X Y Z radius R [to R1] [blend K] [squash X Y Z] [color C]
void Interpreter::cone(const Line&)
{
    const Attributes a = attributes(1, {"of", "from", "to", "radius", "blend", "squash", "color"});
    if (!a.of || !a.to || !a.radius_b) fail("write 'cone of JOINT from X Y Z to X Y Z radius R0 to R1'");
    const int joint = parent_of(a);
    ShapePart part = new_part(joint, a);
    part.a = model_.joints[joint].position + turned(a.from.value_or(Vec3::Zero()));
    part.b = model_.joints[joint].position + turned(*a.to);
    part.radius_a = a.radius_a.value_or(*a.radius_b);
    part.radius_b = *a.radius_b;
    add_part(part);
}

Attributes Interpreter::attributes(std::size_t begin, const std::vector<std::string>& allowed)
{
    const auto& words = line_->words;
    Attributes a;
    const auto once = [&](const auto& slot, std::string_view word) {
        if (slot) fail(fmt::format("'{}' is given twice", word));
    };
    const auto following = [&](std::size_t& w) {
        if (++w >= words.size()) fail(fmt::format("'{}' needs a value after it", words[w - 1]));
        return words[w];
    };
    for (std::size_t w = begin; w < words.size(); ++w) {
        const std::string_view word = words[w];
        if (std::find(allowed.begin(), allowed.end(), word) == allowed.end())
            fail(fmt::format("'{}' is not understood here{}; a {} takes {}", word,
                             did_you_mean(word, allowed), words[0], fmt::join(allowed, ", ")));
        if (word == "of")
            once(a.of, word), a.of = following(w);
        else if (word == "at")
            once(a.at, word), a.at = vector(w);
        else if (word == "from")
            once(a.from, word), a.from = vector(w);
        else if (word == "to")
            once(a.to, word), a.to = vector(w);
        else if (word == "blend")
            once(a.blend, word), a.blend = length(following(w), "blend", 0.0);
        else if (word == "squash") {
            once(a.squash, word);
            a.squash = vector(w);
            if (a.squash->minCoeff() < 0.05 || a.squash->maxCoeff() > 20.0)
                fail("the factors of 'squash' lie between 0.05 and 20");
        } else if (word == "radius") {
            once(a.radius_b, word);
            a.radius_b = length(following(w), "radius", 1e-6);
            if (w + 2 < words.size() && words[w + 1] == "to") {
                w += 2;
                a.radius_a = std::exchange(a.radius_b, length(words[w], "radius", 1e-6));
            }
        } else {
            once(a.color, word);
            a.color = following(w);
            if (!colors_.contains(*a.color)) {
                std::vector<std::string> names;
                for (const auto& [name, value] : colors_) names.push_back(name);
                fail(
                    fmt::format("there is no color '{}'{}; define it before with 'color {} = RED GREEN BLUE'",
                                *a.color, did_you_mean(*a.color, names), *a.color));
            }
        }
    }
    return a;
}

/// Three numbers after words[word]; leaves `word` at the last of them.
Vec3 Interpreter::vector(std::size_t& word)
{
    const auto& words = line_->words;
    if (word + 3 >= words.size()) fail(fmt::format("'{}' needs three numbers after it: X Y Z", words[word]));
    Vec3 v;
    for (int k = 0; k < 3; ++k) v[k] = number(words[word + 1 + k], words[word]);
    word += 3;
    return v;
}

double Interpreter::number(std::string_view text, std::string_view meaning)
{
    std::string_view rest = text;
    const double value = expression(rest, 0);
    if (!rest.empty()) fail(fmt::format("'{}' is not a number: stopped before '{}'", text, rest));
    if (!(std::abs(value) <= max_number))
        fail(fmt::format("{} = {} is not between -{:g} and {:g}", meaning, text, max_number, max_number));
    return value;
}

double Interpreter::length(std::string_view text, std::string_view meaning, double lo)
{
    const double value = number(text, meaning);
    if (value < lo || value > 1e4)
        fail(fmt::format("{} = {:g} m must lie between {:g} and 10000", meaning, value, lo));
    return value;
}

void skip_space(std::string_view& text)
{
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

bool take(std::string_view& text, char c)
{
    skip_space(text);
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    skip_space(text);
    return true;
}

double Interpreter::expression(std::string_view& text, int depth)
{
    if (depth > max_expression_depth) fail("the expression is nested too deeply");
    double value = product(text, depth);
    for (;;) {
        if (take(text, '+'))
            value += product(text, depth);
        else if (take(text, '-'))
            value -= product(text, depth);
        else
            return value;
    }
}

double Interpreter::product(std::string_view& text, int depth)
{
    double value = factor(text, depth);
    for (;;) {
        if (take(text, '*'))
            value *= factor(text, depth);
        else if (take(text, '/'))
            value /= factor(text, depth);
        else
            return value;
    }
}

double Interpreter::factor(std::string_view& text, int depth)
{
    if (depth > max_expression_depth) fail("the expression is nested too deeply");
    if (take(text, '-')) return -factor(text, depth + 1);
    if (take(text, '(')) {
        const double value = expression(text, depth + 1);
        if (!take(text, ')')) fail("a ')' is missing");
        return value;
    }
    skip_space(text);
    if (text.empty()) fail("a number is missing");
    const char c = text.front();
    if ((c >= '0' && c <= '9') || c == '.') {
        double value = 0.0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc()) fail(fmt::format("'{}' is not a number", text));
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        skip_space(text);
        return value;
    }
    return named_value(text, depth);
}

/// A constant, or sin(...) or cos(...) of degrees.
double Interpreter::named_value(std::string_view& text, int depth)
{
    const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    const auto stop = std::find_if_not(text.begin(), text.end(), in_name);
    const std::string_view name = text.substr(0, static_cast<std::size_t>(stop - text.begin()));
    if (name.empty()) fail(fmt::format("'{}' is not a number", text));
    text.remove_prefix(name.size());
    skip_space(text);
    if (name == "sin" || name == "cos") {
        if (!take(text, '(')) fail(fmt::format("write {}(DEGREES)", name));
        const double angle = expression(text, depth + 1) * degree;
        if (!take(text, ')')) fail("a ')' is missing");
        return name == "sin" ? std::sin(angle) : std::cos(angle);
    }
    for (std::size_t i = constants_.size(); i-- > 0;)
        if (constants_[i].name == name) return constants_[i].value;
    std::vector<std::string> names;
    for (const Constant& constant : constants_) names.push_back(constant.name);
    fail(fmt::format("'{}' is not a number and no 'let' names it{}", name, did_you_mean(name, names)));
}

std::string Interpreter::checked_name(std::string_view name) const
{
    const auto allowed = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '*';
    };
    if (name.size() > max_name || !std::all_of(name.begin(), name.end(), allowed) ||
        std::isdigit(static_cast<unsigned char>(name[0])))
        fail(fmt::format("'{}' cannot be a name; use letters, digits and _, beginning with a letter",
                         name.substr(0, max_name)));
    return std::string(name);
}

/// The name that a joint written `name` has inside the `depth` outermost copies.
std::string Interpreter::full_name(std::string_view name, std::size_t depth) const
{
    std::string result(name);
    for (std::size_t i = depth; i-- > 0;) {
        const std::size_t star = copies_[i].star ? result.find('*') : result.npos;
        if (star != result.npos)
            result.replace(star, 1, copies_[i].suffix);
        else
            result += (copies_[i].star ? "_" : "") + copies_[i].suffix;
    }
    return result;
}

/// A joint of this copy, else of the copies around it, else of the whole.
int Interpreter::find_joint(std::string_view name) const
{
    for (std::size_t depth = copies_.size() + 1; depth-- > 0;)
        if (const auto found = joint_index_.find(full_name(name, depth)); found != joint_index_.end())
            return found->second;
    std::vector<std::string> names;
    for (const ShapeJoint& joint : model_.joints) names.push_back(joint.name);
    fail(fmt::format("there is no joint '{}' above this line{}", name.substr(0, max_name),
                     did_you_mean(name, names)));
}

int Interpreter::parent_of(const Attributes& a) const
{
    return find_joint(*a.of);
}

ShapePart Interpreter::new_part(int joint, const Attributes& a) const
{
    ShapePart part;
    part.joint = joint;
    part.color = a.color ? colors_.find(*a.color)->second : joint_color_[joint];
    part.blend = a.blend.value_or(model_.joints[joint].blend);
    part.squash = a.squash.value_or(Vec3::Ones());
    for (const Copy& copy : copies_) part.frame = part.frame * copy.turn;
    return part;
}

void Interpreter::add_part(const ShapePart& part)
{
    if (model_.parts.size() == max_parts)
        fail(fmt::format("more than {} parts; use fewer copies", max_parts));
    model_.parts.push_back(part);
}

Vec3 Interpreter::turned(const Vec3& offset) const
{
    Vec3 v = offset;
    for (std::size_t i = copies_.size(); i-- > 0;) v = copies_[i].turn * v;
    return v;
}

} // namespace

ShapeModel parse_shape(std::string_view text, const std::filesystem::path& name)
{
    if (text.size() > max_text)
        throw InputError({name}, fmt::format("{} bytes are too long for a shape; at most {} are read",
                                             text.size(), max_text));
    return Interpreter(split_lines(text), name).run();
}

ShapeModel read_shape(const std::filesystem::path& file)
{
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw InputError({file}, "cannot be opened; check the path");
    std::string text(max_text + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    return parse_shape(text, file);
}

std::string skeleton_text(const ShapeModel& model)
{
    std::string text = fmt::format(
        "# skel v1 (y-up). Per joint: index parent name  px py pz (joint origin in BIND pose, model "
        "space)  R(3x3 row-major bind orientation, columns normalised)\njoints {}\n",
        model.joints.size());
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
        const ShapeJoint& joint = model.joints[j];
        text += fmt::format("{} {} {}  {:.9g} {:.9g} {:.9g}  1 0 0 0 1 0 0 0 1\n", j, joint.parent,
                            joint.name, joint.position[0], joint.position[1], joint.position[2]);
    }
    return text;
}

} // namespace lithe
