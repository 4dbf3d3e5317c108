#include "lithe/math/types.hpp"
