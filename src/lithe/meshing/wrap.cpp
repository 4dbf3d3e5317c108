#include "lithe/meshing/wrap.hpp"
