#include "lithe/rig/rig_files.hpp"
