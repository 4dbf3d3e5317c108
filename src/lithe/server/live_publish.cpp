#include "lithe/server/live.hpp"

#include "lithe/core/hash.hpp"

// What pages are shown: bodies, frames, overlays, figures.

namespace lithe {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr auto status_every = 100ms, overlays_every = 50ms;

} // namespace

/// The body as pages have it already, or under a new key.
LiveView::ShownBody Live::shown_body(BodyId id, std::span<const LiveView::ShownBody> taken)
{
    if (announced_ == scene_.get())
        for (const LiveView::ShownBody& body : bodies_)
            if (body.id == id) return body;
    const Body& drawn = scene_->world().body(id);
    const bool led = drawn.freedoms() == 0 && drawn.collides() == Collides::Nowhere;
    const std::uint64_t hash = hash_bytes(encode_body(drawn.shown(), {0, led}));
    const auto same = [&](const LiveView::ShownBody& body) { return body.hash == hash; };
    const auto known = std::ranges::find_if(bodies_, same);
    const bool is_free = known != bodies_.end() && std::ranges::none_of(taken, [&](const auto& other) {
                             return other.key == known->key;
                         });
    if (is_free) return {known->key, known->message, id, hash};
    const std::uint32_t key = next_key_++;
    return {key, std::make_shared<const std::string>(encode_body(drawn.shown(), {key, led})), id, hash};
}

/// A new list of bodies; the recording begins anew.
void Live::announce_scene()
{
    std::vector<LiveView::ShownBody> bodies;
    Json keys = Json::array();
    for (const BodyId id : scene_->seen()) {
        bodies.push_back(shown_body(id, bodies));
        keys.push_back(bodies.back().key);
    }
    Json labels = Json::array();
    for (const FieldLabel& label : scene_->field_labels())
        labels.push_back({{"name", label.name}, {"unit", label.unit}});
    bodies_ = std::move(bodies);
    announced_ = scene_.get();
    recording_.clear();
    scrubbed_.reset();
    {
        const std::lock_guard lock(mutex_);
        ++view_.scene;
        view_.bodies = std::make_shared<const std::vector<LiveView::ShownBody>>(bodies_);
        const Json message = {{"type", "scene"},
                              {"scene", view_.scene},
                              {"title", scene_->scene().title},
                              {"bodies", keys},
                              {"fields", labels},
                              {"fps", scene_->run().fps},
                              {"size", scene_->size()},
                              {"centre", vector_json(scene_->centre())}};
        view_.scene_message = std::make_shared<const std::string>(json_text(message));
    }
    publish_frame();
    publish_overlays();
}

void Live::publish_frame()
{
    scene_->encode_frame(view().scene, encoder_);
    auto bytes = std::make_shared<const std::string>(encoder_.bytes());
    const auto number = static_cast<std::uint32_t>(scene_->frame());
    if (recording_.size() == 0 || number == recording_.first() + recording_.size())
        recording_.add(number, bytes, scene_->state());
    scrubbed_.reset();
    show(std::move(bytes));
}

void Live::show(Bytes frame)
{
    {
        const std::lock_guard lock(mutex_);
        view_.frame = std::move(frame);
        ++view_.frame_count;
    }
    events_.changed();
}

void Live::publish_overlays()
{
    overlays_due_ = Clock::now() + overlays_every;
    if (!audience_.wants_overlays) return;
    OverlayMessage message{.overlays = scene_->overlays()};
    if (cut_) message.cut = scene_->cut(*cut_);
    for (const std::string& name : audience_.fields)
        std::ranges::move(scene_->fields(name), std::back_inserter(message.fields));
    auto bytes = std::make_shared<const std::string>(encode_overlays(message, view().scene));
    {
        const std::lock_guard lock(mutex_);
        view_.overlays = std::move(bytes);
        ++view_.overlay_count;
    }
    events_.changed();
}

/// How far the reduced bodies are from full space; null while nobody asked, and before the first frame.
Json Live::error_json() const
{
    if (!comparison_) return nullptr;
    const Comparison::Result now = comparison_->result();
    return {
        {"frame", now.frame}, {"t", now.t}, {"last", now.last}, {"max", now.max}, {"trouble", now.trouble}};
}

void Live::publish_status()
{
    if (!scene_) return;
    status_due_ = Clock::now() + status_every;
    Json message = scene_->figures();
    const auto last =
        recording_.first() + static_cast<std::uint32_t>(std::max<std::size_t>(recording_.size(), 1)) - 1;
    message.update({{"type", "status"},
                    {"scene", view().scene},
                    {"playing", playing_},
                    {"shown", scrubbed_ ? *scrubbed_ : static_cast<std::uint32_t>(scene_->frame())},
                    {"first", recording_.first()},
                    {"last", last},
                    {"speed", speed_},
                    {"substeps", edits_.substeps},
                    {"gravity", vector_json(edits_.gravity)},
                    {"stiffness", edits_.stiffness},
                    {"damping", edits_.damping},
                    {"friction", edits_.friction},
                    {"undo", undo_.size()},
                    {"compares", compares_},
                    {"error", error_json()},
                    {"real_time", playing_ ? real_time_ : 0.0}});
    {
        const std::lock_guard lock(mutex_);
        view_.status = std::make_shared<const std::string>(json_text(message));
        ++view_.status_count;
    }
    events_.changed();
}

} // namespace lithe
