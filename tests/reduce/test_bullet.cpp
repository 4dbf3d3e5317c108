// Our files in Debian's Bullet: its own loader reads them, its own solver steps them.
#include <cmath>

#include <gtest/gtest.h>

#include "lithe/reduce/bullet_files.hpp"
#include "reduce/bodies.hpp"
#include "support/temporary_folder.hpp"

// Last, for it names a global `seed`, which others use inside.
#include <BulletSoftBody/BulletReducedDeformableBody/btReducedDeformableBody.h>
#include <BulletSoftBody/BulletReducedDeformableBody/btReducedDeformableBodyHelpers.h>
#include <BulletSoftBody/BulletReducedDeformableBody/btReducedDeformableBodySolver.h>
#include <BulletSoftBody/btDeformableMultiBodyConstraintSolver.h>
#include <BulletSoftBody/btDeformableMultiBodyDynamicsWorld.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <btBulletDynamicsCommon.h>

using namespace lithe;
using namespace lithe::test;

namespace {

constexpr Index mode_count = 10;

BulletModel beam()
{
    const TetMesh mesh = box_tets({8, 2, 2}, {0.8, 0.2, 0.2});
    const FemModel model = make_fem_model(mesh, Corotational({2e5, 0.4}), 1000.0, {.mass = MassKind::Lumped});
    RestSystem system(model);
    Progress progress;
    return make_bullet_model(mesh, model, linear_modes(system, {.count = mode_count}, progress));
}

/// A Bullet world with one reduced body in it, loaded from files that we wrote.
class BulletWorld {
public:
    explicit BulletWorld(const BulletModel& model, double gravity = 0.0) : model_(model)
    {
        const btVector3 g(0, static_cast<btScalar>(gravity), 0);
        solver_.setGravity(g);
        constraints_.setDeformableSolver(&solver_);
        world_.setGravity(g);
        world_.setImplicit(false);
        world_.getSolverInfo().m_deformable_erp = btScalar(0.2);
        world_.getSolverInfo().m_deformable_cfm = btScalar(0.2);
        world_.getSolverInfo().m_numIterations = 100;
        write_bullet_files(folder_ / "beam", model);
        body_ = btReducedDeformableBodyHelpers::createReducedDeformableObject(
            world_.getWorldInfo(), (folder_ / "beam").string() + "/", "mesh.vtk",
            static_cast<int>(model.rank()), false);
        world_.addSoftBody(body_);
        body_->getCollisionShape()->setMargin(btScalar(0.01));
        body_->m_sleepingThreshold = 0;
        body_->m_cfg.collisions = btSoftBody::fCollision::SDF_RD | btSoftBody::fCollision::SDF_RDN;
    }
    ~BulletWorld()
    {
        world_.removeSoftBody(body_);
        delete body_;
        if (ground_) world_.removeRigidBody(ground_.get());
    }
    BulletWorld(const BulletWorld&) = delete;
    BulletWorld& operator=(const BulletWorld&) = delete;

    /// The solid below this height.
    void add_ground(double height)
    {
        btTransform at = btTransform::getIdentity();
        at.setOrigin({0, static_cast<btScalar>(height - 1.0), 0});
        ground_ = std::make_unique<btRigidBody>(btScalar(0), nullptr, &ground_shape_);
        ground_->setWorldTransform(at);
        world_.addRigidBody(ground_.get());
    }
    void step(double h) { world_.stepSimulation(static_cast<btScalar>(h), 0); }

    btReducedDeformableBody& body() { return *body_; }
    Points positions() const
    {
        Points x(3, body_->m_nodes.size());
        for (int i = 0; i < body_->m_nodes.size(); ++i)
            for (int c = 0; c < 3; ++c) x(c, i) = body_->m_nodes[i].m_x[c];
        return x;
    }
    VecX q() const
    {
        VecX values(body_->m_nReduced);
        for (int k = 0; k < body_->m_nReduced; ++k) values[k] = body_->m_reducedDofs[k];
        return values;
    }

private:
    BulletModel model_;
    TemporaryFolder folder_;
    btSoftBodyRigidBodyCollisionConfiguration configuration_;
    btCollisionDispatcher dispatcher_{&configuration_};
    btDbvtBroadphase broadphase_;
    btReducedDeformableBodySolver solver_;
    btDeformableMultiBodyConstraintSolver constraints_;
    btDeformableMultiBodyDynamicsWorld world_{&dispatcher_, &broadphase_, &constraints_, &configuration_,
                                              &solver_};
    btBoxShape ground_shape_{btVector3(5, 1, 5)};
    std::unique_ptr<btRigidBody> ground_;
    btReducedDeformableBody* body_ = nullptr;
};

} // namespace

TEST(Bullet, LoadsWhatWeWrote)
{
    const BulletModel model = beam();
    BulletWorld world(model);
    const btReducedDeformableBody& body = world.body();
    ASSERT_EQ(body.m_nodes.size(), model.mesh.vertex_count());
    ASSERT_EQ(body.m_tetras.size(), model.mesh.tet_count());
    ASSERT_EQ(body.m_nReduced, mode_count);
    // Bullet keeps single precision.
    EXPECT_LE((world.positions() - model.mesh.vertices).cwiseAbs().maxCoeff(), 1e-7);
    EXPECT_NEAR(body.getTotalMass(), 32.0, 1e-4); // 0.8 x 0.2 x 0.2 m of 1000 kg/m^3
    for (int k = 0; k < mode_count; ++k) {
        EXPECT_FLOAT_EQ(body.m_eigenvalues[k], static_cast<float>(model.eigenvalues[k]));
        EXPECT_FLOAT_EQ(body.m_Kr[k], static_cast<float>(model.eigenvalues[k]));
        for (Index i = 0; i < model.modes.rows(); ++i)
            ASSERT_FLOAT_EQ(body.m_modes[k][static_cast<int>(i)], static_cast<float>(model.modes(i, k)));
    }
    for (Index i = 0; i < model.node_mass.size(); ++i)
        ASSERT_FLOAT_EQ(body.m_nodalMass[static_cast<int>(i)], static_cast<float>(model.node_mass[i]));
}

TEST(Bullet, SwingsAtOurFrequencies)
{
    const BulletModel model = beam();
    BulletWorld world(model);
    // Every mode from q = 0 with a velocity of its own. Bullet steps  v -= h omega^2 q, q += h v,  whose solution is
    //   q_n = v_0 h sin(n theta) / sin(theta),  cos(theta) = 1 - (h omega)^2 / 2
    const double h = 1.0 / 1000.0;
    const VecX omega = model.eigenvalues.cwiseSqrt();
    ASSERT_LT(h * omega.maxCoeff(), 1.0);    // its steps are explicit: stable below 2
    ASSERT_GT(omega[0] / (2.0 * M_PI), 4.0); // several periods in a second
    const VecX v = 0.005 * omega;
    for (int k = 0; k < mode_count; ++k)
        world.body().m_reducedVelocity[k] = world.body().m_reducedVelocityBuffer[k] =
            static_cast<btScalar>(v[k]);
    double error = 0.0, shape_error = 0.0, largest = 0.0;
    for (int n = 1; n <= 1000; ++n) {
        world.step(h);
        const VecX q = world.q();
        const VecX theta = (1.0 - 0.5 * (h * omega).array().square()).acos();
        const VecX wanted = h * v.array() * (n * theta.array()).sin() / theta.array().sin();
        error = std::max(error, (q - wanted).cwiseAbs().maxCoeff());
        largest = std::max(largest, q.cwiseAbs().maxCoeff());
        const VecX u = model.modes * q;
        const Points x = model.mesh.vertices + u.reshaped(3, model.mesh.vertex_count());
        shape_error = std::max(shape_error, (world.positions() - x).cwiseAbs().maxCoeff());
    }
    EXPECT_GT(largest, 0.004);
    EXPECT_LT(error, 2e-4 * largest); // single precision through 1000 steps
    EXPECT_LT(shape_error, 1e-6);     // no frame moves, since no mode carries momentum
}

TEST(Bullet, DropsOnTheGroundAndBends)
{
    const BulletModel model = beam();
    BulletWorld world(model, -9.8);
    world.add_ground(-0.15); // 0.15 m below a beam whose lowest point is at 0
    double lowest = 1.0, largest = 0.0;
    for (int n = 0; n < 1000; ++n) {
        world.step(1.0 / 1000.0);
        const Points x = world.positions();
        ASSERT_TRUE(x.allFinite());
        lowest = std::min(lowest, x.row(1).minCoeff());
        largest = std::max(largest, (model.modes * world.q()).cwiseAbs().maxCoeff());
    }
    EXPECT_GT(lowest, -0.2);  // the ground held it (nothing would: -4.9 m)
    EXPECT_LT(lowest, -0.1);  // and it fell that far
    EXPECT_GT(largest, 1e-4); // the blow deformed it [m]
    EXPECT_LT(largest, 0.1);
}

TEST(Bullet, PinsABodyOfFreeModes)
{
    const BulletModel model = beam();
    BulletWorld world(model, -9.8);
    const std::vector<int> face = vertices_at(model.mesh.vertices, 0, 0.0);
    const std::vector<int> pins = {face[0], face[2], face[6]}; // few, since ten modes cannot obey many
    for (const int i : pins) world.body().setFixedNodes(i);
    world.body().setDamping(0, btScalar(1e-4));
    for (int n = 0; n < 1000; ++n) world.step(1.0 / 1000.0);
    const Points u = world.positions() - model.mesh.vertices;
    ASSERT_TRUE(u.allFinite());
    const double held = u(Eigen::all, pins).colwise().norm().maxCoeff();
    const double tip = u(1, vertices_at(model.mesh.vertices, 0, 0.8).front());
    EXPECT_LT(held, 0.005); // Bullet pulls them back softly
    EXPECT_LT(tip, -0.02);  // gravity bends it: the modes feel it through the pins
}
