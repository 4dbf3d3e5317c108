#include "lithe/rig/clip.hpp"
