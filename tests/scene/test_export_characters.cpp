// Characters come out as .glb with their skeletons, and in other formats as meshes that deform.
#include "lithe/rig/character.hpp"
#include "scene/export_test.hpp"
#include "support/waving_arm.hpp"

namespace lithe::test {
namespace {

constexpr int frames = 16;

class ExportCharacters : public ExportTest {
protected:
    Character written(std::initializer_list<const WavingArm*> arms) const
    {
        const auto file = folder.path() / "out.glb";
        play(*make_exporter(file), arms, frames);
        return read_character(file);
    }
    /// Where a file's surface is in a frame, by its bones alone.
    static Points surface_at(const Character& read, int frame)
    {
        return skinned_at(read, frame, read.surface.vertices);
    }
    /// And by its morph targets too.
    static Points morphed_at(const Character& read, int frame)
    {
        return skinned_at(read, frame, morphed_surface(read, &read.clips.at(0), frame / WavingArm::fps));
    }

private:
    static Points skinned_at(const Character& read, int frame, const Points& rest)
    {
        const Pose pose = pose_at(read.skeleton, read.clips.at(0), frame / WavingArm::fps);
        Points x;
        skin(SkinningMethod::Linear, read.weights,
             bone_transforms(read.bones, world_transforms(read.skeleton, pose)), rest, x);
        return x;
    }
};

TEST_F(ExportCharacters, MovesAsItDidInTheRun)
{
    for (const bool from_file : {false, true}) {
        const WavingArm arm(from_file ? make_gltf_arm() : make_arm(), "arm", Vec3(1.0, 2.0, 3.0));
        const Character read = written({&arm});
        ASSERT_EQ(read.clips.size(), 1u);
        EXPECT_EQ(read.clips[0].name, "simulation");
        EXPECT_NE(read.skeleton.find("elbow"), -1);
        EXPECT_EQ(read.bones.size(), 2u);
        for (const int f : {0, 5, 15})
            EXPECT_LT((surface_at(read, f) - arm.at(f).positions).cwiseAbs().maxCoeff(), 3e-6) << f;
    }
}

TEST_F(ExportCharacters, MorphTargetsBringTheirFleshBack)
{
    for (const bool from_file : {false, true}) {
        WavingArm arm(from_file ? make_gltf_arm() : make_arm(), "arm", Vec3(1.0, 2.0, 3.0));
        arm.grow_flesh(0.03);
        const Character read = written({&arm});
        ASSERT_EQ(read.clips.size(), 1u);
        EXPECT_EQ(read.bones.size(), 2u);
        EXPECT_EQ(read.skeleton.placement.matrix(), Affine3::Identity().matrix());
        for (const int f : {0, 5, 15}) {
            EXPECT_LT((morphed_at(read, f) - arm.at(f).positions).colwise().norm().maxCoeff(), 2e-3) << f;
            EXPECT_GT((surface_at(read, f) - arm.at(f).positions).cwiseAbs().maxCoeff(), f == 0 ? -1.0 : 3e-3)
                << f;
            const VecX weights = morph_weights(read, &read.clips[0], f / WavingArm::fps);
            EXPECT_GE(weights.minCoeff(), 0.0);
            EXPECT_LE(weights.maxCoeff(), 1.0 + 1e-6);
        }
    }
}

TEST_F(ExportCharacters, FleshThatIsTooRichIsAMesh)
{
    WavingArm arm(make_arm(), "arm", Vec3::Zero());
    arm.grow_flesh(0.03);
    const auto file = folder.path() / "out.glb";
    play(*make_exporter(file, {.bake_rank = 0}), {&arm}, frames);
    const Character read = read_character(file);
    EXPECT_EQ(read.source->count("skins"), 0u);
    for (const int f : {0, 5, 15}) {
        const Points shown = morphed_at(read, f); // creases are split: some vertices more
        const Points positions = arm.at(f).positions;
        for (const Vec3 x : positions.colwise())
            EXPECT_LT((shown.colwise() - x).colwise().norm().minCoeff(), 1e-3) << f;
    }
}

TEST_F(ExportCharacters, KeepWhatTheirFileHolds)
{
    const Character arm = make_gltf_arm();
    const WavingArm body(arm, "arm", Vec3::Zero());
    const Character read = written({&body});
    const GltfDocument &before = *arm.source, &after = *read.source;
    ASSERT_GE(after.count("accessors"), before.count("accessors"));
    for (int a = 0; a < static_cast<int>(before.count("accessors")); ++a)
        EXPECT_EQ(before.numbers(a), after.numbers(a)) << a;
    for (const char* list : {"meshes", "skins", "materials", "nodes"})
        EXPECT_EQ(before.list(list), after.list(list)) << list;
}

TEST_F(ExportCharacters, SeveralShareAFileAndAnAnimation)
{
    const WavingArm one(make_gltf_arm(), "one", Vec3::Zero()), two(make_arm(), "two", Vec3(3.0, 0.0, 0.0)),
        three(make_gltf_arm(), "three", Vec3(0.0, 0.0, 4.0));
    const Character read = written({&one, &two, &three});
    ASSERT_EQ(read.clips.size(), 1u);
    const Index n = one.shown().surface.vertex_count();
    ASSERT_EQ(read.surface.vertex_count(), 3 * n);
    for (const int f : {0, 9}) {
        const Points x = surface_at(read, f);
        Index first = 0;
        for (const WavingArm* arm : {&one, &two, &three}) {
            EXPECT_LT((x.middleCols(first, n) - arm->at(f).positions).cwiseAbs().maxCoeff(), 3e-6);
            first += n;
        }
    }
}

TEST_F(ExportCharacters, OtherFormatsGetTheSkin)
{
    const WavingArm arm(make_arm(), "arm", Vec3::Zero());
    play(*make_exporter(folder.path() / "frames"), {&arm}, 3);
    const TriangleMesh last = read_surface(folder.path() / "frames" / "frame_0002.ply");
    EXPECT_LT((last.vertices - arm.at(2).positions).cwiseAbs().maxCoeff(), 1e-6);
}

} // namespace
} // namespace lithe::test
