#include "lithe/reduce/prepared_model.hpp"

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/reduce/tall_products.hpp"

namespace lithe {
namespace {

/// The three rows of U at a vertex, all columns.
auto vertex_rows(const MatX& U, int vertex)
{
    return U.middleRows<3>(3 * static_cast<Index>(vertex));
}

} // namespace

ReducedSurface make_reduced_surface(TriangleMesh rest, const Embedding& embedding, const MatX& U)
{
    LITHE_ASSERT(embedding.point_count() == rest.vertex_count());
    ReducedSurface out{.rest = std::move(rest), .basis = SurfaceBasis(3 * embedding.point_count(), U.cols())};
    parallel_blocks(embedding.point_count(), 256, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
            MatX rows = MatX::Zero(3, U.cols());
            for (int a = 0; a < 4; ++a)
                rows += embedding.weights(a, i) * vertex_rows(U, embedding.corners(a, i));
            out.basis.middleRows<3>(3 * i) = rows.cast<float>();
        }
    });
    return out;
}

std::vector<RegionMaterial> region_materials(const std::vector<RegionParameters>& regions)
{
    std::vector<RegionMaterial> out;
    for (const RegionParameters& region : regions)
        out.push_back({region.label, make_material(region.material), region.density});
    return out;
}

} // namespace lithe
