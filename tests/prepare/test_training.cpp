#include "lithe/prepare/training.hpp"

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/archive/writer.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/math/rotation.hpp"
#include "lithe/prepare/prepare_model.hpp"
#include "lithe/prepare/prepare_scene.hpp"
#include "lithe/scene/exporter.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace lithe {
namespace {

using test::message_of;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* bar = "[time]\nframes = 8\n"
                            "[[body]]\nname = \"bar\"\nshape = \"box:size=0.4x0.1x0.1\"\ncell = 0.05\n"
                            "position = [0, 0.3, 0]\nmaterial = {young = 5e4}\n";
constexpr const char* held = "[[body.pin]]\nbox = [[-1, -1, -1], [-0.19, 1, 1]]\n";
constexpr const char* load = "[[body.load]]\nforce = [0, 0.2, 0]\n";

class Training : public testing::Test {
protected:
    struct Made {
        Scene scene;
        BodyParts parts;
    };
    Made make(const std::string& text) const
    {
        Made out{parse_scene(text, folder_ / "scene.toml"), {}};
        Progress progress;
        std::vector<std::string> notes;
        out.parts = prepare_parts(out.scene, out.scene.bodies[0], progress, notes);
        return out;
    }
    TrainingData train(const Made& made, Progress& progress) const
    {
        return run_training(made.scene, made.scene.bodies[0], made.parts, folder_ / "cache", progress);
    }
    TrainingData train(const std::string& text) const
    {
        Progress progress;
        return train(make(text), progress);
    }
    std::size_t cached_files() const
    {
        std::size_t count = 0;
        std::error_code ignored;
        for ([[maybe_unused]] const auto& entry :
             std::filesystem::directory_iterator(folder_ / "cache", ignored))
            ++count;
        return count;
    }
    MatX read(const Made& made, const char* file) const
    {
        return read_snapshots(folder_ / file, made.scene.bodies[0], made.parts);
    }

    test::TemporaryFolder folder_;
};

Points positions(const BodyParts& parts, const MatX& u, Index column)
{
    return parts.model.fem.rest + Eigen::Map<const Points>(u.col(column).data(), 3, u.rows() / 3);
}

TEST_F(Training, RunsTheSceneAndOthersLikeIt)
{
    const std::string text = std::string(bar) + held + load;
    const Made made = make(text + "[training]\nruns = 3\nevery = 2\n");
    Progress progress;
    const TrainingData data = train(made, progress);
    EXPECT_EQ(data.runs, 3);
    EXPECT_EQ(data.cached, 0);
    EXPECT_THAT(data.notes, IsEmpty());
    ASSERT_EQ(data.snapshots.cols(), 3 * 4);
    for (const int v : made.parts.model.pins[0].vertices)
        EXPECT_TRUE(data.snapshots.middleRows<3>(3 * v).isZero(0.0));

    // run 0 is the scene itself
    PreparedScene prepared = prepare_scene(made.scene, progress);
    RunMetrics metrics;
    ASSERT_EQ(run(prepared.world, prepared.run, {}, metrics, progress).end, RunEnd::Finished);
    const auto& body = dynamic_cast<const FullBody&>(prepared.world.body(*prepared.world.find("bar")));
    EXPECT_EQ(positions(made.parts, data.snapshots, 3), body.state().x);
    for (const Index other : {7, 11}) {
        const double difference = (data.snapshots.col(other) - data.snapshots.col(3)).norm();
        EXPECT_GT(difference, 0.02 * data.snapshots.col(3).norm());
        EXPECT_LT(difference, 1.2 * data.snapshots.col(3).norm()); // like it
    }
    EXPECT_NE(data.snapshots.col(7), data.snapshots.col(11));
}

TEST_F(Training, KeepsFinishedRunsUntilSomethingChanges)
{
    const std::string head = std::string(bar) + held, tail = "[training]\nframes = 4\nruns = ";
    const TrainingData first = train(head + tail + "2");
    EXPECT_EQ(cached_files(), 2u);
    const TrainingData again = train(head + tail + "2"), more = train(head + tail + "3");
    EXPECT_EQ(again.cached, 2);
    EXPECT_EQ(again.snapshots, first.snapshots);
    EXPECT_EQ(more.cached, 2);
    EXPECT_EQ(more.snapshots.leftCols(first.snapshots.cols()), first.snapshots);
    EXPECT_EQ(cached_files(), 3u);
    EXPECT_EQ(train(head + load + tail + "2").cached, 0);                              // other loads,
    EXPECT_EQ(train("[world]\ngravity = [0, -5, 0]\n" + head + tail + "2").cached, 0); // gravity,
    EXPECT_EQ(train(head + tail + "2\nevery = 4").cached, 0);                          // snapshots,
    EXPECT_EQ(train(head + "[[obstacle]]\nshape = \"plane\"\n" + tail + "2").cached, 0);
    EXPECT_EQ(train(head + tail + "2\nseed = 9").cached, 1); // run 0 has no jitter
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cache"))
        std::ofstream(entry.path()) << "broken";
    const TrainingData repaired = train(head + tail + "2");
    EXPECT_EQ(repaired.cached, 0);
    EXPECT_EQ(repaired.snapshots, first.snapshots);
}

TEST_F(Training, StopsWhenToldAndGoesOnLater)
{
    const Made made = make(std::string(bar) + held + "[training]\nruns = 3\nframes = 4\n");
    std::stop_source stop;
    Progress impatient(
        [&](const ProgressEvent& event) {
            if (event.stage == "training" && event.fraction > 0.4) stop.request_stop(); // in the second run
        },
        stop.get_token());
    EXPECT_THROW((void)train(made, impatient), Interrupted);
    EXPECT_EQ(cached_files(), 1u);
    Progress patient;
    EXPECT_EQ(train(made, patient).cached, 1);
}

TEST_F(Training, TakesRigidMotionOutOfFreeBodies)
{
    const Made made = make(std::string(bar) + "angular_velocity = [0, 90, 200]\n[training]\nruns = 1\n");
    Progress progress;
    const TrainingData data = train(made, progress);
    const FemModel& fem = made.parts.model.fem;
    const Eigen::Map<const Points> u(data.snapshots.col(3).data(), 3, fem.vertex_count());
    Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();
    for (Index v = 0; v < fem.vertex_count(); ++v) {
        linear += fem.vertex_mass[v] * u.col(v);
        angular += fem.vertex_mass[v] * Vec3(fem.rest.col(v)).cross(Vec3(u.col(v)));
    }
    EXPECT_LT(linear.norm(), 1e-12);
    EXPECT_LT(angular.norm(), 1e-12);
    EXPECT_GT(u.norm(), 1e-6);                // it is stretched by its spin,
    EXPECT_LT(u.cwiseAbs().maxCoeff(), 0.02); // but where it fell to is not in it
}

TEST_F(Training, SkipsRunsThatCannotBeSolvedAndFailsWithoutMost)
{
    // Newton's method gets one iteration per step, which a strong jerk is too much for
    const std::string hard = "[solver]\nmax_iterations = 1\ntolerance = 1e-12\n" + std::string(bar) + held +
                             "[[body.load]]\nforce = [0, 500, 0]\n[training]\nruns = 2\nframes = 4\n";
    EXPECT_THAT(message_of([&] { (void)train(hard); }),
                testing::AllOf(HasSubstr("only 0 of 2 training runs were solved"),
                               HasSubstr("training run 0 of 'bar'"), HasSubstr("scene.toml:")));
}

TEST_F(Training, NamesRunsThatAreSkipped)
{
    const std::string text = std::string(bar) + held + "[training]\nruns = 3\nframes = 4\n";
    const TrainingData whole = train(text);
    ArchiveWriter failed; // as a run that was not solved is kept, so that it is not tried again
    failed.write("training/snapshots", MatX(whole.snapshots.rows(), 0));
    failed.write_text("training/trouble", "Newton's method did not converge");
    failed.save(std::filesystem::directory_iterator(folder_ / "cache")->path());
    const TrainingData data = train(text);
    EXPECT_EQ(data.runs, 2);
    EXPECT_EQ(data.snapshots.cols(), 2 * 2);
    ASSERT_EQ(data.notes.size(), 1u);
    EXPECT_THAT(data.notes[0], testing::MatchesRegex(
                                   "training run . of 'bar' is skipped: Newton's method did not converge"));
}

TEST_F(Training, ReadsAnimations)
{
    const Made made = make(std::string(bar) + held);
    const FemModel& fem = made.parts.model.fem;
    // bent about the held end, as tets in the coordinates of the shape
    TetMesh mesh = made.parts.model.shown.volume;
    mesh.vertices.row(1).array() += (mesh.vertices.row(0).array() + 0.2).square() - 0.3;
    write_tet_mesh(folder_ / "bent.mesh", mesh);
    const MatX u = read(made, "bent.mesh");
    ASSERT_EQ(u.cols(), 1);
    const MatX expected = (fem.rest.row(0).array() + 0.2).square();
    for (Index v = 0; v < fem.vertex_count(); ++v)
        EXPECT_LT((u.col(0).segment<3>(3 * v) - Vec3(0.0, expected(v), 0.0)).norm(), 1e-9);

    // the same as a surface in the world, in a folder: the inside follows
    std::filesystem::create_directory(folder_ / "frames");
    mesh.vertices.row(1).array() += 0.3;
    write_surface(folder_ / "frames" / "a.ply", boundary_surface(mesh));
    write_surface(folder_ / "frames" / "b.ply", boundary_surface(made.parts.model.shown.volume));
    const MatX extended = read(made, "frames");
    ASSERT_EQ(extended.cols(), 2);
    EXPECT_LT(extended.col(1).norm(), 1e-5 * u.norm());
    EXPECT_LT((extended.col(0) - u).cwiseAbs().maxCoeff(), 0.05 * u.maxCoeff());
}

TEST_F(Training, ReadsThePointCachesThatItWrites)
{
    const Made made = make(std::string(bar) + held + "[training]\nruns = 1\nevery = 1\n");
    Progress progress;
    const TrainingData data = train(made, progress);
    PreparedScene prepared = prepare_scene(made.scene, progress);
    {
        const auto sink = make_exporter(folder_ / "bar.pc2");
        FrameSink* const sinks[] = {sink.get()};
        RunMetrics metrics;
        ASSERT_EQ(run(prepared.world, prepared.run, sinks, metrics, progress).end, RunEnd::Finished);
    }
    const MatX read_back = read(made, "bar.pc2");
    ASSERT_EQ(read_back.cols(), 9); // and the start
    // single precision, and the inside is a guess of the least energy, without inertia
    EXPECT_LT((read_back.col(8) - data.snapshots.col(7)).cwiseAbs().maxCoeff(),
              0.02 * data.snapshots.col(7).cwiseAbs().maxCoeff());
}

TEST_F(Training, TurnsOfTheSurfaceTurnTheInside)
{
    const Made made = make(bar); // free
    TriangleMesh turned = made.parts.model.shown.surface;
    turned.vertices = exp_so3(Vec3(0.3, 1.5, -0.4)) * turned.vertices;
    write_surface(folder_ / "turned.ply", turned);
    EXPECT_LT(read(made, "turned.ply").cwiseAbs().maxCoeff(), 1e-5);
}

TEST_F(Training, ShapesAndSnapshotsAreInTheBasis)
{
    const std::string text = std::string(bar) + "[body.reduce]\nrank = 12\nposes = 40\n" + held + load;
    TetMesh mesh = make(text).parts.model.shown.volume;
    mesh.vertices.row(1).array() +=
        (20.0 * mesh.vertices.row(0).array()).sin() * (mesh.vertices.row(0).array() + 0.2);
    write_tet_mesh(folder_ / "wavy.mesh", mesh); // what no soft mode is
    const Made made = make(text + "[training]\nruns = 2\nframes = 4\nevery = 4\nshapes = [\"wavy.mesh\"]\n");
    Progress progress;
    const Reduction reduction = prepare_model(made.scene, made.scene.bodies[0], progress);
    const Basis basis{.U = reduction.volume.U, .mass_orthonormal = true};
    const auto outside = [&](const MatX& u) {
        return (u - basis.U * project(made.parts.model.fem, basis, u)).norm() / u.norm();
    };
    EXPECT_EQ(basis.rank(), 12);
    EXPECT_LT(outside(read(made, "wavy.mesh")), 1e-9);
    EXPECT_LT(outside(train(made, progress).snapshots), 2e-3); // all but a millionth of the energy
    const Made plain = make(text);
    const MatX U = prepare_model(plain.scene, plain.scene.bodies[0], progress).volume.U;
    const Basis modal{.U = U, .mass_orthonormal = true};
    const MatX wavy = read(made, "wavy.mesh");
    EXPECT_GT((wavy - U * project(made.parts.model.fem, modal, wavy)).norm() / wavy.norm(), 0.1);
}

TEST_F(Training, RefusesWhatIsOfAnotherMesh)
{
    const Made made = make(std::string(bar) + held);
    write_tet_mesh(folder_ / "other.mesh", make_box_tets(Vec3(1, 1, 1), 0.5));
    EXPECT_THAT(message_of([&] { (void)read(made, "other.mesh"); }),
                HasSubstr("27 vertices, of another mesh"));
    TetMesh moved = made.parts.model.shown.volume;
    moved.vertices.row(2).array() += 0.05;
    write_tet_mesh(folder_ / "moved.mesh", moved);
    EXPECT_THAT(message_of([&] { (void)read(made, "moved.mesh"); }), HasSubstr("which is pinned, by 0.05 m"));
    std::ofstream(folder_ / "short.pc2") << "POINTCACHE2" << '\0' << std::string(20, '\1');
    EXPECT_THAT(message_of([&] { (void)read(made, "short.pc2"); }), HasSubstr("too few for"));
    std::ofstream(folder_ / "not.pc2") << "hello";
    EXPECT_THAT(message_of([&] { (void)read(made, "not.pc2"); }), HasSubstr("not a point cache"));
    std::filesystem::create_directory(folder_ / "none");
    EXPECT_THAT(message_of([&] { (void)read(made, "none"); }), HasSubstr("empty folder"));
}

} // namespace
} // namespace lithe
