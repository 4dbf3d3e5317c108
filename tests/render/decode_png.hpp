#pragma once
#include <string>

#include "lithe/render/image.hpp"

namespace lithe::test {

/// The picture in the bytes of a PNG file of three channels, read by another library than the one that wrote it; empty
/// when they are none.
Image decode_png(const std::string& bytes);

} // namespace lithe::test
