#pragma once
#include <memory>

#include "lithe/body/body.hpp"
#include "lithe/contact/collision_surface.hpp"
#include "lithe/dynamics/body_parts.hpp"
#include "lithe/dynamics/body_tets.hpp"
#include "lithe/dynamics/framed_motion.hpp"
#include "lithe/reduce/bone_model.hpp"
#include "lithe/reduce/skinned_spheres.hpp"
#include "lithe/rig/joint_path.hpp"

namespace lithe {

/// Which bones the vertices of a skin follow: a skin is stored bone by bone, and looked up vertex by vertex.
struct SkinFollowers {
    struct Follower {
        int bone, place; ///< of the vertex among those of the bone
    };
    SkinFollowers(Index vertex_count, std::span<const SkinBone> skin);
    std::span<const Follower> of(int vertex) const;

    std::vector<int> first; ///< of vertex v: from first[v] until first[v + 1]
    std::vector<Follower> all;
};

/// A character of deformable bones with what a world looks up in it: made once, shared by all bodies of the model.
struct ArticulatedModel {
    /// Throws InputError for a bone whose basis is not fit for a frame, and for weights that do not sum to one.
    explicit ArticulatedModel(std::shared_ptr<const BoneModel> model);

    std::shared_ptr<const BoneModel> prepared;
    std::vector<FramedModel> bones;
    CollisionSurface collision;
    SkinnedSpheres spheres; ///< few, over the collision surface
    SkinFollowers shown_followers, collision_followers;
    std::vector<std::unique_ptr<const BodyTets>> tets; ///< of each bone; null: not known, or it is rigid
    double mass = 0.0;                                 ///< [kg]
    Vec3 centre = Vec3::Zero();                        ///< of mass, at rest [m]

    Index bone_count() const { return static_cast<Index>(bones.size()); }
};

/// A bone that goes its own way; its modes live on.
struct LedBone {
    int bone = 0;
    /// From its place at rest, in the axes of the model; constant: it stays where it is. Or as a joint of its skeleton goes.
    std::variant<Keyframes<RigidPose>, JointPath> path = Keyframes<RigidPose>(RigidPose());

    RigidPose at(double t) const;
    bool stays() const;
};

/// A muscle: a force in the coordinates of one bone, which moves and turns nothing but its shape. It swells and ebbs as
/// sin(2 pi (t / period + phase)).
struct BoneActuation {
    int bone = 0;
    VecX force;          ///< r, at the top of the wave [N]
    double period = 1.0; ///< [s]
    double phase = 0.0;  ///< in periods
};

/// The coordinates that come nearest to bending a bone by `angle` [rad] from end to end about an axis in the axes of the model,
/// around the middle of its skin.
VecX bent_coordinates(const BoneModel& model, int bone, const Vec3& axis, double angle);

/// What is a body's own.
struct ArticulatedOptions {
    std::string name = {};                ///< that of the model when empty
    std::optional<Vec3> color = {};       ///< sRGB; else the model's own
    RigidPose placement = {};             ///< of the model at the start
    Vec3 velocity = Vec3::Zero();         ///< of the centre of mass, at the start [m/s]
    Vec3 angular_velocity = Vec3::Zero(); ///< of the whole about it, at the start [rad/s]
    FramedOptions motion = {};
    ContactLaw law = {};
    bool self_contact = false;
    std::vector<LedBone> led = {};
    std::vector<BoneActuation> actuations = {};
    /// On vertices and faces of the collision surface, shared by the bones that they follow. Forces and wind are in world axes, all
    /// of them are those of the start of a step while it lasts.
    std::vector<TimedLoad> loads = {};
};

/// A character of deformable bones: each is a reduced body in a frame of its own, joined to its neighbours at points, and the skin
/// follows them all,  x = sum_k w_k (t_k + R_k (X_k + S_k q_k)).  The bones do not collide; the skin does, and shares an impulse among
/// its bones by their weights, each at its own point. To the world it is one body with as many movers as bones; the joints between
/// them are inner joints, which the world solves with all others.
class ArticulatedBody final : public Body {
public:
    /// Throws InputError for options that do not fit the model.
    ArticulatedBody(std::shared_ptr<const ArticulatedModel> model, ArticulatedOptions options);

    BodyReport predict(const StepContext& step) override;
    void join(std::span<const Touch> touches, ResponseKind kind, ImpulseProblem& problem) override;
    void prepare_answers() override;
    Vec3 couple(std::size_t touch, double weight, ImpulseProblem& problem) override;
    Vec3 take(int mover, Eigen::Ref<const VecX> change) override;
    void finish() override;

    PointMotion motion(const BodyPoint& point) const override;
    Vec3 position(const BodyPoint& point) const override;
    Vec3 predicted(const BodyPoint& point) override;
    /// It follows the bones of the nearest point of the skin.
    BodyPoint attach(const Vec3& place) override;
    Box3 swept_bounds() const override;
    Index freedoms() const override { return asleep_ ? 0 : freedoms_; }
    Collides collides() const override { return Collides::Everywhere; }
    bool meets_itself() const override { return options_.self_contact; }
    std::span<const InnerJoint> inner_joints() const override { return inner_joints_; }
    const SweptSurface* sweep() override;
    ContactLaw law() const override { return options_.law; }
    std::optional<Obstacle> obstacle(double, double) override { return {}; }

    /// Infinite while something drives it that changes with time.
    double speed() const override;
    void set_asleep(bool asleep) override;
    bool asleep() const override { return asleep_; }
    void teleport(const RigidPose& motion) override;
    void set_velocity(const Vec3& velocity, const Vec3& angular_velocity) override;

    void save(StateWriter& out) const override;
    void restore(StateReader& in) override;
    const Shown& shown() const override { return shown_; }
    /// Frames and coordinates of the bones: nothing of the size of the surface.
    void publish(Published& out) const override;
    std::vector<Overlay> overlays() const override { return {}; }
    /// Von Mises stress, where bones have kept their tets: at a vertex, the mean of its bones' by their weights.
    std::span<const FieldLabel> fields() const override;
    VecX field(std::size_t number) const override;
    Mechanics mechanics(const Vec3& gravity) override;

    const ArticulatedModel& model() const { return *model_; }
    const ArticulatedOptions& options() const { return options_; }
    const FramedMotion& bone(int k) const { return *bones_[static_cast<std::size_t>(k)]; }

private:
    /// What a point of the body has of one bone: its share, and the point of the bone.
    struct Part {
        int bone = 0;
        double weight = 0.0;
        Vec3 X = Vec3::Zero(); ///< from the bone's centre of mass
        Rows3 S;
    };
    /// A point of the body; keeps its memory.
    struct Material {
        std::vector<Part> parts;
        std::size_t count = 0;
        std::span<const Part> used() const { return {parts.data(), count}; }
    };
    /// What a touch does to the bones.
    struct Answer {
        const Material* at = nullptr; ///< an anchor, or scratch
        Material scratch;
        std::vector<Vec3> arms;     ///< of the parts, without the offset
        std::vector<Rows3> factors; ///< times their weights
        Vec3 velocity = Vec3::Zero();
    };

    bool in_step() const { return bones_.front()->in_step(); }
    void predict_bone(std::size_t k, const StepContext& step);
    void set_loads(const StepContext& step);
    void add_force(int vertex, const Vec3& f);
    bool is_driven() const;
    bool is_led(std::size_t bone) const { return led_[bone] != nullptr; }
    RigidPose led_pose(std::size_t bone, double t) const;
    void move_as_one(const Vec3& velocity, const Vec3& angular_velocity);
    Vec3 centre() const; ///< of mass [m]

    /// An anchor as it is kept, a point of a surface in `out`.
    const Material& look_up(const BodyPoint& point, Material& out) const;
    Part& part_of(int bone, Material& material) const;
    void add_anchor(int bone, const BonePoint& point);
    void join_parts(const PreparedBoneJoint& joint);
    /// Where a part is, in the world.
    Vec3 place(const Part& part) const;
    Vec3 place(const Material& at) const;
    /// A vertex of the collision surface.
    const Material& look_up_vertex(int vertex, Material& out) const;
    Vec3 velocity(const Material& at) const;
    void answer(const Touch& touch, Answer& out) const;
    void set_motions(std::vector<BoneMotion>& now) const;
    void set_ends(std::vector<BoneMotion>& then);

    std::shared_ptr<const ArticulatedModel> model_;
    ArticulatedOptions options_;
    Shown shown_;
    std::vector<std::unique_ptr<FramedMotion>> bones_;
    std::vector<const LedBone*> led_; ///< of each bone; null: none
    std::vector<Material> anchors_;
    std::vector<InnerJoint> inner_joints_;
    Index freedoms_ = 0;
    bool asleep_ = false;
    SweptSurface swept_;
    bool start_is_placed_ = false;      ///< that of the step at hand, which is looked at several times
    std::vector<FramedLoad> loads_;     ///< of each bone
    std::vector<LoadedFaces> faces_;    ///< of options_.loads
    std::vector<FramedReport> reports_; ///< of each bone

    // of the impulses at hand
    ResponseKind kind_ = ResponseKind::Implicit;
    std::vector<Touch> touches_;
    std::vector<const FrameResponse*> responses_; ///< of each bone
    std::vector<int> movers_;                     ///< of each bone; -1: nothing moves it
    std::vector<int> bone_of_mover_;              ///< from first_mover_ on
    int first_mover_ = 0;
    std::vector<Answer> answers_;
    Material scratch_;
    VecX change_;
    double h_ = 0.0; ///< of the last prediction [s]
    std::vector<BoneMotion> now_, then_;
    mutable std::vector<BoneMotion> bounds_work_;
};

} // namespace lithe
