#include "suite.hpp"

#include <fmt/format.h>

#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/meshing/remesh.hpp"
#include "lithe/meshing/wrap.hpp"
#include "lithe/rig/bind.hpp"
#include "lithe/rig/rig_files.hpp"
#include "lithe/rig/skinning.hpp"

namespace lithe::bench {
namespace {

constexpr Index skin_vertices = 100000;
constexpr int skin_bones = 40;
constexpr Index skin_slots = 4;

struct Skin {
    SkinWeights weights;
    std::vector<Affine3> M;
    Points X;
};

/// Vertices in the order of a mesh: neighbours follow the same few bones, which change slowly along the skin.
Skin random_skin()
{
    Random random(1);
    const auto vector = [&] { return Vec3(random.normal(), random.normal(), random.normal()); };
    Skin skin;
    for (int b = 0; b < skin_bones; ++b) {
        Affine3 M;
        M.linear() = exp_so3(vector());
        M.translation() = vector();
        skin.M.push_back(M);
    }
    skin.X.resize(3, skin_vertices);
    skin.weights.bones.resize(skin_slots, skin_vertices);
    skin.weights.weights.resize(skin_slots, skin_vertices);
    for (Index v = 0; v < skin_vertices; ++v) {
        skin.X.col(v) = vector();
        const auto around = static_cast<int>(v * skin_bones / skin_vertices);
        for (Index k = 0; k < skin_slots; ++k) {
            skin.weights.bones(k, v) = (around + static_cast<int>(random.index(6))) % skin_bones;
            skin.weights.weights(k, v) = (1.0 + 0.1 * random.uniform()) / static_cast<double>(k + 1);
        }
        skin.weights.weights.col(v) /= skin.weights.weights.col(v).sum();
    }
    return skin;
}

/// What one would write first.
void plain_linear(const Skin& skin, Points& x)
{
    for (Index v = 0; v < skin_vertices; ++v) {
        const Vec3 X = skin.X.col(v);
        Vec3 sum = Vec3::Zero();
        for (Index k = 0; k < skin_slots; ++k)
            sum += skin.weights.weights(k, v) * (skin.M[skin.weights.bones(k, v)] * X);
        x.col(v) = sum;
    }
}

void plain_dual(const Skin& skin, Points& x)
{
    std::vector<Quat> q;
    std::vector<Vec4> e;
    for (const Affine3& M : skin.M) {
        const Vec3 t = M.translation();
        q.emplace_back(Mat3(M.linear()));
        e.push_back(0.5 * (Quat(0.0, t[0], t[1], t[2]) * q.back()).coeffs());
    }
    for (Index v = 0; v < skin_vertices; ++v) {
        Vec4 c = Vec4::Zero(), dual = Vec4::Zero();
        const Quat& first = q[skin.weights.bones(0, v)];
        for (Index k = 0; k < skin_slots; ++k) {
            const int b = skin.weights.bones(k, v);
            const double w = (first.dot(q[b]) < 0.0 ? -1.0 : 1.0) * skin.weights.weights(k, v);
            c += w * q[b].coeffs();
            dual += w * e[b];
        }
        const double length = c.norm();
        const Quat rotation(Vec4(c / length));
        const Quat translation = Quat(Vec4(2.0 * dual / length)) * rotation.conjugate();
        x.col(v) = rotation * Vec3(skin.X.col(v)) + translation.vec();
    }
}

void bench_skinning(SuiteReport& report, Progress& progress)
{
    const ThreadLimit one(1);
    const Skin skinned = random_skin();
    Points x(3, skin_vertices);
    const double ns = 1e9 / skin_vertices;
    const auto add = [&](const char* name, SkinningMethod method, const char* what, const auto& plain) {
        const Timing ours =
            measure(21, progress, [&] { skin(method, skinned.weights, skinned.M, skinned.X, x); });
        const Timing theirs = measure(9, progress, [&] { plain(skinned, x); });
        report.results.push_back(
            result(name, ours, ns, "ns/vertex",
                   fmt::format("{}, {} vertices, {} rigid bones, 4 weights each, double precision, one core",
                               what, skin_vertices, skin_bones)));
        report.results.back().peer = Peer{"a plain loop over Eigen's types", ns * theirs.median};
    };
    add("skin_lbs_ns_per_vertex", SkinningMethod::Linear, "linear blending", plain_linear);
    add("skin_dqs_ns_per_vertex", SkinningMethod::DualQuaternion, "dual quaternions", plain_dual);
}

void bench_weights(SuiteReport& report, Progress& progress)
{
    const std::string tets = data_file("tets/cesium_man_158k.mesh.gz");
    const std::string rig = data_file("rigs/cesium_man.skel.txt");
    if (tets.empty() || rig.empty()) {
        report.skipped.push_back("weights_s: no cesium_man_158k.mesh.gz or its skeleton; set LITHE_DATA");
        return;
    }
    const TetMesh volume = read_tet_mesh(tets);
    const Skeleton skeleton = read_text_rig(rig).skeleton;
    const std::vector<Bone> bones = rest_bones(skeleton);
    const std::vector<BoneSegment> segments = bone_segments(skeleton, bones);
    Progress silent;
    const Timing timing =
        measure(5, progress, [&] { (void)bind_volume(volume, segments, std::ssize(bones), {}, silent); });
    report.results.push_back(result("weights_s", timing, 1.0, "s",
                                    fmt::format("heat weights in the volume, {} tets, {} bones, all threads",
                                                volume.tet_count(), bones.size())));
}

/// A character of about 19,000 triangles with a hole at its highest point.
TriangleMesh open_character(const std::string& file)
{
    TriangleMesh mesh = subdivide(read_surface(file), 1, SubdivisionRule::Midpoint);
    const double hole = 0.02 * bounds(mesh.vertices).diagonal().norm();
    Index top = 0, kept = 0;
    mesh.vertices.row(1).maxCoeff(&top);
    const Vec3 middle = mesh.vertices.col(top);
    for (Index t = 0; t < mesh.triangle_count(); ++t)
        if ((mesh.vertices.col(mesh.triangles(0, t)) - middle).norm() > hole)
            mesh.triangles.col(kept++) = mesh.triangles.col(t).eval();
    mesh.triangles.conservativeResize(3, kept);
    drop_unused_vertices(mesh);
    return mesh;
}

void bench_wrap(SuiteReport& report, Progress& progress)
{
    const std::string file = data_file("rigs/cesium_man.obj");
    if (file.empty()) {
        report.skipped.push_back("wrap_s: no cesium_man.obj; set LITHE_DATA");
        return;
    }
    const TriangleMesh surface = open_character(file);
    Progress silent;
    Index triangles = 0;
    const Timing timing =
        measure(5, progress, [&] { triangles = wrap(surface, {}, silent).surface.triangle_count(); });
    report.results.push_back(
        result("wrap_s", timing, 1.0, "s",
               fmt::format("a closed surface of {} triangles around an open character of {}, all threads",
                           triangles, surface.triangle_count())));
}

} // namespace

SuiteReport bench_rig(Progress& progress)
{
    SuiteReport report;
    bench_skinning(report, progress);
    bench_weights(report, progress);
    bench_wrap(report, progress);
    return report;
}

} // namespace lithe::bench
