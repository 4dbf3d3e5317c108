#include "lithe/dynamics/lattice_region.hpp"

#include <algorithm>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

/// Blocks and masses by place, summed up; the larger place is the row.
struct PlacedPair {
    int row, column;
    double mass;
    Mat3 A;
};

class PairSums {
public:
    explicit PairSums(std::size_t nodes) : nodes_(nodes), slot_(nodes * nodes, -1) {}

    void add(int a, int b, double mass, const Mat3& A)
    {
        const int row = std::max(a, b), column = std::min(a, b);
        int& slot = slot_[static_cast<std::size_t>(column) * nodes_ + static_cast<std::size_t>(row)];
        if (slot < 0) {
            slot = static_cast<int>(pairs_.size());
            pairs_.push_back({row, column, 0.0, Mat3::Zero()});
        }
        PlacedPair& pair = pairs_[static_cast<std::size_t>(slot)];
        pair.mass += mass;
        if (a >= b)
            pair.A += A;
        else
            pair.A += A.transpose();
    }

    /// By rising column, then row.
    std::vector<PlacedPair> sorted() const
    {
        std::vector<PlacedPair> out;
        out.reserve(pairs_.size());
        for (const int slot : slot_)
            if (slot >= 0) out.push_back(pairs_[static_cast<std::size_t>(slot)]);
        return out;
    }

    double largest() const
    {
        double largest = 0.0;
        for (const PlacedPair& pair : pairs_) largest = std::max(largest, pair.A.cwiseAbs().maxCoeff());
        return largest;
    }

private:
    std::size_t nodes_;
    std::vector<int> slot_; ///< of each pair of places in pairs_, or -1
    std::vector<PlacedPair> pairs_;
};

} // namespace

void LatticeRegionSystem::choose_nodes(const LatticeSystem& system, const RegionSpace& space,
                                       const std::vector<char>& active)
{
    nodes_.clear();
    weights_.clear();
    place_.assign(static_cast<std::size_t>(system.count()), -1);
    for (const bool known : {false, true}) {
        for (std::size_t k = 0; k < space.functions.size(); ++k) {
            const int f = space.functions[k];
            const char activity = active[static_cast<std::size_t>(f)];
            const bool led = system.held[static_cast<std::size_t>(f)] || activity == Leaving;
            if (activity == Inactive || led != known) continue;
            place_[static_cast<std::size_t>(f)] = static_cast<int>(nodes_.size());
            nodes_.push_back(f);
            weights_.push_back(space.weights[k]);
        }
        if (!known) unknown_count_ = static_cast<Index>(nodes_.size());
    }
}

/// Those that lie in the region with all of their functions.
void LatticeRegionSystem::find_held_points(const LatticeSystem& system)
{
    held_.clear();
    for (std::size_t p = 0; p < system.held_points.size(); ++p) {
        const LatticePoint& point = system.held_points[p];
        HeldPoint held{p, {}, {}};
        bool whole = true;
        for (std::size_t k = 0; k < point.functions.size(); ++k) {
            const int at = place(point.functions[k]);
            const bool coarse = system.functions[static_cast<std::size_t>(point.functions[k])].level == 0;
            whole = whole && (at >= 0 || !coarse);
            if (at < 0 || at >= unknown_count_) continue; // a detail that is not active, or led
            held.places.push_back(at);
            held.weights.push_back(point.weights[k]);
        }
        if (whole) held_.push_back(std::move(held));
    }
}

void LatticeRegionSystem::build(const LatticeSystem& system, const RegionSpace& space,
                                const std::vector<char>& active, const LatticeStepConstants& constants)
{
    constants_ = constants;
    choose_nodes(system, space, active);
    const auto [h, mu, k_t] = constants;

    PairSums sums(nodes_.size());
    first_.assign(static_cast<std::size_t>(unknown_count_), 0.0);
    for (const int c : space.cells) {
        const LatticeCellIntegrals& cell = system.cells[static_cast<std::size_t>(c)];
        for (std::size_t k = 0; k < cell.functions.size(); ++k)
            if (const int p = place(cell.functions[k]); p >= 0 && p < unknown_count_)
                first_[static_cast<std::size_t>(p)] += cell.first[k];
        for (const LatticePair& pair : cell.pairs) {
            const int a = place(pair.a), b = place(pair.b);
            if (a < 0 || b < 0 || std::min(a, b) >= unknown_count_) continue;
            Mat3 A = h * h * pair.K;
            A.diagonal().array() += (1.0 + h * mu) * pair.mass;
            sums.add(a, b, pair.mass, A);
        }
        for (const LatticeTwist& twist : cell.twists) {
            const int a = place(twist.a), b = place(twist.b);
            if (twist.joint != space.joint || a < 0 || b < 0 || std::min(a, b) >= unknown_count_) continue;
            sums.add(a, b, 0.0, h * h * k_t * twist.value * Mat3::Identity());
        }
    }
    find_held_points(system);
    held_spring_ = 1e3 * sums.largest();
    for (const HeldPoint& held : held_)
        for (std::size_t i = 0; i < held.places.size(); ++i)
            for (std::size_t j = 0; j <= i; ++j)
                sums.add(held.places[i], held.places[j], 0.0,
                         held_spring_ * held.weights[i] * held.weights[j] * Mat3::Identity());

    BlockMatrix A;
    A.start = {0};
    couplings_.clear();
    std::vector<Triplet> masses;
    for (const PlacedPair& pair : sums.sorted()) {
        masses.emplace_back(pair.column, pair.row, pair.mass);
        if (pair.row != pair.column && pair.row < unknown_count_)
            masses.emplace_back(pair.row, pair.column, pair.mass);
        if (pair.row >= unknown_count_) {
            couplings_.push_back({pair.column, pair.row, pair.A.transpose()});
            continue;
        }
        while (A.size() <= pair.column) A.start.push_back(static_cast<int>(A.row.size()));
        A.row.push_back(pair.row);
        A.value.push_back(pair.A);
        A.start.back() = static_cast<int>(A.row.size());
    }
    LITHE_ASSERT(A.size() == unknown_count_);
    SparseRows M(unknown_count_, static_cast<Index>(nodes_.size()));
    M.setFromTriplets(masses.begin(), masses.end());
    mass_.start.assign(M.outerIndexPtr(), M.outerIndexPtr() + M.rows() + 1);
    mass_.column.assign(M.innerIndexPtr(), M.innerIndexPtr() + M.nonZeros());
    mass_.value.assign(M.valuePtr(), M.valuePtr() + M.nonZeros());

    shares_.clear();
    for (Index p = 0; p < unknown_count_; ++p)
        shares_.push_back(first_[static_cast<std::size_t>(p)] /
                          system.first[nodes_[static_cast<std::size_t>(p)]]);
    if (unknown_count_ > 0 && !factor_.factorise(A))
        throw InputError("lattice '" + system.model->name +
                         "': the flesh of a region cannot be solved: are its materials possible?");
}

void LatticeRegionSystem::solve(LatticeRegionWork& work) const
{
    if (unknown_count_ == 0) return;
    const auto [h, mu, k_t] = constants_;
    // c = M ((1 + h mu) d + h v + h^2 mu u) + h^2 Q - A_uk d_k
    work.momenta.resize(4, work.d.cols());
    work.momenta.topRows<3>() = (1.0 + h * mu) * work.d + h * work.v + h * h * mu * work.u;
    work.momenta.row(3).setZero();
    for (Index p = 0; p < unknown_count_; ++p) {
        Vec4 sum = Vec4::Zero();
        for (int k = mass_.start[p]; k < mass_.start[p + 1]; ++k)
            sum += mass_.value[k] * work.momenta.col(mass_.column[k]);
        work.d_new.col(p) =
            sum.head<3>() + h * h * (first_[static_cast<std::size_t>(p)] * work.gravity + work.force.col(p));
    }
    for (const Coupling& coupling : couplings_)
        work.d_new.col(coupling.unknown).noalias() -= coupling.A * work.d_new.col(coupling.known);
    for (const HeldPoint& held : held_)
        for (std::size_t k = 0; k < held.places.size(); ++k)
            work.d_new.col(held.places[k]) +=
                held_spring_ * held.weights[k] * work.held.col(static_cast<Index>(held.point));
    factor_.solve(work.d_new.leftCols(unknown_count_), work.solve);
}

} // namespace lithe
