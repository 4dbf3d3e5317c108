#include "lithe/rig/bind.hpp"
