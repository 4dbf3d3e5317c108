// VegaFEM's .veg: *VERTICES, *ELEMENTS, then sets of elements, materials, and regions that join a set to a material.
#include <algorithm>
#include <charconv>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "lithe/geometry/io/bytes.hpp"
#include "lithe/geometry/io/formats.hpp"
#include "lithe/geometry/io/mesh_builder.hpp"
#include "lithe/geometry/io/number_sink.hpp"

namespace lithe::io {
namespace {

constexpr TextStyle vega_style{.comment = '#', .separator = ','};
constexpr std::size_t deepest_include = 8;

std::string_view trimmed(std::string_view line)
{
    const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
    return line.substr(first, line.find_last_not_of(" \t") + 1 - first);
}

/// The words of a .veg file as if every *INCLUDE stood there in full.
class VegaWords {
public:
    VegaWords(std::string_view bytes, const Path& name, Includes includes) : includes_(includes)
    {
        files_.push_back(std::make_unique<File>(File{{}, TextScanner(bytes, name, vega_style)}));
    }

    TextScanner& scan() { return files_.back()->scan; }

    /// Moves to the next line that says something, into an included file or back out of one where need be.
    bool next_line()
    {
        while (true) {
            if (scan().at_end()) {
                if (files_.size() == 1) return false;
                files_.pop_back();
                continue;
            }
            if (lower_case(scan().peek()) != "*include") return true;
            (void)scan().word();
            include(Path(trimmed(scan().line())));
        }
    }
    /// The same where a line is needed.
    TextScanner& needed_line()
    {
        if (!next_line()) scan().fail("ends within a section; the file is cut short");
        return scan();
    }

private:
    struct File {
        std::string bytes;
        TextScanner scan;
    };

    void include(const Path& name)
    {
        if (includes_ == Includes::Refuse) scan().fail("*INCLUDE works only in a file on disk");
        if (name.empty()) scan().fail("*INCLUDE needs the name of a file");
        if (files_.size() > deepest_include)
            scan().fail(fmt::format("*INCLUDE goes more than {} files deep; does a file include itself?",
                                    deepest_include));
        if (++include_count_ > 1000)
            scan().fail("more than 1000 files are included; does a file include itself?");
        const Path path = scan().place().file.parent_path() / name;
        std::string bytes = read_bytes(path);
        auto file = std::make_unique<File>(File{std::move(bytes), TextScanner({}, path)});
        file->scan = TextScanner(file->bytes, path, vega_style);
        files_.push_back(std::move(file));
    }

    std::vector<std::unique_ptr<File>> files_;
    Includes includes_;
    int include_count_ = 0;
};

struct VegaReader {
    VegaWords words;
    MeshBuilder build{1};
    std::map<std::string, std::vector<std::int64_t>> sets; ///< element numbers as in the file
    std::vector<std::string> regions;                      ///< the set of each *REGION, in order
    std::int64_t first_element = 1;

    void vertices()
    {
        TextScanner& header = words.needed_line();
        const std::int64_t claimed = header.integer(), dimension = header.integer();
        if (dimension != 3) header.fail(fmt::format("has {} dimensions; only 3 are supported", dimension));
        header.line();
        for (std::int64_t v = 0; v < claimed; ++v) {
            TextScanner& scan = words.needed_line();
            const std::int64_t number = scan.integer();
            if (v == 0) build.count_from_0_or_1(number, scan);
            build.read_vertex(scan);
            scan.line();
        }
    }

    void elements()
    {
        const std::string kind = lower_case(words.needed_line().word());
        if (kind == "cubic")
            words.scan().fail("holds cubes (*ELEMENTS CUBIC); tetrahedra are needed: mesh its surface with "
                              "lithe mesh --tets");
        if (kind != "tet" && kind != "tets")
            words.scan().fail(fmt::format("{} is no kind of elements; TET is", in_quotes(kind)));
        TextScanner& header = words.needed_line();
        const std::int64_t claimed = header.integer(), corner_count = header.integer();
        if (corner_count != 4) header.fail(fmt::format("has {} corners per tet; 4 are needed", corner_count));
        header.line();
        for (std::int64_t t = 0; t < claimed; ++t) {
            TextScanner& scan = words.needed_line();
            const std::int64_t number = scan.integer();
            if (t == 0) first_element = number == 0 ? 0 : 1;
            std::array<int, 4> corners;
            for (int& corner : corners) corner = build.read_corner(scan);
            build.add_tet(corners);
            scan.line();
        }
    }

    bool in_section() { return words.next_line() && !words.scan().peek().starts_with('*'); }

    /// *SET name, then element numbers up to the next section
    void set(const std::string& name)
    {
        std::vector<std::int64_t>& members = sets[name];
        while (in_section()) members.push_back(words.scan().integer());
    }

    void section(const std::string& keyword)
    {
        const std::string name(words.scan().word_in_line());
        words.scan().line();
        if (keyword == "*vertices") return vertices();
        if (keyword == "*elements") return elements();
        if (keyword == "*set") return set(name);
        if (keyword == "*region" && in_section()) regions.emplace_back(words.scan().word());
        if (keyword != "*region" && keyword != "*material")
            build.skipped(fmt::format("section {}", in_quotes(keyword)));
        while (in_section()) words.scan().line();
    }

    /// Our own sets are called region_LABEL; those of others get labels 1, 2, ... in the order of their *REGION.
    static int label_of(const std::string& set, std::size_t order)
    {
        constexpr std::string_view ours = "region_";
        int label = 0;
        const char* end = set.data() + set.size();
        if (set.starts_with(ours) && std::from_chars(set.data() + ours.size(), end, label).ptr == end)
            return label;
        return static_cast<int>(order + 1);
    }

    void apply_regions(const NumberSource& at)
    {
        if (regions.size() == 1 && !regions[0].starts_with("region_")) return; // all of one material
        for (std::size_t r = 0; r < regions.size(); ++r) {
            const int label = label_of(regions[r], r);
            if (regions[r] == "allElements")
                for (int t = 0; t < build.tet_count(); ++t) build.set_region(t, label);
            for (const std::int64_t number : sets[regions[r]]) {
                if (number < first_element || number >= first_element + build.tet_count())
                    at.fail(fmt::format("the set {} names element {}, which does not exist",
                                        in_quotes(regions[r]), number));
                build.set_region(static_cast<int>(number - first_element), label);
            }
        }
    }
};

} // namespace

MeshFile parse_vega(std::string_view bytes, const Path& name, Includes includes)
{
    VegaReader reader{.words = VegaWords(bytes, name, includes), .sets = {}, .regions = {}};
    while (reader.words.next_line()) {
        TextScanner& scan = reader.words.scan();
        const std::string keyword = lower_case(scan.word());
        if (!keyword.starts_with('*'))
            scan.fail(
                fmt::format("found {} where a section such as *VERTICES should begin", in_quotes(keyword)));
        reader.section(keyword);
    }
    reader.apply_regions(reader.words.scan());
    return reader.build.finish(reader.words.scan());
}

std::string write_vega(const MeshFile& mesh, const WriteOptions&)
{
    std::string out =
        fmt::format("# Vega mesh file, written by Lithe\n\n*VERTICES\n{} 3 0 0\n", mesh.vertices.cols());
    NumberSink sink(out, Encoding::Text);
    for (Index v = 0; v < mesh.vertices.cols(); ++v) {
        sink.integer(v + 1);
        sink.reals(mesh.vertices.col(v));
        sink.end_row();
    }
    sink.text(fmt::format("\n*ELEMENTS\nTET\n{} 4 0\n", mesh.tets.cols()));
    for (Index t = 0; t < mesh.tets.cols(); ++t) {
        sink.integer(t + 1);
        sink.integers(mesh.tets.col(t), 1);
        sink.end_row();
    }
    sink.text("\n*MATERIAL default\nENU, 1000, 1000000, 0.45\n");
    if (mesh.regions.empty()) return out + "\n*REGION\nallElements, default\n";
    std::map<int, std::vector<std::size_t>> members;
    for (std::size_t t = 0; t < mesh.regions.size(); ++t) members[mesh.regions[t]].push_back(t + 1);
    for (const auto& [label, numbers] : members) {
        sink.text(fmt::format("\n*SET region_{}\n", label));
        for (const std::size_t number : numbers) sink.text(fmt::format("{},\n", number));
        sink.text(fmt::format("\n*REGION\nregion_{}, default\n", label));
    }
    return out;
}

} // namespace lithe::io
