#include "lithe/rig/skinning.hpp"
