#pragma once
#include <map>
#include <span>

#include "lithe/geometry/io/number_source.hpp"
#include "lithe/geometry/mesh_io.hpp"

namespace lithe::io {

/// Whether every coordinate is finite and not too large to compute with.
template <class Coordinates>
bool is_usable(const Coordinates& x)
{
    return (x.array().abs() <= largest_coordinate).all(); // not through maxCoeff, which passes over NaN
}

/// Gathers what a reader finds and checks all that does not depend on the format: finite coordinates of sane size,
/// indices in range, polygons cut into triangles, at least one triangle or tet.
class MeshBuilder {
public:
    /// `first_index`: what the format calls its first vertex.
    explicit MeshBuilder(std::int64_t first_index = 0) : first_index_(first_index) {}
    void count_from(std::int64_t first_index) { first_index_ = first_index; }
    /// For formats that count from 0 or 1, as their first vertex tells.
    void count_from_0_or_1(std::int64_t first_index, const NumberSource& at);

    int vertex_count() const { return static_cast<int>(coordinates_.size() / 3); }
    void add_vertex(const Vec3& x, const NumberSource& at);
    void read_vertex(NumberSource& from, Scalar type = Scalar::Float64);

    /// A vertex number of the file as our index. Vertices may follow their use: `finish` finds those that never came.
    int corner(std::int64_t index, const NumberSource& at);
    int read_corner(NumberSource& from, Scalar type = Scalar::Int32)
    {
        return corner(from.integer(type), from);
    }

    /// A triangle or polygon.
    void add_face(std::span<const int> corners, const NumberSource& at);
    void add_tet(std::span<const int, 4> corners, int region = 0);
    int tet_count() const { return static_cast<int>(tets_.size() / 4); }
    /// A region number of the file, when it fits.
    static int region(std::int64_t label, const NumberSource& at);
    void set_region(int tet, int region) { regions_[static_cast<std::size_t>(tet)] = region; }

    /// `values` vertex after vertex; a second call with the same name and size appends.
    void add_field(std::string_view name, Index components, std::vector<double> values);

    void note(std::string text) { notes_.push_back(std::move(text)); }
    /// Something of the file that we do not take; counted for the notes.
    void skipped(std::string_view what, std::int64_t count = 1) { skipped_[std::string(what)] += count; }
    /// Quadratic elements were taken by their corners; their other nodes go.
    void linearised() { linearised_ = true; }

    MeshFile finish(const NumberSource& at);

private:
    void check_corners(const Place& file) const;
    void triangulate();
    void move_fields(MeshFile& mesh);
    void write_notes(MeshFile& mesh) const;

    std::int64_t first_index_;
    std::vector<double> coordinates_;
    std::vector<int> face_corners_, face_ends_; ///< ends are empty as long as all faces are triangles
    std::vector<int> tets_, regions_;
    struct Field {
        std::string name;
        Index components;
        std::vector<double> values;
    };
    std::vector<Field> fields_;
    std::vector<std::string> notes_;
    std::map<std::string, std::int64_t> skipped_;
    bool linearised_ = false;

    int largest_ = -1; ///< the largest corner, where it stood and how the file calls it
    std::int64_t largest_line_ = 0, largest_byte_ = -1, largest_name_ = 0;
};

} // namespace lithe::io
