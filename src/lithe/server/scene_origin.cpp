#include "lithe/server/scene_origin.hpp"

#include <cmath>
#include <fstream>
#include <sstream>

#include <toml++/toml.h>

#include "lithe/core/error.hpp"
#include "lithe/prepare/prepare_scene.hpp"
#include "lithe/reduce/lattice_model.hpp"
#include "lithe/scene/builtin_scenes.hpp"

namespace lithe {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& file)
{
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

toml::array numbers(const Vec3& v)
{
    return toml::array{v[0], v[1], v[2]};
}

toml::table material_table(const SceneMaterial& material)
{
    toml::table out;
    out.insert("kind", std::string(material_name(material.kind)));
    if (material.young) out.insert("young", *material.young);
    out.insert("poisson", material.poisson);
    out.insert("density", material.density);
    if (material.mooney_ratio) out.insert("mooney_ratio", *material.mooney_ratio);
    if (material.limit_stretch) out.insert("limit_stretch", *material.limit_stretch);
    return out;
}

/// The tables of an array, as [[name]] has them.
std::vector<toml::table*> tables(toml::table& in, std::string_view name)
{
    std::vector<toml::table*> out;
    if (toml::array* array = in[name].as_array())
        for (toml::node& node : *array)
            if (toml::table* table = node.as_table()) out.push_back(table);
    return out;
}

void set_path(toml::table& table, const char* key, const fs::path& folder)
{
    if (const auto path = table[key].value<std::string>())
        table.insert_or_assign(key, fs::absolute(folder / *path).lexically_normal().string());
}

void set_lattice_paths(toml::table& lattice, const fs::path& folder)
{
    for (const char* key : {"file", "motion"}) set_path(lattice, key, folder);
    for (toml::table* stiffness : tables(lattice, "stiffness")) set_path(*stiffness, "mask", folder);
}

void set_paths(toml::table& file, const fs::path& folder)
{
    for (const char* part : {"body", "obstacle", "character"})
        for (toml::table* table : tables(file, part)) {
            for (const char* key : {"mesh", "model", "file", "motion"}) set_path(*table, key, folder);
            if (toml::table* lattice = (*table)["lattice"].as_table()) set_lattice_paths(*lattice, folder);
        }
}

void set_lattice(const SceneLattice& lattice, toml::table& out)
{
    if (lattice.damping) out.insert_or_assign("damping", *lattice.damping);
    const std::vector<toml::table*> stiffness = tables(out, "stiffness");
    for (std::size_t k = 0; k < std::min(stiffness.size(), lattice.stiffness.size()); ++k)
        stiffness[k]->insert_or_assign("young", lattice.stiffness[k].young);
}

void set_body(const SceneBody& body, toml::table& out)
{
    out.insert_or_assign("friction", body.friction);
    if (body.model) return;
    if (toml::table* lattice = out["lattice"].as_table())
        set_lattice(*body.lattice, *lattice);
    else if (!body.rigid)
        out.insert_or_assign("damping",
                             toml::table{{"mass", body.damping.mass}, {"stiffness", body.damping.stiffness}});
    out.insert_or_assign("material", material_table(body.material));
    const std::vector<toml::table*> regions = tables(out, "region");
    for (std::size_t k = 0; k < std::min(regions.size(), body.regions.size()); ++k)
        regions[k]->insert_or_assign("material", material_table(body.regions[k].material));
}

/// What the default scene around a mesh or a model is.
toml::table default_table(const Scene& scene)
{
    toml::table out{{"title", scene.title}};
    toml::array bodies, obstacles, characters;
    for (const SceneCharacter& character : scene.characters)
        characters.push_back(toml::table{{"name", character.name},
                                         {"file", std::get<fs::path>(character.source.from).string()}});
    for (const SceneBody& body : scene.bodies) {
        toml::table table{{"name", body.name}, {"position", numbers(body.placement.translation)}};
        if (body.model)
            table.insert("model", body.model->string());
        else if (const auto* file = std::get_if<fs::path>(&body.source.from)) {
            table.insert("mesh", file->string());
            table.insert("scale", body.source.read.scale);
            if (body.source.read.up == UpAxis::Z) table.insert("up", "z");
        } else
            table.insert("shape", std::get<std::string>(body.source.from));
        if (body.tets) table.insert("tets", static_cast<std::int64_t>(*body.tets));
        bodies.push_back(std::move(table));
    }
    for (const SceneObstacle& obstacle : scene.obstacles)
        obstacles.push_back(toml::table{{"name", obstacle.name},
                                        {"shape", std::get<std::string>(obstacle.source.from)},
                                        {"position", numbers(obstacle.path.at(0.0).translation)}});
    if (!characters.empty()) out.insert("character", std::move(characters));
    if (!bodies.empty()) out.insert("body", std::move(bodies));
    if (!obstacles.empty()) out.insert("obstacle", std::move(obstacles));
    return out;
}

toml::table& subtable(toml::table& in, const char* name)
{
    return *in.insert(name, toml::table{}).first->second.as_table();
}

void scale_material(SceneMaterial& material, double factor)
{
    LITHE_ASSERT(material.young.has_value());
    *material.young *= factor;
}

void scale_stiffness(SceneBody& body, double factor)
{
    scale_material(body.material, factor);
    for (SceneRegion& region : body.regions) scale_material(region.material, factor);
    if (body.lattice)
        for (SceneStiffness& stiffness : body.lattice->stiffness) stiffness.young *= factor;
}

void scale_damping(SceneBody& body, double factor)
{
    body.damping.mass *= factor;
    body.damping.stiffness *= factor;
    if (body.lattice)
        body.lattice->damping = factor * body.lattice->damping.value_or(LatticeSettings().damping);
}

} // namespace

SceneOrigin open_scene(const fs::path& file, const ReadOptions& read)
{
    const std::string name = file.stem().string();
    if (file.extension() != ".toml") return {default_scene(file, read), {}, file, name};
    Scene scene = read_scene(file);
    return {std::move(scene), read_text(file), file, name};
}

SceneOrigin open_builtin_scene(const std::string& name)
{
    for (const BuiltinScene& builtin : builtin_scenes())
        if (builtin.name == name)
            return {parse_scene(builtin.text, name + ".toml"), std::string(builtin.text), {}, name};
    throw InputError("there is no built-in scene '" + name + "'");
}

SceneEdits edits_of(const Scene& scene)
{
    return {.gravity = scene.gravity, .substeps = scene.time.substeps};
}

Scene edited(const Scene& scene, const SceneEdits& edits)
{
    Scene out = scene;
    out.gravity = edits.gravity;
    out.time.substeps = edits.substeps;
    const bool softer = edits.stiffness != 1.0, damped = edits.damping != 1.0;
    for (SceneBody& body : out.bodies) {
        body.friction *= edits.friction;
        if (body.rigid) continue;
        if (body.model && (softer || damped))
            throw InputError("'" + body.name +
                             "' is a prepared model, whose stiffness and damping are fixed; " +
                             "prepare it anew with `lithe prepare`");
        if (body.model) continue;
        if (damped) scale_damping(body, edits.damping);
        if (softer) scale_stiffness(body, edits.stiffness);
    }
    for (SceneObstacle& obstacle : out.obstacles) obstacle.friction *= edits.friction;
    for (SceneCharacter& character : out.characters) character.friction *= edits.friction;
    return out;
}

std::string scene_text(const SceneOrigin& origin, const Scene& scene)
{
    const fs::path folder = origin.file.empty() ? fs::path(".") : fs::absolute(origin.file).parent_path();
    toml::table file;
    if (origin.text.empty())
        file = default_table(scene);
    else
        file = toml::parse(origin.text);
    set_paths(file, folder);
    subtable(file, "world").insert_or_assign("gravity", numbers(scene.gravity));
    subtable(file, "time").insert_or_assign("substeps", std::int64_t{scene.time.substeps});
    const std::vector<toml::table*> bodies = tables(file, "body"), obstacles = tables(file, "obstacle"),
                                    characters = tables(file, "character");
    std::size_t next = 0;
    for (const SceneBody& body : scene.bodies)
        if (!body.copy_of && next < bodies.size()) set_body(body, *bodies[next++]);
    for (std::size_t k = 0; k < obstacles.size(); ++k)
        obstacles[k]->insert_or_assign("friction", scene.obstacles[k].friction);
    for (std::size_t k = 0; k < characters.size(); ++k)
        characters[k]->insert_or_assign("friction", scene.characters[k].friction);
    std::ostringstream out;
    out << file << "\n";
    return out.str();
}

} // namespace lithe
