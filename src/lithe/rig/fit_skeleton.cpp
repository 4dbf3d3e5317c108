#include "lithe/rig/fit_skeleton.hpp"
