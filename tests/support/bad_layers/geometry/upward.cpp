#include "lithe/meshing/stuffing.hpp" // what the layer check must refuse
