#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/reduce/prepared_model.hpp"

namespace lithe {
namespace {

void set_vertex(const ReducedSurface& surface, const VecX& q, Index vertex, double* x)
{
    const Index r = surface.rank();
    const float* row = surface.basis.data() + 3 * r * vertex;
    for (int c = 0; c < 3; ++c, row += r) {
        double sum = 0.0;
        for (Index k = 0; k < r; ++k) sum += static_cast<double>(row[k]) * q[k];
        x[c] = surface.rest.vertices(c, vertex) + sum;
    }
}

} // namespace

void reconstruct(const ReducedSurface& surface, const VecX& q, Points& x)
{
    LITHE_ASSERT(surface.rank() == q.size());
    x.resize(3, surface.rest.vertex_count());
    parallel_for(x.cols(), 256, [&](Index i) { set_vertex(surface, q, i, x.col(i).data()); });
}

void reconstruct(const ReducedSurface& surface, std::span<const int> vertices, const VecX& q, Points& x)
{
    LITHE_ASSERT(surface.rank() == q.size());
    x.resize(3, static_cast<Index>(vertices.size()));
    for (Index i = 0; i < x.cols(); ++i)
        set_vertex(surface, q, vertices[static_cast<std::size_t>(i)], x.col(i).data());
}

} // namespace lithe
