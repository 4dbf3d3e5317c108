#pragma once
#include <limits>
#include <vector>

#include "lithe/math/types.hpp"

namespace lithe {

/// Two points that must not come closer. Side a is pushed along the normal, side b against it.
struct ImpulseContact {
    Vec3 normal = Vec3::UnitZ();  ///< unit, from b to a
    Vec3 velocity = Vec3::Zero(); ///< u_a - u_b without the impulses of the problem [m/s]
    double gap_rate = 0.0;    ///< distance over time step: the speed at which they may still approach [m/s]
    double friction = 0.0;    ///< mu >= 0
    double restitution = 0.0; ///< e in [0, 1], felt by ImpulseSolver::bounce only
    Vec3 impulse = Vec3::Zero(); ///< on a: where a solve starts (last step's, or zero), then its result [N s]
};

/// Two points that have to move alike:  velocity + change + compliance * impulse = 0.
struct ImpulseJoint {
    Vec3 velocity =
        Vec3::Zero();            ///< u_a - u_b without the impulses of the problem, less the wanted one [m/s]
    double compliance = 0.0;     ///< >= 0; zero for a hard joint [1/kg]
    Vec3 impulse = Vec3::Zero(); ///< on a: the result [N s]
};

/// One number that is pushed by a bounded impulse: a limit (from 0 to infinity), a motor (both bounds finite). Inside
/// the bounds  velocity + change + compliance * impulse = 0;  at the lower one it may be positive, at the upper negative.
struct ImpulseLimit {
    double velocity =
        0.0; ///< without the impulses of the problem, less the wanted one; a gap over the step added
    double lower = 0.0; ///< <= upper
    double upper = std::numeric_limits<double>::infinity();
    double compliance = 0.0; ///< >= 0
    double impulse = 0.0;    ///< where a solve starts, then its result
};

/// A joint that is a damped spring: with the stretch x = x_a - x_b at the start of the step, the impulse
/// j = -h (k (x + h u) + c u) obeys  u - wanted(x) + compliance j = 0.
struct SoftJoint {
    double compliance;   ///< 1 / (h^2 k + h c) [1/kg]
    double stretch_rate; ///< h k / (h^2 k + h c): the wanted velocity is -stretch_rate * x [1/s]
};
/// k [N/m] and c [N s/m] are not negative and not both zero; h [s] > 0. Throws InputError otherwise.
SoftJoint soft_joint(double stiffness, double damping, double h);

/// A block of rows of one body: `rows` x m, row by row; see ImpulseProblem::block.
using RowBlock = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
                            Eigen::OuterStride<>>;

/// The rows of constraints of one kind, body by body. Rows are filled up with zeros to a multiple of four numbers.
struct ConstraintRows {
    struct Block {
        int body;
        Index offset; ///< of its first number in `values`
    };
    int rows;               ///< of each block
    std::vector<int> first; ///< of constraint c: blocks first[c] until first[c + 1]; the last is open
    std::vector<Block> blocks;
    std::vector<double> values;

    int begin(int c) const { return first[static_cast<std::size_t>(c)]; }
    int end(int c) const
    {
        const auto next = static_cast<std::size_t>(c) + 1;
        return next < first.size() ? first[next] : static_cast<int>(blocks.size());
    }
};

/// Bodies that push each other through contacts, joints and limits. A body is nothing but m numbers: the change of
/// velocity of its point p by an impulse j at its point q is F_p F_q^T j, with a factor F (3 x m) for each point. The
/// numbers a = sum F^T j say all that the impulses did to it: the point p moves faster by F_p a.
///
/// A constraint has a block G for each body that it touches, the sum of weight times F over the points of its side a
/// less that of side b. A body without answer (kinematic, static) has m = 0.
///
///   const int body = problem.add_body(6 + r);
///   problem.add_contact({.normal = n, .velocity = u});
///   problem.block(body) += weight * F;
///
/// Refilled in every step; keeps its memory.
class ImpulseProblem {
public:
    void clear();
    int add_body(Index size);
    int add_contact(const ImpulseContact& contact);
    int add_joint(const ImpulseJoint& joint);
    int add_limit(const ImpulseLimit& limit);
    /// The block (3 x m; 1 x m for a limit) of the constraint that was added last for this body: zero at first, the
    /// same again when asked again. Valid until something is added.
    RowBlock block(int body);

    int body_count() const { return static_cast<int>(sizes_.size()); }
    Index body_size(int body) const { return sizes_[static_cast<std::size_t>(body)]; }
    const ConstraintRows& contact_rows() const { return contact_rows_; }
    const ConstraintRows& joint_rows() const { return joint_rows_; }
    const ConstraintRows& limit_rows() const { return limit_rows_; }

    // what may change between two solves, and what they find
    std::vector<ImpulseContact> contacts;
    std::vector<ImpulseJoint> joints;
    std::vector<ImpulseLimit> limits;
    /// Joints give way by this share of what their bodies answer with: the least keeps those solvable that repeat each other.
    double softness = least_softness;

    static constexpr double least_softness = 1e-9;

private:
    enum class Kind { None, Contact, Joint, Limit };
    void open(Kind kind);
    ConstraintRows& open_rows();

    std::vector<Index> sizes_; ///< m of each body
    ConstraintRows contact_rows_{.rows = 3, .first = {}, .blocks = {}, .values = {}};
    ConstraintRows joint_rows_{.rows = 3, .first = {}, .blocks = {}, .values = {}};
    ConstraintRows limit_rows_{.rows = 1, .first = {}, .blocks = {}, .values = {}};
    Kind last_ = Kind::None; ///< added last
};

/// A row's length with its zeros.
inline Index padded(Index size)
{
    return (size + 3) / 4 * 4;
}

} // namespace lithe
