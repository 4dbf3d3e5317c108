#include "lithe/reduce/bone_model.hpp"

#include <Eigen/Eigenvalues>

#include "lithe/reduce/modes.hpp"

namespace lithe {

VecX rest_frequencies(const PreparedBone& bone)
{
    if (bone.rank() == 0) return {};
    ReducedElastic at_rest;
    ReducedElasticWork work;
    evaluate_stiffness(bone.reduced.elastic, VecX::Zero(bone.rank()), at_rest, work);
    return frequencies(Eigen::GeneralizedSelfAdjointEigenSolver<MatX>(at_rest.stiffness, bone.reduced.M,
                                                                      Eigen::EigenvaluesOnly)
                           .eigenvalues());
}

double BoneModel::mass() const
{
    double sum = 0.0;
    for (const PreparedBone& bone : bones) sum += bone.tensors.mass;
    return sum;
}

Index BoneModel::freedoms() const
{
    Index sum = 0;
    for (const PreparedBone& bone : bones) sum += 6 + bone.rank();
    return sum;
}

int BoneModel::find(std::string_view bone) const
{
    for (std::size_t k = 0; k < bones.size(); ++k)
        if (bones[k].name == bone) return static_cast<int>(k);
    return -1;
}

} // namespace lithe
