// What the server sends and is sent. protocol.json describes it; a test holds the tables here against that file.
export const version = 1;
export const kinds = { frame: 1, body: 2, overlays: 3 };
export const forms = { rigid: 0, bones: 1, positions: 2 };
export const sectionTypes = {
    triangles: "u32", colors: "u8", rest: "f32", vertices: "u32", weights: "f32", basis: "i16", scales: "f32", points: "f32", vectors: "f32",
    values: "u8",
};
export const frameLayout = {
    header: [["kind", "u32"], ["scene", "u32"], ["number", "u32"], ["bodies", "u32"], ["t", "f64"]],
    pose: [["rotation", "f32", 4], ["translation", "f32", 3]],
    positions: [["low", "f32", 3], ["size", "f32", 3]],
    hold: [["point", "f32", 3], ["target", "f32", 3], ["force", "f32", 1]],
};
/** Every command and the types of its fields. */
export const commands = {
    play: {}, pause: {}, step: {}, reset: {}, release: {}, unpin: {}, undo: {}, take_control: {}, save_state: {},
    speed: { value: "number" }, scrub: { frame: "integer" }, load: { scene: "text" }, overlays: { on: "boolean", field: "text" }, compare: { on: "boolean" },
    grab: { origin: "point", direction: "point" }, pin: { origin: "point", direction: "point" }, throw: { origin: "point", direction: "point" },
    drag: { target: "point" }, gravity: { value: "point" }, substeps: { value: "integer" },
    stiffness: { value: "number" }, damping: { value: "number" }, friction: { value: "number" },
    cut: { on: "boolean", axis: "integer", offset: "number" },
};
export function kindOf(data) {
    return data.byteLength >= 4 ? new DataView(data).getUint32(0, true) : 0;
}
/** The JSON head of a packed message, and a reader of its sections in their order. */
function unpack(data) {
    const view = new DataView(data);
    const jsonBytes = view.getUint32(8, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 12, jsonBytes)));
    const sections = head.sections;
    let at = 12 + jsonBytes, next = 0;
    const peek = () => sections[next]?.name;
    const take = (name) => {
        const section = sections[next++];
        if (!section || section.name !== name)
            throw new Error(`the server sent no ${name} where they should be`);
        const make = { u32: Uint32Array, f32: Float32Array, i16: Int16Array, u8: Uint8Array }[sectionTypes[name]];
        const values = new make(data, at, section.length);
        at += Math.ceil(values.byteLength / 4) * 4;
        return values;
    };
    return { head, scene: view.getUint32(4, true), peek, take };
}
export function decodeBody(data) {
    const { head, peek, take } = unpack(data);
    const triangles = take("triangles");
    const colors = peek() === "colors" ? take("colors") : null;
    const rest = take("rest");
    const bones = head.bones.map(({ rank, all }) => ({
        rank,
        vertices: all ? null : take("vertices"),
        weights: all ? null : take("weights"),
        rest: all ? rest : take("rest"),
        scales: rank > 0 ? take("scales") : new Float32Array(0),
        basis: rank > 0 ? take("basis") : new Int16Array(0),
    }));
    return { ...head, triangles, colors, rest, bones };
}
/** Reads a frame; `models` are the bodies of the scene in their order. */
export function decodeFrame(data, models) {
    const view = new DataView(data);
    let at = 24;
    const number = () => { at += 4; return view.getFloat32(at - 4, true); };
    const vector = () => [number(), number(), number()];
    const pose = () => ({ rotation: [number(), number(), number(), number()], translation: vector() });
    const weights = (count) => {
        const out = new Float32Array(data, at, count);
        at += 4 * count;
        return out;
    };
    const bodies = models.map((model) => {
        const out = { pose: pose(), bones: [], low: [0, 0, 0], size: [0, 0, 0], steps: null };
        if (model.form === forms.bones) {
            const single = model.bones[0]?.vertices === null;
            out.bones = model.bones.map((bone) => ({ pose: single ? null : pose(), q: weights(bone.rank) }));
        }
        else if (model.form === forms.positions) {
            out.low = vector();
            out.size = vector();
            out.steps = new Uint16Array(data, at, 3 * model.vertices);
            at += Math.ceil(6 * model.vertices / 4) * 4;
        }
        return out;
    });
    const holds = [];
    const count = view.getUint32(at, true);
    at += 4;
    for (let k = 0; k < count; ++k)
        holds.push({ point: vector(), target: vector(), force: number() });
    return { scene: view.getUint32(4, true), number: view.getUint32(8, true), t: view.getFloat64(16, true), bodies, holds };
}
export function decodeOverlays(data) {
    const { head, scene, take } = unpack(data);
    const overlays = head.overlays.map((entry) => ({
        name: entry.name,
        points: take("points"),
        vectors: entry.arrows ? take("vectors") : null,
        lengths: entry.lengths,
    }));
    const cut = head.cut ? take("points") : null;
    const fields = head.fields.map((entry) => ({ ...entry, values: take("values") }));
    return { scene, overlays, cut, fields };
}
