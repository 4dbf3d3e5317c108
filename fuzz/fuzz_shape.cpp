// Any bytes as a file of the shape language: they are a model whose skeleton is a tree and whose field can be asked, or
// an InputError.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lithe/core/error.hpp"
#include "lithe/geometry/shape_field.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace lithe;
    try {
        const ShapeModel model =
            parse_shape(std::string_view(reinterpret_cast<const char*>(data), size), "fuzzed");
        for (int j = 0; j < static_cast<int>(model.joints.size()); ++j)
            LITHE_ASSERT(model.joints[j].parent < j);
        LITHE_ASSERT(!skeleton_text(model).empty());
        const ShapeField field(model);
        LITHE_ASSERT(std::isfinite(field.value(field.box().center())));
    } catch (const InputError&) {
        return 0;
    }
    return 0;
}
