#include "lithe/geometry/io/mesh_builder.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "lithe/geometry/io/polygon.hpp"

namespace lithe::io {

namespace {

constexpr std::size_t most_ints = std::numeric_limits<int>::max();

/// Columns of `rows` numbers each as an Eigen matrix.
template <class Matrix, class Number>
Matrix columns(const std::vector<Number>& numbers, Index rows)
{
    return Eigen::Map<const Matrix>(numbers.data(), rows, static_cast<Index>(numbers.size()) / rows);
}

/// Keeps the vertices that a triangle or a tet uses.
void drop_unused(MeshFile& mesh)
{
    std::vector<int> place(static_cast<std::size_t>(mesh.vertices.cols()), -1), kept;
    for (const int v : mesh.triangles.reshaped()) place[v] = 0;
    for (const int v : mesh.tets.reshaped()) place[v] = 0;
    for (int v = 0; v < mesh.vertices.cols(); ++v)
        if (place[v] == 0) {
            place[v] = static_cast<int>(kept.size());
            kept.push_back(v);
        }
    for (int& v : mesh.triangles.reshaped()) v = place[v];
    for (int& v : mesh.tets.reshaped()) v = place[v];
    mesh.vertices = Points(mesh.vertices(Eigen::all, kept));
    for (VertexField& field : mesh.fields) field.values = MatX(field.values(Eigen::all, kept));
}

} // namespace

void MeshBuilder::add_vertex(const Vec3& x, const NumberSource& at)
{
    if (!is_usable(x)) {
        const auto name = vertex_count() + first_index_;
        if (!x.allFinite())
            at.fail(fmt::format("vertex {} is not finite ({}, {}, {}); repair or remove it", name, x[0], x[1],
                                x[2]));
        at.fail(fmt::format(
            "vertex {} has huge coordinates ({}, {}, {}); beyond {:g} nothing can be computed with them",
            name, x[0], x[1], x[2], largest_coordinate));
    }
    if (coordinates_.size() / 3 >= most_ints) at.fail(fmt::format("has more than {} vertices", most_ints));
    coordinates_.insert(coordinates_.end(), x.data(), x.data() + 3);
}

void MeshBuilder::read_vertex(NumberSource& from, Scalar type)
{
    Vec3 x;
    for (int k = 0; k < 3; ++k) x[k] = from.real(type);
    add_vertex(x, from);
}

void MeshBuilder::count_from_0_or_1(std::int64_t first_index, const NumberSource& at)
{
    if (first_index != 0 && first_index != 1)
        at.fail(fmt::format("the first vertex is number {}; it must be 0 or 1", first_index));
    first_index_ = first_index;
}

int MeshBuilder::corner(std::int64_t index, const NumberSource& at)
{
    if (index < first_index_ || index >= first_index_ + static_cast<std::int64_t>(most_ints))
        at.fail(fmt::format("vertex {} does not exist; numbers start at {}", index, first_index_));
    const std::int64_t ours = index - first_index_;
    if (ours > largest_) {
        largest_ = static_cast<int>(ours);
        if (ours >= vertex_count()) {
            const Place place = at.place();
            largest_line_ = place.line;
            largest_byte_ = place.byte;
            largest_name_ = index;
        }
    }
    return static_cast<int>(ours);
}

void MeshBuilder::add_face(std::span<const int> corners, const NumberSource& at)
{
    if (corners.size() < 3)
        at.fail(fmt::format("a face has {} corners; it needs at least 3", corners.size()));
    if (face_corners_.size() + corners.size() > most_ints) at.fail("has too many faces");
    if (corners.size() > 3 && face_ends_.empty())
        for (std::size_t end = 3; end <= face_corners_.size(); end += 3)
            face_ends_.push_back(static_cast<int>(end));
    const bool mixed = corners.size() > 3 || !face_ends_.empty();
    face_corners_.insert(face_corners_.end(), corners.begin(), corners.end());
    if (mixed) face_ends_.push_back(static_cast<int>(face_corners_.size()));
}

void MeshBuilder::add_tet(std::span<const int, 4> corners, int region)
{
    tets_.insert(tets_.end(), corners.begin(), corners.end());
    regions_.push_back(region);
}

int MeshBuilder::region(std::int64_t label, const NumberSource& at)
{
    if (label < std::numeric_limits<int>::min() || label > std::numeric_limits<int>::max())
        at.fail(fmt::format("the region number {} is too large", label));
    return static_cast<int>(label);
}

void MeshBuilder::add_field(std::string_view name, Index components, std::vector<double> values)
{
    for (Field& field : fields_)
        if (field.name == name && field.components == components) {
            field.values.insert(field.values.end(), values.begin(), values.end());
            return;
        }
    fields_.push_back({std::string(name), components, std::move(values)});
}

MeshFile MeshBuilder::finish(const NumberSource& at)
{
    const Place file{.file = at.place().file};
    if (face_corners_.empty() && tets_.empty())
        throw InputError(
            file, fmt::format("has {} vertices but neither triangles nor tetrahedra; a mesh needs some",
                              vertex_count()));
    check_corners(file);
    triangulate();

    MeshFile mesh;
    mesh.vertices = columns<Points>(coordinates_, 3);
    mesh.triangles = columns<Triangles>(face_corners_, 3);
    mesh.tets = columns<Tets>(tets_, 4);
    if (std::any_of(regions_.begin(), regions_.end(), [](int r) { return r != 0; }))
        mesh.regions = std::move(regions_);
    move_fields(mesh);
    if (linearised_) drop_unused(mesh);
    write_notes(mesh);
    return mesh;
}

void MeshBuilder::check_corners(const Place& file) const
{
    if (largest_ < vertex_count()) return;
    throw InputError({.file = file.file, .line = largest_line_, .byte = largest_byte_},
                     fmt::format("vertex {} does not exist; the file has {} (numbers start at {})",
                                 largest_name_, vertex_count(), first_index_));
}

void MeshBuilder::triangulate()
{
    if (face_ends_.empty()) return;
    std::vector<int> triangles;
    int begin = 0, polygons = 0;
    for (const int end : face_ends_) {
        const std::span corners(face_corners_.data() + begin, static_cast<std::size_t>(end - begin));
        triangulate_polygon(coordinates_.data(), corners, triangles);
        polygons += corners.size() > 3;
        begin = end;
    }
    face_corners_ = std::move(triangles);
    note(fmt::format("{} polygon{} cut into triangles", polygons, polygons == 1 ? " was" : "s were"));
}

void MeshBuilder::move_fields(MeshFile& mesh)
{
    for (Field& field : fields_) {
        if (static_cast<Index>(field.values.size()) == field.components * mesh.vertices.cols())
            mesh.fields.push_back({std::move(field.name), columns<MatX>(field.values, field.components)});
        else
            note(fmt::format("the field {} was left out: it does not have one value per vertex",
                             in_quotes(field.name)));
    }
}

void MeshBuilder::write_notes(MeshFile& mesh) const
{
    mesh.notes = notes_;
    if (linearised_) mesh.notes.push_back("quadratic elements were read as linear ones, by their corners");
    for (const auto& [what, count] : skipped_)
        mesh.notes.push_back(fmt::format("skipped {} {}", count, what));
}

} // namespace lithe::io
