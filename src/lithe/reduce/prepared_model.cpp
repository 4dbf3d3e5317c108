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

/// Every third row of U, from row c: coordinate c of all vertices.
auto coordinate_rows(const MatX& U, Index c)
{
    using Strided = Eigen::Map<const MatX, 0, Eigen::Stride<Eigen::Dynamic, 3>>;
    return Strided(U.data() + c, U.rows() / 3, U.cols(), Eigen::Stride<Eigen::Dynamic, 3>(U.rows(), 3));
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

MassIntegrals make_mass_integrals(const FemModel& model, const MatX& U)
{
    LITHE_ASSERT(U.rows() == 3 * model.vertex_count());
    const Index r = U.cols();
    const MatX MU = mass_product(model, U);
    MassIntegrals out{.mass = model.vertex_mass.sum(),
                      .centre = model.rest * model.vertex_mass / model.vertex_mass.sum(),
                      .linear = MatX::Zero(3, r),
                      .angular = MatX::Zero(3, r),
                      .quadratic = {}};
    for (Index c = 0; c < 3; ++c) {
        const Index a = (c + 1) % 3, b = (c + 2) % 3;
        out.linear.row(c) = coordinate_rows(MU, c).colwise().sum();
        out.angular.row(c) =
            model.rest.row(a) * coordinate_rows(MU, b) - model.rest.row(b) * coordinate_rows(MU, a);
        const MatX half = transposed_product(MatX(coordinate_rows(U, a)), MatX(coordinate_rows(MU, b)));
        out.quadratic[static_cast<std::size_t>(c)] = half - half.transpose();
    }
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
