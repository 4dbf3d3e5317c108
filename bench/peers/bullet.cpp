#include "peers/bullet.hpp"

#include <cstdio>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include "lithe/core/error.hpp"

// Last, for it names a global `seed`, which others use inside.
#include <BulletSoftBody/BulletReducedDeformableBody/btReducedDeformableBody.h>
#include <BulletSoftBody/BulletReducedDeformableBody/btReducedDeformableBodyHelpers.h>
#include <BulletSoftBody/BulletReducedDeformableBody/btReducedDeformableBodySolver.h>
#include <BulletSoftBody/btDeformableMultiBodyConstraintSolver.h>
#include <BulletSoftBody/btDeformableMultiBodyDynamicsWorld.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <btBulletDynamicsCommon.h>

namespace lithe::bench {
namespace {

btVector3 to_bullet(const Vec3& a)
{
    const Eigen::Vector3f f = a.cast<float>();
    return {f[0], f[1], f[2]};
}

Vec3 from_bullet(const btVector3& a)
{
    return {a.x(), a.y(), a.z()};
}

/// Keeps what others print to the standard output from being seen.
class Silence {
public:
    Silence()
    {
        std::fflush(stdout);
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        close(nowhere);
    }
    ~Silence()
    {
        std::fflush(stdout);
        dup2(output_, STDOUT_FILENO);
        close(output_);
    }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;

private:
    int output_ = dup(STDOUT_FILENO);
};

/// The body of a folder that is there for no longer than it takes to load it.
btReducedDeformableBody* load(btSoftBodyWorldInfo& info, const BulletModel& model)
{
    std::string folder = (std::filesystem::temp_directory_path() / "lithe-bullet-XXXXXX").string();
    if (!mkdtemp(folder.data())) throw InputError("cannot make a folder for Bullet's files: " + folder);
    write_bullet_files(folder, model);
    const Silence silence; // Bullet prints what it reads
    btReducedDeformableBody* body = btReducedDeformableBodyHelpers::createReducedDeformableObject(
        info, folder + "/", "mesh.vtk", static_cast<int>(model.rank()), false);
    std::filesystem::remove_all(folder);
    return body;
}

/// As Bullet's own examples set it up.
class ReducedWorld final : public BulletWorld {
public:
    ReducedWorld(const BulletModel& model, const RayleighDamping& damping, const Vec3& gravity)
    {
        solver_.setGravity(to_bullet(gravity));
        constraints_.setDeformableSolver(&solver_);
        world_.setGravity(to_bullet(gravity));
        world_.setImplicit(false);
        world_.setLineSearch(false);
        btContactSolverInfo& options = world_.getSolverInfo();
        options.m_deformable_erp = btScalar(0.2);
        options.m_deformable_cfm = btScalar(0.2);
        options.m_friction = btScalar(0.5);
        options.m_deformable_maxErrorReduction = btScalar(200);
        options.m_leastSquaresResidualThreshold = btScalar(1e-3);
        options.m_splitImpulse = false;
        options.m_numIterations = 100;

        body_.reset(load(world_.getWorldInfo(), model));
        world_.addSoftBody(body_.get());
        body_->getCollisionShape()->setMargin(btScalar(0.01));
        body_->setDamping(static_cast<btScalar>(damping.mass), static_cast<btScalar>(damping.stiffness));
        body_->m_sleepingThreshold = 0;
        body_->m_cfg.kKHR = 1;
        body_->m_cfg.kCHR = 1;
        body_->m_cfg.kDF = btScalar(0.5);
        body_->m_cfg.collisions = btSoftBody::fCollision::SDF_RD | btSoftBody::fCollision::SDF_RDN;
    }
    ~ReducedWorld() override
    {
        world_.removeSoftBody(body_.get());
        if (ground_) world_.removeRigidBody(ground_.get());
    }
    ReducedWorld(const ReducedWorld&) = delete;
    ReducedWorld& operator=(const ReducedWorld&) = delete;

    void add_ground(double height) override
    {
        btTransform at = btTransform::getIdentity();
        at.setOrigin(to_bullet({0.0, height - 1.0, 0.0}));
        ground_ = std::make_unique<btRigidBody>(btScalar(0), nullptr, &ground_shape_);
        ground_->setWorldTransform(at);
        ground_->setFriction(btScalar(0.5));
        world_.addRigidBody(ground_.get());
    }
    void set_spin(const Vec3& omega) override
    {
        body_->setRigidAngularVelocity(to_bullet(omega));
        body_->mapToFullVelocity(body_->getRigidTransform());
    }
    void step(double h) override { world_.stepSimulation(static_cast<btScalar>(h), 0); }

    int contact_count() const override
    {
        return body_->m_nodeRigidContacts.size() + body_->m_faceRigidContacts.size();
    }
    void read_nodes(Points& x, Points& v) const override
    {
        x.resize(3, body_->m_nodes.size());
        v.resize(3, body_->m_nodes.size());
        for (int i = 0; i < body_->m_nodes.size(); ++i) {
            x.col(i) = from_bullet(body_->m_nodes[i].m_x);
            v.col(i) = from_bullet(body_->m_nodes[i].m_v);
        }
    }

private:
    btSoftBodyRigidBodyCollisionConfiguration configuration_;
    btCollisionDispatcher dispatcher_{&configuration_};
    btDbvtBroadphase broadphase_;
    btReducedDeformableBodySolver solver_;
    btDeformableMultiBodyConstraintSolver constraints_;
    btDeformableMultiBodyDynamicsWorld world_{&dispatcher_, &broadphase_, &constraints_, &configuration_,
                                              &solver_};
    btBoxShape ground_shape_{btVector3(5, 1, 5)};
    std::unique_ptr<btRigidBody> ground_;
    std::unique_ptr<btReducedDeformableBody> body_;
};

} // namespace

std::unique_ptr<BulletWorld> make_bullet_world(const BulletModel& model, const RayleighDamping& damping,
                                               const Vec3& gravity)
{
    return std::make_unique<ReducedWorld>(model, damping, gravity);
}

} // namespace lithe::bench
