// Any bytes in one of Bullet's files, beside others that are right: a model, or an InputError of one line.
#include <array>
#include <string>
#include <string_view>

#include <unistd.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/reduce/bullet_files.hpp"

namespace {

using namespace lithe;
namespace fs = std::filesystem;

/// One tet with two modes.
BulletModel small_model()
{
    TetMesh tet{Points(3, 4), Tets(4, 1)};
    tet.vertices << 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1;
    tet.tets << 0, 1, 2, 3;
    return {.mesh = std::move(tet),
            .node_mass = VecX::Ones(4),
            .eigenvalues = VecX::Ones(2),
            .stiffness = VecX::Ones(2),
            .mass = VecX::Ones(2),
            .modes = MatX::Ones(12, 2)};
}

/// The folder, made once and taken away at the end.
class Folder {
public:
    Folder()
    {
        std::string name = (fs::temp_directory_path() / "lithe-fuzz-XXXXXX").string();
        path = mkdtemp(name.data());
        write_bullet_files(path, small_model());
    }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    fs::path path;
};

constexpr std::array names = {"mesh.vtk",         "modes.bin",        "eigenvalues.bin",
                              "K_r_diag_mat.bin", "M_r_diag_mat.bin", "M_diag_mat.bin"};

} // namespace

/// The first byte says which file the others become.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const Folder folder;
    if (size == 0) return 0;
    const fs::path file = folder.path / names[data[0] % names.size()], aside = folder.path / "aside";
    fs::rename(file, aside);
    write_file(file, std::string_view(reinterpret_cast<const char*>(data + 1), size - 1));
    try {
        const BulletModel model = read_bullet_files(folder.path);
        LITHE_ASSERT(model.modes.rows() == 3 * model.mesh.vertex_count() && model.modes.allFinite());
        LITHE_ASSERT(model.rank() == model.eigenvalues.size() && model.eigenvalues.minCoeff() > 0.0);
    } catch (const InputError& error) {
        const std::string_view what = error.what();
        LITHE_ASSERT(what.starts_with(folder.path.string()) && what.find('\n') == what.npos);
    }
    fs::rename(aside, file);
    return 0;
}
