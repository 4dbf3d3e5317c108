// Every real mesh of the data set to 50k tets: what `lithe mesh --tets` promises of any scanned or modelled body.
#include <gtest/gtest.h>

#include "lithe/geometry/mesh_check.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/meshing/tetrahedralise.hpp"
#include "support/data.hpp"

using namespace lithe;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> data_meshes()
{
    std::vector<fs::path> files;
    for (const char* folder : {"meshes", "meshes/stanford"}) {
        const fs::path path = test::data_file(folder);
        if (path.empty()) continue;
        for (const fs::directory_entry& entry : fs::directory_iterator(path))
            if (entry.path().extension() == ".obj") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

} // namespace

TEST(DataSet, EveryMeshBecomesGoodTets)
{
    const std::vector<fs::path> files = data_meshes();
    if (files.empty()) GTEST_SKIP() << "no data set; set LITHE_DATA to run this test";
    for (const fs::path& file : files) {
        SCOPED_TRACE(file.filename().string());
        Progress progress;
        const auto [mesh, report] = tetrahedralise(read_surface(file), {.count = 50000}, progress);
        const TetReport check = check_tets(mesh);
        EXPECT_EQ(check.quality.inverted + check.quality.flat, 0);
        EXPECT_GT(check.quality.smallest_dihedral, 8.0);
        EXPECT_NEAR(static_cast<double>(report.tets), 50000.0, 10000.0);
        EXPECT_LE(std::abs(report.level_offset), 0.1);
        EXPECT_LT(report.surface_to_tets, 0.7);
        EXPECT_LT(report.tets_to_surface, 0.7);
        EXPECT_EQ(check.boundary_non_manifold_edges + check.boundary_non_manifold_vertices, 0);
        ASSERT_TRUE(report.volume_ratio);
        EXPECT_NEAR(*report.volume_ratio, 1.0, 0.01);
    }
}
