#pragma once
#include <memory>

#include "lithe/body/skin.hpp"
#include "lithe/reduce/prepared_model.hpp"

namespace lithe {

/// One bone of a character: a reduced body of its own, that moves in its own frame and is joined to its neighbours.
struct PreparedBone {
    std::string name;
    int parent = -1;      ///< the bone that it hangs on; -1: none
    ReducedModel reduced; ///< of rank 0 for a rigid bone
    FrameTensors tensors; ///< of its share of the mass; `centre` in the axes of the model
    /// Its tets, of the whole material, with the vertices of the shown skin that follow it; for those who look at its stress. Null: they
    /// are not known, or it is rigid.
    std::shared_ptr<const PreparedVolume> volume = nullptr;

    Index rank() const { return reduced.rank(); }
};

/// Of a bone by itself that is hardly deformed, rising [Hz]; none of a rigid one.
VecX rest_frequencies(const PreparedBone& bone);

/// A point in the material of a bone.
struct BonePoint {
    Vec3 X = Vec3::Zero(); ///< at rest, from the bone's centre of mass [m]
    Rows3 S;               ///< rows of its basis there, 3 x r
};

/// Where two bones hold each other: at points that both have. One is a ball joint, two a hinge, three let them move as one but for
/// what they deform.
struct PreparedBoneJoint {
    struct Point {
        BonePoint a, b;
    };
    int a = 0, b = 0; ///< bones
    std::vector<Point> points;
};

/// A surface that follows the bones: at rest in the axes of the model, and what it has of each bone.
struct BoneSurface {
    TriangleMesh rest; ///< may carry the field "color"
    std::vector<SkinBone>
        skin; ///< as many as there are bones; SkinBone::rest is from the bone's centre of mass
};

/// A character of deformable bones, made ready for real time. The bones overlap, and share the mass and the stiffness of the volume
/// by their weights, so that together they have what the body has.
struct BoneModel {
    std::string name;
    std::vector<PreparedBone> bones; ///< parents before children
    std::vector<PreparedBoneJoint> joints;
    BoneSurface shown;
    BoneSurface collision; ///< coarse and closed
    std::vector<RegionParameters> materials;
    ReductionRecord record;

    double mass() const;    ///< [kg]
    Index freedoms() const; ///< 6 + r of each bone
    /// By name, or -1.
    int find(std::string_view bone) const;
};

/// As one .lithe file of the kind "bones" (docs/model-files.md). Writes the file whole or not at all.
void write_bone_model(const std::filesystem::path& file, const BoneModel& model);
/// Throws InputError, with the file and what is wrong, for one that is damaged, of another kind or of a newer version.
BoneModel read_bone_model(const std::filesystem::path& file);

/// Which kind of model a .lithe file holds: "reduced" or "bones". Throws InputError for a file that is none.
std::string model_kind(const std::filesystem::path& file);

} // namespace lithe
