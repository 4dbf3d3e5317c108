#pragma once
#include <cmath>

#include "lithe/body/published.hpp"
#include "lithe/geometry/shapes.hpp"
#include "support/surfaces.hpp"

namespace lithe::test {

/// A short animation in closed form, with every kind of thing that a sink meets: a coloured torus that waves and
/// tumbles, a block of tets in two regions that twists, a box that moves rigidly, and a floor that never does.
class Animation {
public:
    static constexpr double fps = 24.0;
    static constexpr int torus = 0, block = 1, box = 2, floor = 3;

    explicit Animation(int fineness = 24)
    {
        bodies_.push_back({.name = "torus", .surface = torus_surface(2 * fineness, fineness, 1.0, 0.3)});
        bodies_[torus].surface.fields.push_back({"color", colors(bodies_[torus].surface.vertices)});

        Shown twisting{.name = "soft block", .surface = {}, .color = {0.2, 0.5, 0.8}};
        twisting.volume = make_box_tets({0.5, 1.0, 0.5}, 0.25);
        for (Index t = 0; t < twisting.volume.tet_count(); ++t)
            twisting.volume.regions.push_back(twisting.volume.vertices(1, twisting.volume.tets(0, t)) > 0.0);
        twisting.surface = boundary_surface(twisting.volume, origin_);
        bodies_.push_back(std::move(twisting));

        bodies_.push_back({.name = "box", .surface = unit_cube(), .color = {0.9, 0.9, 0.2}, .rigid = true});
        bodies_.push_back({.name = "floor",
                           .surface = make_box({8.0, 0.1, 8.0}, 8.0),
                           .color = {0.5, 0.5, 0.5},
                           .rigid = true});
    }

    const std::vector<Shown>& bodies() const { return bodies_; }

    Frame frame(int number) const
    {
        const double t = number / fps;
        Frame frame{.number = number, .t = t, .bodies = {}};
        frame.bodies.push_back({.frame = {}, .positions = waved(bodies_[torus].surface.vertices, t)});
        Published twisting{.frame = {exp_quat({0.0, 0.0, 0.1}), {2.5, 0.7, 0.0}}};
        twisting.nodes = twisted(bodies_[block].volume.vertices, t);
        twisting.positions = twisting.nodes(Eigen::all, origin_);
        twisting.node_velocities = // of a twist by sin(3 t) per metre, by a fine difference
            twisting.frame.rotation.toRotationMatrix() *
            (twisted(bodies_[block].volume.vertices, t + 1e-6) -
             twisted(bodies_[block].volume.vertices, t - 1e-6)) /
            2e-6;
        frame.bodies.push_back(std::move(twisting));
        frame.bodies.push_back({.frame = {exp_quat({0.0, 2.0 * t, 0.0}), {-2.5, 2.0 - t * t, 0.5 * t}}});
        frame.bodies.push_back({.frame = {Quat::Identity(), {0.0, -1.0, 0.0}}});
        return frame;
    }

    void play(FrameSink& sink, int frames) const
    {
        sink.begin(bodies_, fps);
        for (int f = 0; f < frames; ++f) sink.frame(frame(f));
    }

    /// Where the vertices of a body's surface are in the world.
    Points positions(int body, int number) const
    {
        return surface_in_world(bodies_[static_cast<std::size_t>(body)],
                                frame(number).bodies[static_cast<std::size_t>(body)]);
    }

private:
    static MatX colors(const Points& X)
    {
        MatX color(3, X.cols());
        color << (0.5 + 0.4 * X.row(0).array()).matrix(), Eigen::RowVectorXd::Constant(X.cols(), 0.3),
            (0.5 - 0.3 * X.row(1).array()).matrix();
        return color.cwiseMax(0.0).cwiseMin(1.0);
    }
    static Points waved(const Points& X, double t)
    {
        Points x = X;
        x.row(2).array() +=
            0.15 * (3.0 * X.row(0).array() - 5.0 * t).sin() + 0.1 * (2.0 * X.row(1).array() * t).sin();
        return (exp_so3({1.2 * t, 0.4 * t, 0.0}) * x).colwise() + Vec3(0.3 * t, 1.0 - 0.5 * t * t, 0.0);
    }
    static Points twisted(const Points& X, double t)
    {
        Points x = X;
        for (Index v = 0; v < X.cols(); ++v)
            x.col(v) = exp_so3({0.0, std::sin(3.0 * t) * (X(1, v) + 0.5), 0.0}) * X.col(v);
        return x;
    }

    std::vector<Shown> bodies_;
    std::vector<int> origin_; ///< of the block's surface vertices among its nodes
};

/// A ball that tumbles and is the sum of some smooth shapes: what a reduced body publishes.
class MorphingBall {
public:
    static constexpr double fps = 60.0;

    explicit MorphingBall(int shapes = 5, int fineness = 8)
    {
        shown_.name = "reduced";
        shown_.surface = sphere_surface(fineness);
        const Points& X = shown_.surface.vertices;
        SurfaceMorphs U(X.size(), shapes);
        for (Index v = 0; v < X.cols(); ++v)
            for (int c = 0; c < 3; ++c)
                for (int k = 0; k < shapes; ++k)
                    U(3 * v + c, k) = static_cast<float>(std::sin((k + 1) * X(c, v) + 2 * k + c));
        shown_.morphs = std::make_shared<SurfaceMorphs>(std::move(U));
    }

    const Shown& shown() const { return shown_; }
    /// Weights of either sign, far from 1, that begin at rest; the last never moves.
    VecX weights(int frame) const
    {
        VecX q(shown_.morphs->cols());
        for (int k = 0; k < q.size(); ++k) q[k] = 0.2 / (k + 1) * std::sin((0.3 + 0.1 * k) * frame);
        q[q.size() - 1] = 0.0;
        return q;
    }
    Published at(int frame) const
    {
        return {.frame = {exp_quat({0.0, 0.2 * frame, 0.1 * frame}), {0.1 * frame, 0.0, 1.0}},
                .weights = weights(frame)};
    }
    void play(FrameSink& sink, int frames) const
    {
        sink.begin({shown_}, fps);
        for (int f = 0; f < frames; ++f) sink.frame({.number = f, .t = f / fps, .bodies = {at(f)}});
        sink.finish();
    }

private:
    Shown shown_;
};

} // namespace lithe::test
