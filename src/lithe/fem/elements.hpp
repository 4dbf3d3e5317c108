#pragma once
#include <span>
#include <vector>

#include "lithe/geometry/mesh.hpp"
#include "lithe/material/material.hpp"
#include "lithe/math/sparse.hpp"

namespace lithe {

/// What a part of a body is made of; `label` is the region of its tets (0 where the mesh has no regions).
struct RegionMaterial {
    int label = 0;
    Material material;
    double density = 1000.0; ///< [kg/m^3], > 0
};

/// Eight tets of one region, laid out for vector instructions. Against one array per quantity over the whole body, a
/// batch is one stream of 768 bytes. Lanes beyond the last tet of a region repeat it with volume zero.
struct alignas(64) TetBatch {
    static constexpr int lane_count = 8;
    double inverse_rest[9]
                       [lane_count]; ///< entry a + 3 j: gradient of the shape function of corner a + 1 [1/m]
    double volume[lane_count];       ///< at rest [m^3]
    int corner[4][lane_count];
};

/// The batches [first_batch, last_batch) of one material.
struct ElementRegion {
    Material material;
    double density; ///< [kg/m^3]
    Index first_batch, last_batch;
};

/// The tets of a body, sorted by region. A slot is 8 batch + lane.
struct Elements {
    std::vector<TetBatch> batches;
    std::vector<ElementRegion> regions;
    std::vector<int> tet_of_slot; ///< the tet of the mesh, -1 for padding
    Index vertex_count = 0;

    Index slot_count() const { return static_cast<Index>(tet_of_slot.size()); }
};

/// Throws InputError for a tet that is inverted, flat or refers outside the mesh, a vertex without tets, a
/// region without material or two materials of one label, and a density that is not above zero.
Elements make_elements(const TetMesh& mesh, std::span<const RegionMaterial> materials);

/// Which blocks of the stiffness are there, and which element blocks add up to each.
struct StiffnessPattern {
    /// 3n x 3n, whole, all values zero: column 3 j + c holds rows 3 i + r for the neighbours i of vertex j, itself
    /// among them, in rising order.
    SparseMatrix zero;
    std::vector<int> column_start; ///< n + 1; blocks of column j
    std::vector<int> row;          ///< vertex i of each block

    /// Where a block stands: `index` in `row`, and its entry (r, c) at value + r + stride c of the matrix.
    struct Place {
        int index, value, stride;
    };
    /// One block (i, j) with i <= j, its mirror image (j, i), and the first of its parts; the next block's ends them.
    struct Block {
        Place upper, lower;
        int first_part;
    };
    std::vector<Block> blocks; ///< and one at the end that only closes the parts
    std::vector<int> parts;    ///< 2 (90 slot + 9 s), plus 1 where the element block (kernel.hpp) is (j, i)

    std::vector<int> vertex_start;   ///< n + 1
    std::vector<int> vertex_corners; ///< 12 slot + 3 a, for each vertex the corners that it is

    Index block_count() const { return static_cast<Index>(row.size()); }
};
StiffnessPattern make_stiffness_pattern(const Elements& elements);

/// Gives A the pattern, with all values zero, unless it has it already.
void adopt_pattern(const StiffnessPattern& pattern, SparseMatrix& A);

} // namespace lithe
