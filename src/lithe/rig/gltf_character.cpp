#include "lithe/rig/gltf_character.hpp"
