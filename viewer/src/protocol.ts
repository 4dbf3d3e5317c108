// What the server sends and is sent. protocol.json describes it; a test holds the tables here against that file.

import type { Quat, Vec3 } from "./math.js";

export const version = 1;
export const kinds = { frame: 1, body: 2, overlays: 3 } as const;
export const forms = { rigid: 0, bones: 1, positions: 2 } as const;
export const sectionTypes = {
  triangles: "u32", colors: "u8", rest: "f32", vertices: "u32", weights: "f32", basis: "i16", scales: "f32", points: "f32", vectors: "f32",
  values: "u8",
} as const;
export const frameLayout = {
  header: [["kind", "u32"], ["scene", "u32"], ["number", "u32"], ["bodies", "u32"], ["t", "f64"]],
  pose: [["rotation", "f32", 4], ["translation", "f32", 3]],
  positions: [["low", "f32", 3], ["size", "f32", 3]],
  hold: [["point", "f32", 3], ["target", "f32", 3], ["force", "f32", 1]],
} as const;

type Point = { point: "point" };
/** Every command and the types of its fields. */
export const commands = {
  play: {}, pause: {}, step: {}, reset: {}, release: {}, unpin: {}, undo: {}, take_control: {}, save_state: {},
  speed: { value: "number" }, scrub: { frame: "integer" }, load: { scene: "text" }, overlays: { on: "boolean", field: "text" }, compare: { on: "boolean" },
  grab: { origin: "point", direction: "point" }, pin: { origin: "point", direction: "point" }, throw: { origin: "point", direction: "point" },
  drag: { target: "point" }, gravity: { value: "point" }, substeps: { value: "integer" },
  stiffness: { value: "number" }, damping: { value: "number" }, friction: { value: "number" },
  cut: { on: "boolean", axis: "integer", offset: "number" },
} as const;
type FieldValue<T> = T extends "number" | "integer" ? number : T extends "text" ? string : T extends "boolean" ? boolean : T extends "point" ? Vec3 : Point;
export type CommandName = keyof typeof commands;
export type Fields<N extends CommandName> = { -readonly [K in keyof (typeof commands)[N]]: FieldValue<(typeof commands)[N][K]> };

export interface Status {
  type: "status"; scene: number; t: number; frame: number; playing: boolean; shown: number; first: number; last: number;
  speed: number; substeps: number; gravity: Vec3; stiffness: number; damping: number; friction: number; undo: number;
  energy: { kinetic: number; elastic: number; potential: number };
  momentum: { linear: number; angular: number }; drift: { linear: number; angular: number };
  stages: Record<string, number>; contacts: number; penetration: number; iterations: number; sweeps: number; joint_gap: number; real_time: number;
  compares: boolean; error: { frame: number; t: number; last: number; max: number; trouble: string } | null;
}
export interface FieldLabel { name: string; unit: string }
export type Message =
  | { type: "hello"; version: number; you: number; scenes: { name: string; title: string }[] }
  | { type: "scene"; scene: number; title: string; bodies: number[]; fields: FieldLabel[]; fps: number; size: number; centre: Vec3 }
  | Status
  | { type: "control"; you: boolean; watchers: number }
  | { type: "progress"; what: string; stage: string; fraction: number }
  | { type: "note"; level: "info" | "warning" | "error"; text: string }
  | { type: "held"; body: string | null; point: Vec3 | null; kind: string }
  | { type: "saved"; files: string[]; command: string };

export interface Bone {
  rank: number;
  vertices: Uint32Array | null; // null: all, in their order
  weights: Float32Array | null; // null: 1
  rest: Float32Array;
  scales: Float32Array;
  basis: Int16Array;            // vertex by vertex, shape by shape, three coordinates
}
export interface BodyModel {
  key: number; name: string; form: number; vertices: number; triangles: Uint32Array; color: Vec3; colors: Uint8Array | null;
  backdrop: boolean; led: boolean; tets: number; rest: Float32Array; bones: Bone[];
}
export interface Pose { rotation: Quat; translation: Vec3 }
export interface BonePose { pose: Pose | null; q: Float32Array }
export interface BodyFrame {
  pose: Pose; bones: BonePose[]; low: Vec3; size: Vec3; steps: Uint16Array | null;
}
export interface Hold { point: Vec3; target: Vec3; force: number }
export interface Frame { scene: number; number: number; t: number; bodies: BodyFrame[]; holds: Hold[] }
export interface Overlay { name: string; points: Float32Array; vectors: Float32Array | null; lengths: boolean }
/** Numbers at the vertices of a body, as shares (of 255) of the largest one. */
export interface Field { body: number; name: string; top: number; values: Uint8Array }
export interface Overlays { scene: number; overlays: Overlay[]; cut: Float32Array | null; fields: Field[] }

export function kindOf(data: ArrayBuffer): number {
  return data.byteLength >= 4 ? new DataView(data).getUint32(0, true) : 0;
}

/** The JSON head of a packed message, and a reader of its sections in their order. */
function unpack(data: ArrayBuffer) {
  const view = new DataView(data);
  const jsonBytes = view.getUint32(8, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 12, jsonBytes)));
  const sections = head.sections as { name: keyof typeof sectionTypes; length: number }[];
  let at = 12 + jsonBytes, next = 0;
  const peek = () => sections[next]?.name;
  const take = (name: keyof typeof sectionTypes) => {
    const section = sections[next++];
    if (!section || section.name !== name) throw new Error(`the server sent no ${name} where they should be`);
    const make = { u32: Uint32Array, f32: Float32Array, i16: Int16Array, u8: Uint8Array }[sectionTypes[name]];
    const values = new make(data, at, section.length);
    at += Math.ceil(values.byteLength / 4) * 4;
    return values;
  };
  return { head, scene: view.getUint32(4, true), peek, take };
}

export function decodeBody(data: ArrayBuffer): BodyModel {
  const { head, peek, take } = unpack(data);
  const triangles = take("triangles") as Uint32Array;
  const colors = peek() === "colors" ? take("colors") as Uint8Array : null;
  const rest = take("rest") as Float32Array;
  const bones = (head.bones as { rank: number; all: boolean }[]).map(({ rank, all }): Bone => ({
    rank,
    vertices: all ? null : take("vertices") as Uint32Array,
    weights: all ? null : take("weights") as Float32Array,
    rest: all ? rest : take("rest") as Float32Array,
    scales: rank > 0 ? take("scales") as Float32Array : new Float32Array(0),
    basis: rank > 0 ? take("basis") as Int16Array : new Int16Array(0),
  }));
  return { ...head, triangles, colors, rest, bones };
}

/** Reads a frame; `models` are the bodies of the scene in their order. */
export function decodeFrame(data: ArrayBuffer, models: BodyModel[]): Frame {
  const view = new DataView(data);
  let at = 24;
  const number = () => { at += 4; return view.getFloat32(at - 4, true); };
  const vector = (): Vec3 => [number(), number(), number()];
  const pose = (): Pose => ({ rotation: [number(), number(), number(), number()], translation: vector() });
  const weights = (count: number) => {
    const out = new Float32Array(data, at, count);
    at += 4 * count;
    return out;
  };
  const bodies = models.map((model): BodyFrame => {
    const out: BodyFrame = { pose: pose(), bones: [], low: [0, 0, 0], size: [0, 0, 0], steps: null };
    if (model.form === forms.bones) {
      const single = model.bones[0]?.vertices === null;
      out.bones = model.bones.map((bone) => ({ pose: single ? null : pose(), q: weights(bone.rank) }));
    } else if (model.form === forms.positions) {
      out.low = vector();
      out.size = vector();
      out.steps = new Uint16Array(data, at, 3 * model.vertices);
      at += Math.ceil(6 * model.vertices / 4) * 4;
    }
    return out;
  });
  const holds: Hold[] = [];
  const count = view.getUint32(at, true);
  at += 4;
  for (let k = 0; k < count; ++k) holds.push({ point: vector(), target: vector(), force: number() });
  return { scene: view.getUint32(4, true), number: view.getUint32(8, true), t: view.getFloat64(16, true), bodies, holds };
}

export function decodeOverlays(data: ArrayBuffer): Overlays {
  const { head, scene, take } = unpack(data);
  const overlays = (head.overlays as { name: string; arrows: boolean; lengths: boolean }[]).map((entry): Overlay => ({
    name: entry.name,
    points: take("points") as Float32Array,
    vectors: entry.arrows ? take("vectors") as Float32Array : null,
    lengths: entry.lengths,
  }));
  const cut = head.cut ? take("points") as Float32Array : null;
  const fields = (head.fields as Omit<Field, "values">[]).map((entry): Field => ({ ...entry, values: take("values") as Uint8Array }));
  return { scene, overlays, cut, fields };
}
