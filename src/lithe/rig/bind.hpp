#pragma once
#include "lithe/core/progress.hpp"
#include "lithe/geometry/embedding.hpp"
#include "lithe/rig/skin_weights.hpp"

namespace lithe {

/// A bone as a piece of line: from its joint to its child (a joint with several children has several; a joint
/// without children continues its parent's direction by half its length).
struct BoneSegment {
    int bone = 0;
    Vec3 a = Vec3::Zero(), b = Vec3::Zero(); ///< in the world, at rest [m]
};

/// The bones of a skeleton at rest: every joint that has a segment (all of them when none has). `inverse_bind` is that
/// of the rest pose.
std::vector<Bone> rest_bones(const Skeleton& skeleton);
/// Where each joint was bound, in the world, whatever the skeleton's rest. A joint without a bone hangs on its parent as at rest.
std::vector<Affine3> bound_joints(const Skeleton& skeleton, const std::vector<Bone>& bones);
/// Where the bones were bound (their inverse_bind), whatever the skeleton's rest. A joint on top of its only children or, at
/// the end of a chain, of its parent has none; when all joints lie at one place, each is a point.
std::vector<BoneSegment> bone_segments(const Skeleton& skeleton, const std::vector<Bone>& bones);

struct BindOptions {
    Index influences = 4; ///< bones per vertex, 1 to most_influences
    double heat = 1.0;    ///< how strongly a bone holds the flesh beside it; larger: sharper borders, > 0
};

struct BoundWeights {
    SkinWeights weights;                 ///< of the volume's vertices
    std::vector<std::string> notes = {}; ///< bones outside the body, parts that no bone sees
};

/// Weights by heat diffusion in the volume [BP07, for tets]: with d the distance of a vertex to the nearest bone that it
/// sees through the body, H = heat / d^2 there, p_b = 1 at vertices whose nearest visible bone is b (shared where several
/// are equally near),
///
///   (L + diag(V H)) w_b = V H p_b,   L the stiffness of the Laplacian on the tets, V the volume of a vertex.
///
/// Of a bone that sticks out only the part inside counts. Nearer than a thousandth of the body's size, d is held there.
/// The matrix is an M-matrix as far as the mesh allows; what falls below zero elsewhere is cut and the rest normalised. Vertices
/// of parts that see no bone take the nearest one, seen or not. Throws InputError for a body without tets, without bones, or at
/// places that are not finite.
BoundWeights bind_volume(const TetMesh& volume, const std::vector<BoneSegment>& segments, Index bone_count,
                         const BindOptions& options, Progress& progress);

/// From the vertices of a volume to points embedded in it.
SkinWeights carried(const SkinWeights& volume, const Embedding& embedding, Index slots = most_influences);
/// From a surface to other points: of the nearest point of the surface, by its barycentric weights.
SkinWeights carried(const SkinWeights& surface_weights, const TriangleMesh& surface, const Points& points,
                    Index slots = most_influences);
/// From a surface into the volume behind it: as above at the volume's boundary, harmonic inside.
SkinWeights carried_into(const SkinWeights& surface_weights, const TriangleMesh& surface,
                         const TetMesh& volume, Index slots = most_influences);

/// Domains of a volume by bone: for each bone the tets in which it has the largest weight (threshold 0: disjoint, every tet in one),
/// or all tets where the mean of its weights is above the threshold (overlapping); tets above it nowhere go to their heaviest
/// bone.
struct Segmentation {
    std::vector<std::vector<int>> tets; ///< of each bone, rising; may be empty
    std::vector<int> heaviest;          ///< bone of each tet
};
Segmentation segment(const TetMesh& volume, const SkinWeights& weights, Index bone_count,
                     double threshold = 0.0);

} // namespace lithe
