#include "lithe/reduce/bullet_files.hpp"

#include <bit>
#include <cstring>
#include <limits>

#include "lithe/core/atomic_folder.hpp"
#include "lithe/core/error.hpp"
#include "lithe/geometry/io/bytes.hpp"
#include "lithe/geometry/mesh_io.hpp"

namespace lithe {
namespace {

namespace fs = std::filesystem;
static_assert(std::endian::native == std::endian::little); // Bullet reads numbers as the machine has them

constexpr const char* mesh_name = "mesh.vtk";
constexpr const char* modes_name = "modes.bin";
constexpr const char* eigenvalues_name = "eigenvalues.bin";
constexpr const char* stiffness_name = "K_r_diag_mat.bin";
constexpr const char* mass_name = "M_r_diag_mat.bin";
constexpr const char* node_mass_name = "M_diag_mat.bin";

/// How many numbers follow (32 bits), then the numbers (64 bits each).
std::string number_file(std::span<const double> values, const fs::path& file)
{
    if (values.size() > std::numeric_limits<std::uint32_t>::max())
        throw InputError({.file = file}, "would hold " + std::to_string(values.size()) +
                                             " numbers, more than Bullet can count; ask for fewer modes");
    const auto count = static_cast<std::uint32_t>(values.size());
    std::string bytes(sizeof(count) + values.size_bytes(), '\0');
    std::memcpy(bytes.data(), &count, sizeof(count));
    if (count > 0) std::memcpy(bytes.data() + sizeof(count), values.data(), values.size_bytes());
    return bytes;
}

std::span<const double> numbers_of(const MatX& values)
{
    return {values.data(), static_cast<std::size_t>(values.size())};
}

std::span<const double> numbers_of(const VecX& values)
{
    return {values.data(), static_cast<std::size_t>(values.size())};
}

VecX read_numbers(const fs::path& file)
{
    const std::string bytes = io::read_bytes(file);
    std::uint32_t count = 0;
    if (bytes.size() < sizeof(count))
        throw InputError({.file = file},
                         "is cut off: it ends within the count at its beginning; write it anew");
    std::memcpy(&count, bytes.data(), sizeof(count));
    const std::size_t wanted = sizeof(count) + sizeof(double) * std::size_t(count);
    if (bytes.size() != wanted)
        throw InputError({.file = file}, "says that it holds " + std::to_string(count) + " numbers, in " +
                                             std::to_string(wanted) + " bytes, but has " +
                                             std::to_string(bytes.size()) + " bytes; write it anew");
    VecX values(count);
    if (count > 0) std::memcpy(values.data(), bytes.data() + sizeof(count), sizeof(double) * count);
    for (Index i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]))
            throw InputError({.file = file, .byte = static_cast<std::int64_t>(sizeof(count) + 8 * i)},
                             "is not a finite number; write the file anew");
    return values;
}

/// `count` numbers, since there are so many `things`.
VecX read_numbers(const fs::path& file, Index count, const std::string& things)
{
    VecX values = read_numbers(file);
    if (values.size() != count)
        throw InputError({.file = file}, "holds " + std::to_string(values.size()) + " numbers where " +
                                             std::to_string(count) + " belong to " + things +
                                             "; it is of another mesh or another number of modes");
    return values;
}

void require_positive_numbers(const fs::path& file, const VecX& values)
{
    for (Index i = 0; i < values.size(); ++i)
        if (!(values[i] > 0.0))
            throw InputError({.file = file}, "number " + std::to_string(i) + " is " +
                                                 std::to_string(values[i]) +
                                                 ", but must be above zero; write it without rigid modes and "
                                                 "without vertices that no tet uses");
}

/// mesh.vtk, or whatever the one .vtk file of the folder is called.
fs::path find_mesh(const fs::path& folder)
{
    std::error_code trouble;
    std::vector<fs::path> meshes;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, trouble))
        if (entry.path().extension() == ".vtk") meshes.push_back(entry.path());
    if (trouble)
        throw InputError({.file = folder}, "cannot be read as a folder: " + trouble.message() +
                                               "; give the folder that holds modes.bin and its mesh");
    if (meshes.size() == 1) return meshes.front();
    if (meshes.size() > 1 && fs::exists(folder / mesh_name)) return folder / mesh_name;
    throw InputError({.file = folder},
                     meshes.empty() ? "holds no .vtk file; the tets of the body belong beside modes.bin"
                                    : "holds several .vtk files; name the one of the body mesh.vtk");
}

} // namespace

BulletModel make_bullet_model(const TetMesh& mesh, const FemModel& model, const Modes& modes)
{
    LITHE_ASSERT(mesh.vertex_count() == model.vertex_count());
    LITHE_ASSERT(modes.basis.U.rows() == 3 * model.vertex_count() && modes.basis.mass_orthonormal);
    if (model.mass_kind != MassKind::Lumped)
        throw InputError("Bullet keeps one mass per vertex, but the model's mass is consistent; make it with "
                         "lumped mass");
    if (modes.component_count > 1)
        throw InputError("Bullet gives a body one frame, but this one has " +
                         std::to_string(modes.component_count) +
                         " parts that do not hang together; write one folder for each");
    if (modes.rigid_count != 6)
        throw InputError(
            "Bullet needs the modes of the free body, but these are of a pinned one; leave the pins "
            "out and call setFixedNodes in Bullet");
    return {.mesh = {mesh.vertices, mesh.tets, mesh.regions},
            .node_mass = model.vertex_mass,
            .eigenvalues = modes.eigenvalues,
            .stiffness = modes.eigenvalues,
            .mass = VecX::Ones(modes.eigenvalues.size()),
            .modes = modes.basis.U};
}

void write_bullet_files(const fs::path& folder, const BulletModel& model)
{
    MeshFile mesh;
    mesh.vertices = model.mesh.vertices;
    mesh.tets = model.mesh.tets;
    mesh.regions = model.mesh.regions;
    AtomicFolder files(folder);
    const auto write = [&](const char* name, std::span<const double> values) {
        files.write(name, number_file(values, folder / name));
    };
    files.write(mesh_name, serialize_mesh(MeshFormat::Vtk, mesh, {.encoding = Encoding::Text}));
    write(modes_name, numbers_of(model.modes));
    write(eigenvalues_name, numbers_of(model.eigenvalues));
    write(stiffness_name, numbers_of(model.stiffness));
    write(mass_name, numbers_of(model.mass));
    write(node_mass_name, numbers_of(model.node_mass));
    files.commit();
}

BulletModel read_bullet_files(const fs::path& folder)
{
    BulletModel model;
    const fs::path mesh = find_mesh(folder);
    model.mesh = read_tet_mesh(mesh);
    const Index n = model.mesh.vertex_count();
    const std::string vertices = std::to_string(n) + " vertices of " + mesh.filename().string();
    model.node_mass = read_numbers(folder / node_mass_name, n, vertices);
    require_positive_numbers(folder / node_mass_name, model.node_mass);

    model.eigenvalues = read_numbers(folder / eigenvalues_name);
    require_positive_numbers(folder / eigenvalues_name, model.eigenvalues);
    const Index r = model.eigenvalues.size();
    if (r == 0) throw InputError({.file = folder / eigenvalues_name}, "holds no modes; write it anew");
    const std::string modes = std::to_string(r) + " modes";
    model.stiffness = read_numbers(folder / stiffness_name, r, modes);
    model.mass = fs::exists(folder / mass_name) ? read_numbers(folder / mass_name, r, modes) : VecX::Ones(r);
    model.modes = read_numbers(folder / modes_name, 3 * n * r, modes + " at " + vertices).reshaped(3 * n, r);
    return model;
}

} // namespace lithe
