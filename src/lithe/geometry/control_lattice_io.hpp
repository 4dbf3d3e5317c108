#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "lithe/geometry/control_lattice.hpp"

namespace lithe {

// Control lattices as text (docs/lattice.md): a line per vertex, cell and bone; vertices are counted from 0.
//
//   vertex 0.1 0.2 0.3
//   tet 0 1 2 3            prism 0 1 2 3 4 5        hex 0 1 2 3 4 5 6 7
//   bone 4 5 6 upper arm   head to tail, then the name of the joint that carries it, to the end of the line

/// Throws InputError with the line. Whether the lattice is fit for use is asked by first_fault.
ControlLattice read_lattice(const std::filesystem::path& file);
ControlLattice parse_lattice(std::string_view text, const std::filesystem::path& name);

std::string lattice_text(const ControlLattice& lattice);

} // namespace lithe
