#include "lithe/contact/friction_state.hpp"

#include "lithe/core/error.hpp"

namespace lithe {

void clear(FrictionState& friction)
{
    friction.obstacle.clear();
    friction.sample.clear();
    friction.anchor.clear();
}

void write(const FrictionState& friction, StateWriter& out)
{
    out.write(friction.sample);
    for (std::size_t i = 0; i < friction.size(); ++i) {
        out.write(static_cast<std::int64_t>(friction.obstacle[i]));
        for (const double coordinate : friction.anchor[i]) out.write(coordinate);
    }
}

void read(FrictionState& friction, StateReader& in)
{
    FrictionState loaded;
    in.read(loaded.sample);
    for (std::size_t i = 0; i < loaded.size(); ++i) {
        loaded.obstacle.push_back(static_cast<std::uint64_t>(in.read_integer()));
        Vec3& anchor = loaded.anchor.emplace_back();
        for (double& coordinate : anchor) coordinate = in.read_number();
    }
    friction = std::move(loaded);
}

} // namespace lithe
