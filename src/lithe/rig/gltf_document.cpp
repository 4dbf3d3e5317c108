#include "lithe/rig/gltf_document.hpp"
