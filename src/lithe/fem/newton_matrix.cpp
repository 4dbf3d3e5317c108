#include "lithe/fem/newton_matrix.hpp"

#include <algorithm>

#include "lithe/core/error.hpp"
#include "lithe/fem/follower_pressure.hpp"
#include "lithe/math/psd.hpp"

namespace lithe {
namespace {

/// Place of block (i, j) in the values of A's column 3 j, or -1.
int find_block(const SparseMatrix& A, int i, int j)
{
    const int* begin = A.innerIndexPtr() + A.outerIndexPtr()[3 * j];
    const int* end = A.innerIndexPtr() + A.outerIndexPtr()[3 * j + 1];
    const int* found = std::lower_bound(begin, end, 3 * i);
    return found != end && *found == 3 * i ? static_cast<int>(found - begin) : -1;
}

void add_block(int i, int j, const Mat3& H, SparseMatrix& A)
{
    const int at = find_block(A, i, j);
    LITHE_ASSERT(at >= 0);
    for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) A.valuePtr()[A.outerIndexPtr()[3 * j + c] + at + r] += H(r, c);
}

bool has_pattern(const SparseMatrix& A, const Couplings& couplings, const SparseMatrix& coupled)
{
    if (coupled.cols() != A.cols() ||
        coupled.nonZeros() != A.nonZeros() + 9 * static_cast<Index>(couplings.size()))
        return false;
    for (Index j = 0; j < A.cols() / 3; ++j)
        for (int k = A.outerIndexPtr()[3 * j]; k < A.outerIndexPtr()[3 * j + 1]; k += 3)
            if (find_block(coupled, A.innerIndexPtr()[k] / 3, static_cast<int>(j)) < 0) return false;
    return std::all_of(couplings.begin(), couplings.end(), [&](const auto& coupling) {
        return find_block(coupled, coupling.second, coupling.first) >= 0;
    });
}

/// Merges, column by column, the rows of A with those of the couplings.
void set_pattern(const SparseMatrix& A, const Couplings& couplings, SparseMatrix& coupled)
{
    coupled.resize(A.rows(), A.cols());
    coupled.resizeNonZeros(A.nonZeros() + 9 * static_cast<Index>(couplings.size()));
    std::vector<int> rows;
    auto next = couplings.begin();
    int at = 0;
    for (int j = 0; j < static_cast<int>(A.cols()) / 3; ++j) {
        rows.clear();
        for (int k = A.outerIndexPtr()[3 * j]; k < A.outerIndexPtr()[3 * j + 1]; k += 3)
            rows.push_back(A.innerIndexPtr()[k]);
        for (; next != couplings.end() && next->first == j; ++next) rows.push_back(3 * next->second);
        std::sort(rows.begin(), rows.end());
        for (int c = 0; c < 3; ++c) {
            coupled.outerIndexPtr()[3 * j + c] = at;
            for (const int row : rows)
                for (int r = 0; r < 3; ++r) coupled.innerIndexPtr()[at++] = row + r;
        }
    }
    coupled.outerIndexPtr()[coupled.cols()] = at;
}

} // namespace

void add_contact_stiffness(std::span<const ContactStiffness> parts, std::span<const unsigned char> pinned,
                           SparseMatrix& A)
{
    for (const ContactStiffness& part : parts)
        for (std::size_t a = 0; a < static_cast<std::size_t>(part.count); ++a)
            for (std::size_t b = 0; b < static_cast<std::size_t>(part.count); ++b) {
                const int i = part.vertices[a], j = part.vertices[b];
                if (pinned[static_cast<std::size_t>(i)] || pinned[static_cast<std::size_t>(j)]) continue;
                add_block(i, j, part.weights[a] * part.weights[b] * part.H, A);
            }
}

void add_pressure_stiffness(std::span<const SurfacePressure> pressures, const Points& x,
                            Definiteness definiteness, std::span<const unsigned char> pinned, SparseMatrix& A)
{
    for (const SurfacePressure& load : pressures)
        for (Index t = 0; t < load.surface->cols(); ++t) {
            const Eigen::Vector3i corner = load.surface->col(t);
            Mat9 K = pressure_stiffness(x.col(corner[0]), x.col(corner[1]), x.col(corner[2]), load.pressure);
            if (definiteness == Definiteness::Projected) K = project_psd(K);
            for (int a = 0; a < 3; ++a)
                for (int b = 0; b < 3; ++b)
                    if (!pinned[static_cast<std::size_t>(corner[a])] &&
                        !pinned[static_cast<std::size_t>(corner[b])])
                        add_block(corner[a], corner[b], K.block<3, 3>(3 * a, 3 * b), A);
        }
}

void collect_couplings(std::span<const SelfPair> pairs, const SparseMatrix& A, Couplings& couplings)
{
    const auto add = [&](int i, int j) {
        if (find_block(A, i, j) >= 0) return;
        const std::pair<int, int> coupling(j, i);
        const auto at = std::lower_bound(couplings.begin(), couplings.end(), coupling);
        if (at == couplings.end() || *at != coupling) couplings.insert(at, coupling);
    };
    for (const SelfPair& pair : pairs)
        for (const int corner : pair.triangle) { // those of a triangle are coupled already
            add(pair.vertex, corner);
            add(corner, pair.vertex);
        }
}

void copy_with_couplings(const SparseMatrix& A, const Couplings& couplings, SparseMatrix& coupled)
{
    if (!has_pattern(A, couplings, coupled)) set_pattern(A, couplings, coupled);
    std::fill(coupled.valuePtr(), coupled.valuePtr() + coupled.nonZeros(), 0.0);
    for (int j = 0; j < static_cast<int>(A.cols()); ++j) {
        int to = coupled.outerIndexPtr()[j];
        for (int k = A.outerIndexPtr()[j]; k < A.outerIndexPtr()[j + 1]; ++k) {
            while (coupled.innerIndexPtr()[to] != A.innerIndexPtr()[k]) ++to;
            coupled.valuePtr()[to] = A.valuePtr()[k];
        }
    }
}

} // namespace lithe
