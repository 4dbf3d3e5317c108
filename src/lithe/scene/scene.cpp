#include "lithe/scene/scene.hpp"

namespace lithe {

std::string_view method_name(Method method)
{
    switch (method) {
    case Method::BackwardEuler:
        return "backward_euler";
    case Method::Newmark:
        return "newmark";
    case Method::QuasiStatic:
        return "quasi_static";
    case Method::Static:
        return "static";
    }
    return "";
}

} // namespace lithe
