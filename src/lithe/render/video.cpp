#include "lithe/render/video.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "lithe/core/error.hpp"

extern char** environ;

namespace lithe {

namespace {

std::vector<std::string> ffmpeg_arguments(const std::filesystem::path& output, const VideoOptions& options)
{
    return {
        "ffmpeg", "-v", "error", "-nostdin", "-y",
        // in: raw pictures
        "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", fmt::format("{}x{}", options.width, options.height),
        "-r", fmt::format("{}", options.fps), "-i", "pipe:0",
        // out: H.264 with half the colours in each direction, which wants even sides, and sRGB's primaries
        "-an", "-vf", "scale=out_color_matrix=bt709,pad=ceil(iw/2)*2:ceil(ih/2)*2", "-c:v", "libx264",
        "-preset", "medium", "-crf", "17", "-pix_fmt", "yuv420p", "-colorspace", "bt709", "-color_primaries",
        "bt709", "-color_trc", "iec61966-2-1", "-movflags", "+faststart", "-f", "mp4", output.string()};
}

} // namespace

/// The child process: pictures go in through a socket (a broken pipe is then an error, not a signal), what it has to
/// say comes out of `errors`.
struct VideoWriter::Encoder {
    pid_t process = -1;
    int pictures = -1, errors = -1;

    ~Encoder()
    {
        close_pictures();
        if (process > 0) {
            kill(process, SIGKILL);
            waitpid(process, nullptr, 0);
        }
        if (errors >= 0) close(errors);
    }
    void close_pictures()
    {
        if (pictures >= 0) close(pictures);
        pictures = -1;
    }
    void start(std::vector<std::string> arguments);
    bool send(const std::uint8_t* bytes, std::size_t count) const;
    std::string complaint() const;
    bool succeeded();
};

void VideoWriter::Encoder::start(std::vector<std::string> arguments)
{
    int in[2], err[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0 || pipe2(err, O_CLOEXEC) != 0)
        throw std::system_error(errno, std::generic_category(), "cannot make a pipe to ffmpeg");
    pictures = in[1];
    errors = err[0];

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    posix_spawnattr_t attributes; // a group of its own: Ctrl-C comes to us, and we stop it
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int status = posix_spawnp(&process, argv[0], &actions, &attributes, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(in[0]);
    close(err[1]);
    if (status != 0) {
        process = -1;
        throw InputError(
            fmt::format("cannot run ffmpeg ({}), which makes the .mp4; install it (apt install ffmpeg) "
                        "or write .png pictures",
                        std::strerror(status)));
    }
}

bool VideoWriter::Encoder::send(const std::uint8_t* bytes, std::size_t count) const
{
    while (count > 0) {
        const ssize_t sent = ::send(pictures, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes += sent;
        count -= static_cast<std::size_t>(sent);
    }
    return true;
}

/// The last line that ffmpeg wrote; waits until it ends.
std::string VideoWriter::Encoder::complaint() const
{
    std::string text;
    std::array<char, 4096> part;
    for (ssize_t got; (got = read(errors, part.data(), part.size())) != 0;) {
        if (got < 0 && errno != EINTR) break;
        if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
    }
    while (!text.empty() && text.back() == '\n') text.pop_back();
    const std::size_t line = text.rfind('\n');
    return line == std::string::npos ? text : text.substr(line + 1);
}

bool VideoWriter::Encoder::succeeded()
{
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    process = -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

VideoWriter::VideoWriter(const std::filesystem::path& target, const VideoOptions& options)
    : target_(target), temporary_(target), options_(options), encoder_(std::make_unique<Encoder>())
{
    require_positive("fps", options.fps);
    temporary_.replace_filename(fmt::format(".{}.{}.partial", target.filename().string(), getpid()));
    const int file = open(temporary_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (file < 0) throw InputError({target}, fmt::format("cannot write here: {}", std::strerror(errno)));
    close(file);
    try {
        encoder_->start(ffmpeg_arguments(std::filesystem::absolute(temporary_), options));
    } catch (...) {
        unlink(temporary_.c_str());
        throw;
    }
}

VideoWriter::~VideoWriter()
{
    encoder_.reset(); // before the file goes, or ffmpeg might make it again
    if (!temporary_.empty()) unlink(temporary_.c_str());
}

void VideoWriter::add(const Image& image)
{
    LITHE_ASSERT(image.width == options_.width && image.height == options_.height);
    if (!encoder_->send(image.rgb8.data(), image.rgb8.size())) {
        encoder_->close_pictures();
        throw InputError({target_}, fmt::format("ffmpeg stopped: {}", encoder_->complaint()));
    }
}

void VideoWriter::finish()
{
    encoder_->close_pictures();
    const std::string complaint = encoder_->complaint();
    if (!encoder_->succeeded()) throw InputError({target_}, fmt::format("ffmpeg failed: {}", complaint));
    std::filesystem::rename(temporary_, target_);
    temporary_.clear();
}

} // namespace lithe
