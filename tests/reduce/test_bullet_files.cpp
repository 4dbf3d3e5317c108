#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/geometry/io/bytes.hpp"
#include "lithe/reduce/bullet_files.hpp"
#include "reduce/bodies.hpp"
#include "support/message_of.hpp"
#include "support/size_limit.hpp"
#include "support/temporary_folder.hpp"

using namespace lithe;
using namespace lithe::test;
namespace fs = std::filesystem;
using testing::HasSubstr;

namespace {

const TetMesh& beam()
{
    static const TetMesh mesh = box_tets({5, 2, 2}, {0.5, 0.2, 0.2});
    return mesh;
}

Modes beam_modes(const FemModel& model, std::vector<int> pins = {})
{
    RestSystem system(model, std::move(pins));
    Progress progress;
    return linear_modes(system, {.count = 8}, progress);
}

FemModel beam_model(MassKind mass = MassKind::Lumped)
{
    return make_fem_model(beam(), Corotational({1e5, 0.4}), 1000.0, {.mass = mass});
}

BulletModel bullet_beam()
{
    const FemModel model = beam_model();
    return make_bullet_model(beam(), model, beam_modes(model));
}

class BulletFiles : public testing::Test {
protected:
    TemporaryFolder place;
    fs::path folder = place / "beam";

    std::string trouble() const
    {
        return message_of([&] { (void)read_bullet_files(folder); });
    }
    /// The file with its content changed.
    void change(const char* name, const std::function<void(std::string&)>& edit) const
    {
        std::string bytes = io::read_bytes(folder / name);
        edit(bytes);
        write_file(folder / name, bytes);
    }
};

} // namespace

TEST_F(BulletFiles, AreReadBackToTheLastBit)
{
    BulletModel model = bullet_beam();
    model.mesh.regions.assign(static_cast<std::size_t>(model.mesh.tet_count()), 3);
    model.mesh.regions[0] = 1;
    write_bullet_files(folder, model);
    const BulletModel read = read_bullet_files(folder);
    EXPECT_EQ(read.mesh.vertices, model.mesh.vertices);
    EXPECT_EQ(read.mesh.tets, model.mesh.tets);
    EXPECT_EQ(read.mesh.regions, model.mesh.regions);
    EXPECT_EQ(read.node_mass, model.node_mass);
    EXPECT_EQ(read.eigenvalues, model.eigenvalues);
    EXPECT_EQ(read.stiffness, model.stiffness);
    EXPECT_EQ(read.mass, model.mass);
    EXPECT_EQ(read.modes, model.modes);
}

TEST_F(BulletFiles, HoldModesOfUnitMassWithoutRigidMotion)
{
    const BulletModel model = bullet_beam();
    ASSERT_EQ(model.rank(), 8);
    const VecX m = model.node_mass.replicate(1, 3).transpose().reshaped(); // each mass for three coordinates
    EXPECT_NEAR(model.node_mass.sum(), 1000.0 * volume(beam()), 1e-9);
    EXPECT_LT((model.modes.transpose() * m.asDiagonal() * model.modes - MatX::Identity(8, 8)).norm(), 1e-10);
    for (int c = 0; c < 3; ++c) { // no momentum in any mode: the frame carries all of it
        VecX push = VecX::Zero(m.size());
        for (Index i = c; i < m.size(); i += 3) push[i] = m[i];
        EXPECT_LT((model.modes.transpose() * push).norm(), 1e-9);
    }
    EXPECT_EQ(model.stiffness, model.eigenvalues);
    EXPECT_GT(model.eigenvalues.minCoeff(), 1.0);
}

TEST_F(BulletFiles, WhatBulletCannotUseIsRefusedWithAWayOut)
{
    const FemModel consistent = beam_model(MassKind::Consistent), lumped = beam_model();
    EXPECT_THAT(message_of([&] { make_bullet_model(beam(), consistent, beam_modes(consistent)); }),
                HasSubstr("make it with lumped mass"));
    EXPECT_THAT(message_of([&] { make_bullet_model(beam(), lumped, beam_modes(lumped, {0, 1, 2, 3})); }),
                HasSubstr("setFixedNodes"));

    TetMesh two = beam();
    const Index n = two.vertex_count(), t = two.tet_count();
    two.vertices.conservativeResize(3, 2 * n);
    two.vertices.rightCols(n) = beam().vertices.colwise() + Vec3(0.0, 1.0, 0.0);
    two.tets.conservativeResize(4, 2 * t);
    two.tets.rightCols(t) = beam().tets.array() + static_cast<int>(n);
    const FemModel pair = make_fem_model(two, Corotational({1e5, 0.4}), 1000.0, {.mass = MassKind::Lumped});
    EXPECT_THAT(message_of([&] { make_bullet_model(two, pair, beam_modes(pair)); }), HasSubstr("2 parts"));
}

TEST_F(BulletFiles, DamagedFilesAreNamed)
{
    write_bullet_files(folder, bullet_beam());
    change("modes.bin", [](std::string& bytes) { bytes.resize(bytes.size() - 1); });
    EXPECT_THAT(trouble(), HasSubstr("modes.bin: says that it holds"));
    change("modes.bin", [](std::string& bytes) { bytes.resize(2); });
    EXPECT_THAT(trouble(), HasSubstr("modes.bin: is cut off"));
    fs::remove(folder / "modes.bin");
    EXPECT_THAT(trouble(), HasSubstr("modes.bin: does not exist"));

    write_bullet_files(folder, bullet_beam());
    change("eigenvalues.bin", [](std::string& bytes) { // seven are left
        bytes.resize(bytes.size() - 8);
        bytes[0] = 7;
    });
    EXPECT_THAT(trouble(), HasSubstr("K_r_diag_mat.bin: holds 8 numbers where 7 belong to 7 modes"));
    change("eigenvalues.bin", [](std::string& bytes) { bytes.assign(4, '\0'); });
    EXPECT_THAT(trouble(), HasSubstr("eigenvalues.bin: holds no modes"));

    write_bullet_files(folder, bullet_beam());
    change("M_diag_mat.bin",
           [](std::string& bytes) { std::fill(bytes.begin() + 4, bytes.begin() + 12, '\0'); });
    EXPECT_THAT(trouble(), HasSubstr("M_diag_mat.bin: number 0 is"));
    change("M_diag_mat.bin",
           [](std::string& bytes) { std::fill(bytes.begin() + 12, bytes.begin() + 20, '\xff'); });
    EXPECT_THAT(trouble(), HasSubstr("M_diag_mat.bin at byte 12: is not a finite number"));

    write_bullet_files(folder, bullet_beam());
    fs::copy(folder / "mesh.vtk", folder / "another.vtk");
    EXPECT_EQ(read_bullet_files(folder).mesh.tets, beam().tets); // mesh.vtk is the one
    fs::remove(folder / "mesh.vtk");
    EXPECT_EQ(read_bullet_files(folder).mesh.tets, beam().tets); // so is the only one
    fs::copy(folder / "another.vtk", folder / "third.vtk");
    EXPECT_THAT(trouble(), HasSubstr("several .vtk files"));
    fs::remove(folder / "another.vtk");
    fs::remove(folder / "third.vtk");
    EXPECT_THAT(trouble(), HasSubstr("no .vtk file"));
    fs::remove_all(folder);
    EXPECT_THAT(trouble(), HasSubstr("cannot be read as a folder"));
}

TEST_F(BulletFiles, AFullDiskAndABadPlaceLeaveNothing)
{
    const BulletModel model = bullet_beam();
    const std::string full = message_of([&] {
        const SizeLimit limit(6000); // enough for the mesh, not for the modes
        write_bullet_files(folder, model);
    });
    EXPECT_THAT(full, HasSubstr("modes.bin: cannot be written"));
    EXPECT_TRUE(place.is_empty());
    const std::string nowhere = message_of([&] { write_bullet_files(place / "no" / "out", model); });
    EXPECT_THAT(nowhere, HasSubstr("does not exist; make it first"));
    EXPECT_EQ(std::ranges::count(full + nowhere, '\n'), 0);
}

TEST_F(BulletFiles, MassMayBeMissing)
{
    write_bullet_files(folder, bullet_beam());
    fs::remove(folder / "M_r_diag_mat.bin"); // Bullet does not read it, so that others may not write it
    EXPECT_EQ(read_bullet_files(folder).mass, VecX::Ones(8));
}
