#include "lithe/rig/skin_weights.hpp"
