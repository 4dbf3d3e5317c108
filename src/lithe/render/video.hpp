#pragma once
#include <filesystem>
#include <memory>

#include "lithe/render/image.hpp"

namespace lithe {

struct VideoOptions {
    int width = 1280, height = 720; ///< of every picture [pixels]
    double fps = 30.0;              ///< pictures per second, > 0
};

/// Writes an MP4 (H.264) by handing pictures to the program ffmpeg through a pipe. The file appears whole when `finish`
/// returns; destroyed before that, ffmpeg is stopped and nothing is left behind.
class VideoWriter {
public:
    /// Throws InputError when ffmpeg is not there, or the folder cannot be written to.
    VideoWriter(const std::filesystem::path& target, const VideoOptions& options);
    ~VideoWriter();
    VideoWriter(const VideoWriter&) = delete;
    VideoWriter& operator=(const VideoWriter&) = delete;

    void add(const Image& image);
    void finish();

private:
    struct Encoder;
    std::filesystem::path target_, temporary_;
    VideoOptions options_;
    std::unique_ptr<Encoder> encoder_;
};

} // namespace lithe
