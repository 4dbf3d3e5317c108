#include "lithe/body/impulse_problem.hpp"

#include <cmath>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

void clear(ConstraintRows& rows)
{
    rows.first.clear();
    rows.blocks.clear();
    rows.values.clear();
}

} // namespace

SoftJoint soft_joint(double stiffness, double damping, double h)
{
    if (!(stiffness >= 0.0 && damping >= 0.0 && stiffness + damping > 0.0 &&
          std::isfinite(stiffness + damping)))
        throw InputError(
            "a soft joint needs a stiffness and a damping that are not negative and not both zero");
    const double drag = h * (h * stiffness + damping); // [kg]
    return {.compliance = 1.0 / require_positive("h", drag), .stretch_rate = h * stiffness / drag};
}

void ImpulseProblem::clear()
{
    sizes_.clear();
    contacts.clear();
    joints.clear();
    limits.clear();
    for (ConstraintRows* rows : {&contact_rows_, &joint_rows_, &limit_rows_}) lithe::clear(*rows);
    softness = least_softness;
    last_ = Kind::None;
}

int ImpulseProblem::add_body(Index size)
{
    LITHE_ASSERT(size >= 0);
    sizes_.push_back(size);
    return body_count() - 1;
}

int ImpulseProblem::add_contact(const ImpulseContact& contact)
{
    contacts.push_back(contact);
    open(Kind::Contact);
    return static_cast<int>(contacts.size()) - 1;
}

int ImpulseProblem::add_joint(const ImpulseJoint& joint)
{
    LITHE_ASSERT(joint.compliance >= 0.0);
    joints.push_back(joint);
    open(Kind::Joint);
    return static_cast<int>(joints.size()) - 1;
}

int ImpulseProblem::add_limit(const ImpulseLimit& limit)
{
    LITHE_ASSERT(limit.lower <= limit.upper && limit.compliance >= 0.0);
    limits.push_back(limit);
    open(Kind::Limit);
    return static_cast<int>(limits.size()) - 1;
}

ConstraintRows& ImpulseProblem::open_rows()
{
    LITHE_ASSERT(last_ != Kind::None);
    if (last_ == Kind::Contact) return contact_rows_;
    return last_ == Kind::Joint ? joint_rows_ : limit_rows_;
}

void ImpulseProblem::open(Kind kind)
{
    last_ = kind;
    ConstraintRows& rows = open_rows();
    rows.first.push_back(static_cast<int>(rows.blocks.size()));
}

RowBlock ImpulseProblem::block(int body)
{
    LITHE_ASSERT(body >= 0 && body < body_count());
    ConstraintRows& open = open_rows();
    const Index size = body_size(body), stride = padded(size);
    const auto map = [&](Index offset) {
        return RowBlock(open.values.data() + offset, open.rows, size, Eigen::OuterStride<>(stride));
    };
    if (size == 0) return map(0); // a body without answer has no block
    for (auto b = static_cast<std::size_t>(open.first.back()); b < open.blocks.size(); ++b)
        if (open.blocks[b].body == body) return map(open.blocks[b].offset);
    const auto offset = static_cast<Index>(open.values.size());
    open.blocks.push_back({body, offset});
    open.values.resize(open.values.size() + static_cast<std::size_t>(open.rows * stride), 0.0);
    return map(offset);
}

} // namespace lithe
