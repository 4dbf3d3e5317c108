#include "lithe/rig/character.hpp"
