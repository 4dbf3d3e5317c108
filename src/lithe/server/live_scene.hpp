#pragma once
#include <deque>
#include <optional>

#include "lithe/prepare/prepare_body.hpp"
#include "lithe/prepare/prepare_scene.hpp"
#include "lithe/server/encode.hpp"
#include "lithe/server/hand.hpp"
#include "lithe/server/pick.hpp"

namespace lithe {

/// A plane through the scene, in front of which tets are taken away.
struct LiveCut {
    int axis = 0;        ///< of the world: 0, 1, 2
    double offset = 0.0; ///< along it [m]
};

/// A scene that runs while people watch and touch it. Knows of bodies only what every body answers. For one thread.
class LiveScene {
public:
    LiveScene(Scene scene, PreparedScene prepared);

    // time
    /// One frame of the scene's rate. On trouble it is told, and the world is where it got to.
    StepReport advance_frame();
    /// Back to the start, without thrown balls and hands. False when that takes preparing anew (a joint has broken).
    [[nodiscard]] bool reset();
    /// Takes over the state of the same bodies prepared otherwise; false when they do not fit.
    [[nodiscard]] bool continue_from(LiveScene& other);
    /// All that moves, but for hands and pins.
    std::string state() const;
    /// Back to a state of this scene with the balls of now; hands and pins let go. False when it does not fit (a joint has broken
    /// since).
    [[nodiscard]] bool go_back(int frame, const std::string& state);
    int frame() const { return frame_; }
    double time() const { return prepared_.world.time(); }
    const RunOptions& run() const { return prepared_.run; }
    void set_substeps(int substeps) { prepared_.run.substeps = substeps; }
    void set_gravity(const Vec3& gravity) { world().set_gravity(gravity); }

    // hands
    /// Takes hold where the ray first meets a body that can move; nothing where there is none.
    std::optional<Picked> grab(const Ray& ray);
    void drag(const Vec3& target);
    void release();
    bool holds() const { return hand_.has_value(); }
    /// Holds the point where it is, until `unpin`.
    std::optional<Picked> pin(const Ray& ray);
    void unpin();
    /// A rigid ball flies along the ray. At most 20 are there; the oldest goes.
    void throw_ball(const Ray& ray);
    std::size_t ball_count() const { return balls_.size(); }
    /// Whether there is anything that the scene itself has not: hands, pins, balls.
    bool has_extras() const { return hand_ || !pins_.empty() || !balls_.empty(); }
    /// Hands let go and balls gone: what the scene itself has.
    void remove_extras();

    // what is seen
    std::vector<BodyId> seen() const; ///< all bodies but hands, in the order of frames
    void encode_frame(std::uint32_t scene, FrameEncoder& out);
    std::vector<DrawnOverlay> overlays();
    std::vector<FieldLabel> field_labels() const; ///< that any body has, each once
    /// Of all bodies that have one of that name.
    std::vector<DrawnField> fields(std::string_view name) const;
    /// The triangles that the cut lays open, three points each.
    Points cut(const LiveCut& plane) const;
    std::vector<Hold> held() const;
    /// Energy, momentum, times and contacts of the last frame.
    nlohmann::json figures();
    /// The steps so far, the last 20 000 of them.
    RunMetrics metrics();

    const Scene& scene() const { return scene_; }
    PreparedScene& prepared() { return prepared_; }
    World& world() { return prepared_.world; }
    double size() const { return size_; }          ///< of what can be looked at, at the start [m]
    const Vec3& centre() const { return centre_; } ///< the same

private:
    struct Held {
        BodyId body, hand;
        JointId joint;
        BodyPoint point;                       ///< of the body
        Vec3 target;                           ///< [m]
        double stiffness = 0.0, damping = 0.0; ///< of the joint [N/m], [N s/m]
    };
    struct JointMark {
        BodyId body;
        BodyPoint point;
    };
    void add_step(StepMetrics step);
    [[nodiscard]] bool restore(const std::string& state); ///< false when it does not fit
    std::optional<Held> hold(const Ray& ray, double strength, std::optional<Picked>& picked);
    void let_go(const Held& held);
    void mark_joints();
    void start_account();
    Points nodes_of(BodyId id) const;

    Scene scene_;
    PreparedScene prepared_;
    std::string start_; ///< state
    int frame_ = 0;
    double size_ = 1.0;
    Vec3 centre_ = Vec3::Zero();
    std::vector<JointMark> joint_marks_;

    std::optional<Held> hand_;
    std::vector<Held> pins_;
    int hands_made_ = 0;

    Scene ball_scene_;
    ModelCache ball_models_;
    std::deque<BodyId> balls_;
    int balls_made_ = 0;

    RunMetrics account_;                              ///< with the steps of the last frame
    std::deque<StepMetrics> steps_;                   ///< the last of all
    MomentumDrift drift_;                             ///< absolute
    double linear_scale_ = 0.0, angular_scale_ = 0.0; ///< the largest so far
};

} // namespace lithe
