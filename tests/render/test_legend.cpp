#include "lithe/render/legend.hpp"

#include <gtest/gtest.h>

#include "render/pictures.hpp"

namespace lithe {
namespace {

TEST(Legend, DrawsTheMapFromHighToLowAtTheRightBorder)
{
    Image image = make_image(640, 480);
    draw_legend(image, {"speed", -1.5, 2.0});
    const int x = 640 - 20 - 6;
    int last = 3 * 255;
    for (int y = 150; y < 330; y += 20) {
        EXPECT_LT(test::brightness(image, x, y), last + 40); // light above, dark below
        last = test::brightness(image, x, y);
    }
    EXPECT_GT(test::brightness(image, x, 150), test::brightness(image, x, 330) + 200);
    EXPECT_EQ(test::brightness(image, 100, 240), 0); // the rest is untouched
}

TEST(Legend, LabelsDependOnTheRangeAndFitTinyPictures)
{
    Image a = make_image(640, 480), b = a, tiny = make_image(8, 8);
    draw_legend(a, {"speed", 0.0, 1.0});
    draw_legend(b, {"speed", 0.0, 2.0});
    EXPECT_NE(a.rgb8, b.rgb8);
    draw_legend(tiny, {std::string(500, 'x'), -1e300, 1e300});
}

} // namespace
} // namespace lithe
