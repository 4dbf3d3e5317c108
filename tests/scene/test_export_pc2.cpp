#include <cstring>

#include "lithe/geometry/mesh_io.hpp"
#include "scene/export_test.hpp"

using namespace lithe;
using test::Animation;
using testing::HasSubstr;

using ExportPc2 = test::ExportTest;

namespace {

template <class T>
T take(const std::string& bytes, std::size_t at)
{
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    return value;
}

void expect_cache(const std::string& bytes, const Animation& animation, int body, int first, int frames)
{
    const Index n = animation.bodies()[static_cast<std::size_t>(body)].surface.vertex_count();
    ASSERT_EQ(bytes.size(), 32 + 12 * static_cast<std::size_t>(n * frames));
    EXPECT_EQ(bytes.substr(0, 12), std::string("POINTCACHE2", 12));
    EXPECT_EQ(take<int>(bytes, 12), 1);
    EXPECT_EQ(take<int>(bytes, 16), n);
    EXPECT_EQ(take<float>(bytes, 20), static_cast<float>(first));
    EXPECT_EQ(take<float>(bytes, 24), 1.0F);
    EXPECT_EQ(take<int>(bytes, 28), frames);
    for (int f = 0; f < frames; ++f) {
        const Points wanted = animation.positions(body, first + f);
        for (Index i = 0; i < 3 * n; ++i) // single precision of coordinates up to 3
            ASSERT_NEAR(take<float>(bytes, 32 + 4 * static_cast<std::size_t>(3 * n * f + i)),
                        wanted.data()[i], 1e-6);
    }
}

} // namespace

TEST_F(ExportPc2, SeveralBodiesHaveAPairOfFilesEach)
{
    export_frames(folder / "out.pc2", 5);
    EXPECT_EQ(names(), (std::vector<std::string>{"out_soft_block.obj", "out_soft_block.pc2", "out_torus.obj",
                                                 "out_torus.pc2"}));
    expect_cache(content(folder / "out_torus.pc2"), animation, Animation::torus, 0, 5);
    expect_cache(content(folder / "out_soft_block.pc2"), animation, Animation::block, 0, 5);
    const TriangleMesh mesh = read_surface(folder / "out_torus.obj");
    EXPECT_EQ(mesh.triangles, animation.bodies()[Animation::torus].surface.triangles);
    EXPECT_LE((mesh.vertices - animation.positions(Animation::torus, 0)).cwiseAbs().maxCoeff(), 1e-6);
}

TEST_F(ExportPc2, OneDeformingBodyTakesTheNameAsItIs)
{
    const std::vector<Shown> bodies = {animation.bodies()[Animation::box],
                                       animation.bodies()[Animation::torus]};
    const auto sink = make_exporter(folder / "out.pc2");
    sink->begin(bodies, Animation::fps);
    for (int f = 3; f < 6; ++f) {
        Frame frame = animation.frame(f);
        frame.bodies = {frame.bodies[Animation::box], frame.bodies[Animation::torus]};
        sink->frame(frame);
    }
    sink->finish();
    EXPECT_EQ(names(), (std::vector<std::string>{"out.obj", "out.pc2"}));
    expect_cache(content(folder / "out.pc2"), animation, Animation::torus, 3, 3);
}

TEST_F(ExportPc2, RefusesAtTheBeginningWhatHasNothingToDeform)
{
    const auto sink = make_exporter(folder / "out.pc2");
    const std::string message =
        test::message_of([&] { sink->begin({animation.bodies()[Animation::box]}, Animation::fps); });
    EXPECT_THAT(message, HasSubstr("out.pc2"));
    EXPECT_THAT(message, HasSubstr("all are rigid"));
}
