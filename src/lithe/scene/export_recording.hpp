#pragma once
#include "lithe/rig/skeleton.hpp"
#include "lithe/scene/export_formats.hpp"

namespace lithe::exporting {

using Points3f = Eigen::Matrix<float, 3, Eigen::Dynamic>; ///< columns are points [m]

/// What one body did: its pose in every frame, and where its vertices were within it.
struct RecordedBody {
    Shown shown;                          ///< without the tets
    std::vector<RigidPose> poses = {};    ///< one per frame
    std::vector<Points3f> positions = {}; ///< one per frame, in the pose; or ...
    std::vector<VecX> weights = {}; ///< ... those of shown.morphs; neither for a body that only moves rigidly
    /// Of shown.character's skeleton, in the world; with positions beside them where it has flesh.
    std::vector<std::vector<Affine3>> joints = {};

    bool deforms() const { return !positions.empty() || !weights.empty(); }
    Index vertex_count() const { return shown.surface.vertex_count(); }
    Points3f positions_in_pose(std::size_t frame) const;
};

/// Whether any pose differs from the first.
bool moves(const std::vector<RigidPose>& poses);

/// In the world, in single precision.
Points3f world_positions(const RecordedBody& body, std::size_t frame);

struct Recording {
    double fps = 0.0;
    std::vector<RecordedBody> bodies = {};
    std::vector<std::string> names = {}; ///< plain and different, one per body
    std::vector<int> numbers = {};       ///< of the frames
    std::vector<double> times = {};      ///< of the frames [s]

    std::size_t frame_count() const { return numbers.size(); }
};

/// Gathers all frames in memory, as float, for formats that need to know all of them: body after body, counts first.
class RecordingSink : public FrameSink {
public:
    void begin(const std::vector<Shown>& bodies, double fps) override;
    void frame(const Frame& frame) final;
    void finish() final;

protected:
    /// Whether skins are kept as skeletons, in `joints` and `weights`, instead of positions.
    enum class Skins { AsPositions, AsSkeletons };
    explicit RecordingSink(Skins skins = Skins::AsPositions) : skins_(skins) {}

    const Recording& recording() const { return recording_; }
    /// Called once, with at least one frame and one body.
    virtual void write() = 0;

private:
    Skins skins_;
    Recording recording_;
};

} // namespace lithe::exporting
