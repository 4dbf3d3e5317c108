#include "lithe/server/hand.hpp"

#include <algorithm>

namespace lithe {

Hand::Hand(std::string name, const Vec3& place, double t) : from_(place), to_(place), begin_(t)
{
    shown_.name = std::move(name);
    shown_.rigid = true;
    t_ = t_predicted_ = t;
}

void Hand::lead(const Vec3& target, double t, double h)
{
    from_ = place(t);
    to_ = target;
    begin_ = t;
    length_ = h;
}

Vec3 Hand::place(double t) const
{
    return from_ + std::clamp((t - begin_) / length_, 0.0, 1.0) * (to_ - from_);
}

PointMotion Hand::motion(const BodyPoint& point) const
{
    const Vec3 arm = anchors_[static_cast<std::size_t>(point.triangle)];
    return {place(t_) + arm, (place(t_) - place(t_ - h_)) / h_};
}

Vec3 Hand::predicted(const BodyPoint& point)
{
    return place(t_predicted_) + anchors_[static_cast<std::size_t>(point.triangle)];
}

BodyPoint Hand::attach(const Vec3& where)
{
    anchors_.push_back(where - place(t_));
    return {.triangle = static_cast<int>(anchors_.size()) - 1, .surface = BodySurface::Anchors};
}

Box3 Hand::swept_bounds() const
{
    Box3 box(from_);
    return box.extend(to_);
}

void Hand::publish(Published& out) const
{
    out.frame.translation = place(t_);
}

} // namespace lithe
