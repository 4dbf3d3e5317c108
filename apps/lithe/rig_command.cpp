#include "command.hpp"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/prepare/prepare_character.hpp"
#include "lithe/prepare/source.hpp"
#include "lithe/rig/fit_skeleton.hpp"
#include "lithe/rig/gltf_character.hpp"
#include "lithe/rig/rig_files.hpp"

namespace lithe::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr Choices<SkeletonTemplate, 3> templates = {{{"biped", SkeletonTemplate::Biped},
                                                     {"quadruped", SkeletonTemplate::Quadruped},
                                                     {"chain", SkeletonTemplate::Chain}}};

/// As the user gave them.
struct Options {
    std::string input, output;
    ReadOptions read;
    std::optional<SkeletonTemplate> fit;
    std::optional<int> chain_joints;
    std::optional<std::string> skeleton; ///< file
    bool bind = false;
    BindOptions binding;
    std::optional<Index> tets;
    std::vector<std::string> clips; ///< files, or names of clips to keep
    std::optional<std::string> domains;
    std::optional<double> overlap;
    double fps = 30.0;
    bool json = false;
};

/// What the command did.
struct Job {
    Character character;
    std::optional<CharacterVolume> volume = {};
    bool own_document = true; ///< what is written is the file that was read, changed
    std::vector<std::string> notes = {};
};

Character read_input(const Options& options)
{
    if (holds_character(options.input)) return read_character(options.input, options.read);
    Character out;
    out.file = options.input;
    out.surface = read_surface(options.input, options.read);
    return out;
}

/// Without what belongs to another skeleton.
void replace_skeleton(Job& job, Skeleton skeleton)
{
    job.character.skeleton = std::move(skeleton);
    job.character.bones.clear();
    job.character.weights = {};
    job.character.clips.clear();
    job.own_document = false;
}

void set_skeleton(const Options& options, Job& job, Session& session)
{
    if (options.skeleton) {
        Character other = read_character(*options.skeleton, options.read);
        replace_skeleton(job, std::move(other.skeleton));
        job.character.clips = std::move(other.clips);
    }
    if (options.fit) {
        const Wrap wrapped = wrap(job.character.surface, {}, session.progress());
        FitOptions fit{.kind = *options.fit};
        if (options.chain_joints) fit.chain_joints = *options.chain_joints;
        FittedSkeleton fitted = fit_skeleton(wrapped.surface, fit, session.progress());
        job.notes.insert(job.notes.end(), fitted.notes.begin(), fitted.notes.end());
        replace_skeleton(job, std::move(fitted.skeleton));
    }
    if (job.character.skeleton.joints.empty())
        throw InputError({.file = options.input}, "has no skeleton; fit one with --fit biped, quadruped or "
                                                  "chain, or give one with --skeleton FILE");
}

void set_weights(const Options& options, Job& job, Session& session)
{
    if (job.character.surface.triangle_count() == 0 ||
        (job.character.weights.vertex_count() > 0 && !options.bind))
        return;
    job.volume = bind_character(job.character, {.count = options.tets}, options.binding, session.progress(),
                                job.notes);
    job.own_document = false;
    job.notes.push_back(fmt::format("weights of {} bones by heat in {} tets", job.character.bones.size(),
                                    job.volume->tets.tet_count()));
}

void set_clips(const Options& options, Job& job)
{
    if (options.clips.empty()) return;
    std::vector<Clip> clips;
    for (const std::string& wanted : options.clips)
        clips.push_back(find_or_read_clip(wanted, job.character, job.notes));
    job.character.clips = std::move(clips);
}

void write_output(const Options& options, const Job& job)
{
    if (options.output.ends_with(".skel.txt"))
        return write_text_rig(options.output, job.character, options.fps);
    if (!job.own_document || !job.character.source) return make_gltf(job.character).write(options.output);
    GltfDocument document = *job.character.source;
    if (!options.clips.empty()) set_animations(document, job.character, job.character.clips);
    document.write(options.output);
}

// ---- domains

void write_domains(const Options& options, Job& job, Session& session)
{
    const Character& character = job.character;
    if (!job.volume)
        job.volume = fill_character(character, close_character(character, session.progress()),
                                    {.count = options.tets}, session.progress());
    const CharacterVolume& volume = *job.volume;
    const Segmentation domains =
        segment(volume.tets, volume.weights, static_cast<Index>(character.bones.size()),
                options.overlap.value_or(0.0));
    if (!options.domains->ends_with(".txt")) {
        TetMesh mesh = volume.tets;
        mesh.regions = domains.heaviest;
        return write_tet_mesh(*options.domains, mesh);
    }
    std::string text = fmt::format("# tets of each bone\ndomains {} tets {}\n", character.bones.size(),
                                   volume.tets.tet_count());
    for (std::size_t b = 0; b < character.bones.size(); ++b) {
        const auto joint = static_cast<std::size_t>(character.bones[b].joint);
        text += fmt::format("{} {} {}\n", b, character.skeleton.joints[joint].name, domains.tets[b].size());
        for (const int tet : domains.tets[b]) text += fmt::format("{} ", tet);
        text += "\n";
    }
    write_file(*options.domains, text);
}

// ---- the command

void check_usage(const Options& options)
{
    const fs::path output(options.output);
    if (!options.output.ends_with(".skel.txt") && output.extension() != ".glb" &&
        output.extension() != ".gltf")
        throw InputError({.file = output},
                         "unknown ending; characters are written as .glb, .gltf or .skel.txt");
    if (options.fit && options.skeleton) throw InputError("give --fit or --skeleton, not both");
    if (options.chain_joints && options.fit != SkeletonTemplate::Chain)
        throw InputError("--chain-joints is for --fit chain");
    if (options.overlap && !options.domains) throw InputError("--overlap is for --domains FILE.txt");
    if (options.overlap && !options.domains->ends_with(".txt"))
        throw InputError("domains that overlap are lists of tets: give --domains FILE.txt");
}

void run_rig(const Options& options, Session& session)
{
    check_usage(options);
    session.quiet = session.quiet || options.json;
    Job job{.character = read_input(options)};
    job.notes = job.character.notes;
    set_skeleton(options, job, session);
    set_weights(options, job, session);
    set_clips(options, job);
    if (options.domains) {
        if (job.character.surface.triangle_count() == 0)
            throw InputError({.file = options.input}, "has no surface to make domains of");
        write_domains(options, job, session);
    }
    write_output(options, job);
    const Character& character = job.character;
    for (const std::string& note : job.notes) session.say("note   {}\n", note);
    session.say("wrote  {}: {} joints, {} bones, {} clips\n", options.output,
                character.skeleton.joint_count(), character.bones.size(), character.clips.size());
    if (options.domains) session.say("wrote  {}\n", *options.domains);
    if (options.json)
        fmt::print("{}\n", Json{{"output", options.output},
                                {"joints", character.skeleton.joint_count()},
                                {"bones", character.bones.size()},
                                {"clips", character.clips.size()},
                                {"notes", job.notes}}
                               .dump(2, ' ', false, Json::error_handler_t::replace));
}

} // namespace

void add_rig_command(CLI::App& app, Session& session)
{
    const auto options = std::make_shared<Options>();
    CLI::App* command =
        add_command(app, session, "rig", "give a mesh a skeleton, skin weights and clips; convert characters",
                    [options, &session] { run_rig(*options, session); });
    command->add_option("input", options->input, "mesh or character to read")->required();
    command->add_option("-o,--output", options->output, "character to write: .glb, .gltf or .skel.txt")
        ->required();
    add_read_options(*command, options->read);
    command->add_option("--fit", options->fit, "fit a skeleton into the body: biped, quadruped or chain")
        ->transform(one_of(templates));
    command->add_option("--chain-joints", options->chain_joints, "joints of a chain (default: 8)")
        ->check(CLI::Range(2, 100));
    command->add_option("--skeleton", options->skeleton, "take the skeleton, and its clips, of another file");
    command->add_flag("--bind", options->bind, "make new weights, even where there are some");
    command->add_option("--influences", options->binding.influences, "bones that a vertex may follow")
        ->capture_default_str()
        ->check(CLI::Range(1, most_influences));
    command->add_option("--heat", options->binding.heat, "how sharply bones part the flesh between them")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    command->add_option("--tets", options->tets, "of the volume in which heat flows (default: 8000)")
        ->check(CLI::PositiveNumber);
    command->add_option("--clip", options->clips,
                        "clips to write instead of its own: names, or files; may be repeated");
    command->add_option("--fps", options->fps, "frames per second of clips written as text")
        ->capture_default_str()
        ->check(CLI::Range(1.0, 1000.0));
    command->add_option("--domains", options->domains,
                        "also write its volume in domains by bone: a mesh with labels, or lists as .txt");
    command
        ->add_option("--overlap", options->overlap,
                     "domains hold all tets where their bone has more than this weight")
        ->check(CLI::Range(0.0, 1.0));
    command->add_flag("--json", options->json, "print what was done as JSON");
}

} // namespace lithe::cli
