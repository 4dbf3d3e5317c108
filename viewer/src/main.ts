// The page: joins the stream, the picture and the controls.

import { Camera } from "./camera.js";
import { Connection } from "./connection.js";
import { add, scale, type Vec3 } from "./math.js";
import { Plots, short } from "./plots.js";
import { PointerControl, type Tool } from "./pointer.js";
import { decodeBody, decodeFrame, decodeOverlays, forms, kinds, type FieldLabel, type Message, type Status } from "./protocol.js";
import { colorings, fieldOf, Renderer, type Coloring, type Look } from "./renderer.js";
import { download, savePicture, VideoRecorder } from "./saving.js";

const get = <T extends HTMLElement>(id: string): T => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found as T;
};
const canvas = get<HTMLCanvasElement>("view");
const aspect = () => canvas.clientWidth / Math.max(canvas.clientHeight, 1);
const checkbox = (id: string) => get<HTMLInputElement>(id);

const look: Look = {
  coloring: "own", wireframe: false, shadows: true, ground: true, obstacles: true, light: false, cut: null,
  hiddenOverlays: new Set(), showOverlays: true, shape: null, past: false,
};
const camera = new Camera();
const plots = new Plots(get("plots"));
const video = new VideoRecorder();
let status: Status | null = null;
let me = 0;
let inControl = false;
let pendingFrame: ArrayBuffer | null = null;
let scene = 0;
let dirty = true;
let framed = ""; // the scene that the camera was set for
let renderer: Renderer;
let connection: Connection;
let pointer: PointerControl;
let shownFrames = 0;
let units: Record<string, string> = {}; // of the fields that bodies offer

// notes

function note(level: "info" | "warning" | "error", text: string): void {
  const line = document.createElement("p");
  line.className = level;
  line.textContent = text;
  get("log").append(line);
  while (get("log").childElementCount > 200) get("log").firstElementChild!.remove();
  get("log").scrollTop = 1e9;
  if (level === "info") return;
  const box = document.createElement("div"), close = document.createElement("button"), words = document.createElement("span");
  box.className = `note ${level}`;
  words.textContent = text;
  close.textContent = "×";
  close.setAttribute("aria-label", "Close the message");
  close.onclick = () => box.remove();
  box.append(words, close);
  get("notes").append(box);
  while (get("notes").childElementCount > 4) get("notes").firstElementChild!.remove();
  setTimeout(() => box.remove(), 20_000);
}

function progress(stage: string, fraction: number): void {
  const bar = get("progress");
  bar.hidden = stage === "done";
  bar.setAttribute("aria-valuenow", String(Math.round(100 * fraction)));
  bar.querySelector("span")!.style.width = `${100 * fraction}%`;
  bar.querySelector("b")!.textContent = stage;
}

// the server speaks

function receive(message: Message): void {
  switch (message.type) {
    case "hello":
      me = message.you;
      fillScenes(message.scenes);
      wantOverlays();
      break;
    case "scene": {
      scene = message.scene;
      renderer.setScene(message.bodies);
      renderer.size = message.size;
      renderer.centre = message.centre;
      renderer.fps = message.fps;
      get("title").textContent = message.title || "Lithe";
      document.title = `${message.title || "Lithe"} – Lithe`;
      const same = `${message.title} ${message.size} ${message.centre}`;
      if (framed !== same) camera.frame(message.centre, message.size, aspect());
      framed = same;
      pendingFrame = null;
      fillShapes();
      fillFields(message.fields);
      renderer.colorsChanged(look);
      setCutRange();
      break;
    }
    case "status": showStatus(message); break;
    case "control":
      inControl = message.you;
      get("take-control").hidden = inControl;
      document.body.classList.toggle("watching", !inControl);
      get("link").title = message.watchers > 0 ? `${message.watchers} more look at it` : "";
      break;
    case "progress": progress(message.stage, message.fraction); break;
    case "note": note(message.level, message.text); break;
    case "held":
      if (message.kind === "grab") pointer.answered(message.point);
      break;
    case "saved": note("warning", `wrote ${message.files.join(" and ")}; go on with: ${message.command}`); break;
  }
  dirty = true;
}

function receiveBinary(kind: number, data: ArrayBuffer): void {
  if (kind === kinds.body) renderer.addBody(decodeBody(data));
  else if (kind === kinds.frame) pendingFrame = data;
  else if (kind === kinds.overlays) {
    const overlays = decodeOverlays(data);
    if (overlays.scene !== scene) return;
    renderer.setOverlays(overlays);
    if (fillOverlays(overlays.overlays.map((each) => each.name))) wantOverlays();
    if (fieldOf(look.coloring)) showLegend();
    dirty = true;
  }
}

function showStatus(now: Status): void {
  status = now;
  look.past = now.shown !== now.frame;
  plots.add(now);
  showComparison(now);
  const play = get<HTMLButtonElement>("play");
  play.textContent = now.playing ? "❚❚" : "▶";
  play.setAttribute("aria-label", now.playing ? "Pause" : "Play");
  const scrub = checkbox("scrub");
  scrub.min = String(now.first);
  scrub.max = String(now.last);
  if (document.activeElement !== scrub || now.playing) scrub.value = String(now.shown);
  get("clock").textContent = `${(renderer.frame?.t ?? now.t).toFixed(2)} s`;
  get("link").textContent = now.playing && now.real_time > 0 ? `live, ${now.real_time.toFixed(2)} × real time` : now.playing ? "live" : "paused";
  checkbox("undo").disabled = now.undo === 0;
  setSlider("gravity", -now.gravity[1], `${short(-now.gravity[1])} m/s²`);
  setSlider("stiffness", Math.log10(now.stiffness), `× ${short(now.stiffness)}`);
  setSlider("damping", Math.log10(Math.max(now.damping, 1e-2)), `× ${short(now.damping)}`);
  setSlider("friction", now.friction, `× ${short(now.friction)}`);
  setSlider("substeps", now.substeps, String(now.substeps));
  const speed = get<HTMLSelectElement>("speed");
  if (document.activeElement !== speed) speed.value = String(now.speed);
}

function showComparison({ compares, error, t }: Status): void {
  checkbox("compare").checked = compares;
  const behind = error ? t - error.t : 0;
  get("compare-note").textContent = !compares ? "" : !error ? "begins when hands, pins and balls are gone"
    : error.trouble || (behind > 0.1 ? `full space is ${behind.toFixed(1)} s behind` : "");
}

function setSlider(id: string, value: number, text: string): void {
  const slider = checkbox(id);
  if (!slider.matches(":active")) slider.value = String(value);
  document.querySelector<HTMLOutputElement>(`output[for=${id}]`)!.textContent = text;
}

// lists that depend on the scene

function fillScenes(scenes: { name: string; title: string }[]): void {
  const select = get<HTMLSelectElement>("scene");
  while (select.options.length > 1) select.remove(1);
  for (const { name, title } of scenes) select.add(new Option(`${name}: ${title}`, name));
}

function fillShapes(): void {
  const select = get<HTMLSelectElement>("mode-body");
  select.replaceChildren();
  renderer.order.forEach((body, k) => { if (body.shapes > 0) select.add(new Option(`${body.model.name} (${body.shapes})`, String(k))); });
  select.disabled = get<HTMLInputElement>("mode").disabled = select.options.length === 0;
  look.shape = null;
  checkbox("mode").value = "0";
}

/** What bodies can be coloured by beside what every body can. */
function fillFields(fields: FieldLabel[]): void {
  const select = get<HTMLSelectElement>("color-by");
  units = Object.fromEntries(fields.map(({ name, unit }) => [name, unit]));
  while (select.options.length > colorings.length) select.remove(colorings.length);
  for (const { name } of fields) select.add(new Option(name, `field:${name}`));
  const gone = fieldOf(look.coloring) && !(fieldOf(look.coloring) in units);
  if (gone) setColoring("own"); else select.value = look.coloring;
}

/** A box for each overlay that has none; true when there were any. */
function fillOverlays(names: string[]): boolean {
  const set = get("overlays"), count = set.childElementCount;
  for (const name of new Set(names)) {
    if (set.querySelector(`[data-overlay="${CSS.escape(name)}"]`)) continue;
    const label = document.createElement("label"), box = document.createElement("input");
    box.type = "checkbox";
    look.hiddenOverlays.add(name); // until it is asked for
    box.dataset.overlay = name;
    box.onchange = () => {
      if (box.checked) look.hiddenOverlays.delete(name); else look.hiddenOverlays.add(name);
      dirty = true;
      wantOverlays();
    };
    label.append(box, ` ${name}`);
    set.append(label);
  }
  return set.childElementCount > count;
}

/** Overlays are sent only when something of them is seen. */
function wantOverlays(): void {
  const boxes = [...document.querySelectorAll<HTMLInputElement>("[data-overlay]")];
  const some = boxes.length === 0 || boxes.some((box) => box.checked);
  const field = fieldOf(look.coloring);
  connection.send("overlays", { on: (look.showOverlays && some) || look.cut !== null || look.coloring === "contact" || field !== "", field });
}

function setCutRange(): void {
  const slider = checkbox("cut-offset"), axis = Number(get<HTMLSelectElement>("cut-axis").value);
  slider.min = String(renderer.centre[axis]! - 0.5 * renderer.size);
  slider.max = String(renderer.centre[axis]! + 0.5 * renderer.size);
  slider.step = String(renderer.size / 200);
  slider.value = String(renderer.centre[axis]!);
}

function setCut(): void {
  const axis = Number(get<HTMLSelectElement>("cut-axis").value), offset = Number(checkbox("cut-offset").value);
  const on = checkbox("cut").checked;
  look.cut = on ? { axis, offset } : null;
  connection.send("cut", { on, axis, offset });
  wantOverlays();
  dirty = true;
}

function setColoring(coloring: Coloring): void {
  look.coloring = coloring;
  get<HTMLSelectElement>("color-by").value = coloring;
  renderer.colorsChanged(look);
  renderer.forgetField();
  showLegend();
  wantOverlays();
  dirty = true;
}

function showLegend(): void {
  const { coloring } = look, legend = get("legend"), { top, unit } = renderer.range(coloring, units);
  legend.hidden = coloring === "own" || coloring === "domain";
  legend.querySelector("span")!.textContent = "0";
  legend.querySelector("i")!.textContent = coloring === "contact" ? "force" : `${short(top)} ${unit}`;
  legend.querySelector("em")!.textContent = coloring === "displacement" ? "from the shape at rest, in the body's own frame" : "";
}

function nextColoring(): void {
  const all: Coloring[] = [...colorings, ...Object.keys(units).map((name): Coloring => `field:${name}`)];
  setColoring(all[(all.indexOf(look.coloring) + 1) % all.length]!);
}

function setTheme(light: boolean): void {
  look.light = light;
  document.documentElement.dataset.theme = light ? "light" : "dark";
  localStorage.setItem("lithe-theme", light ? "light" : "dark");
  plots.draw();
  dirty = true;
}

// saving and opening

const stamp = () => `lithe-${(status?.frame ?? 0).toString().padStart(5, "0")}`;
const picture = () => savePicture(canvas, () => renderer.draw(camera, look), `${stamp()}.png`);

function toggleVideo(): void {
  try {
    video.toggle(canvas, `${stamp()}.webm`);
  } catch (error) {
    note("error", String(error));
  }
  get("save-video").setAttribute("aria-pressed", String(video.records));
  get("save-video").textContent = video.records ? "Stop and save" : "Video";
}

async function open(file: File): Promise<void> {
  progress(`sending ${file.name}`, 0);
  const answer = await fetch(`drop?name=${encodeURIComponent(file.name)}&client=${me}`, { method: "POST", body: file });
  if (answer.ok) return;
  progress("done", 1);
  note("error", await answer.text());
}

// controls

function connectControls(): void {
  const click = (id: string, action: () => void) => get(id).addEventListener("click", action);
  click("play", () => status?.playing ? connection.send("pause") : connection.send("play"));
  click("step", () => connection.send("step"));
  click("reset", () => connection.send("reset"));
  click("take-control", () => connection.send("take_control"));
  click("unpin", () => connection.send("unpin"));
  click("undo", () => connection.send("undo"));
  click("theme", () => setTheme(!look.light));
  click("help-button", () => get<HTMLDialogElement>("help").showModal());
  click("panel-button", () => {
    const closed = get("panel").classList.toggle("closed");
    get("panel-button").setAttribute("aria-expanded", String(!closed));
    dirty = true;
  });
  click("save-picture", picture);
  click("save-video", toggleVideo);
  click("save-csv", () => download("metrics.csv", `${stamp()}.csv`));
  click("save-json", () => download("metrics.json", `${stamp()}.json`));
  click("save-state", () => connection.send("save_state"));

  checkbox("scrub").oninput = () => connection.send("scrub", { frame: Number(checkbox("scrub").value) });
  get<HTMLSelectElement>("speed").onchange = (event) => connection.send("speed", { value: Number((event.target as HTMLSelectElement).value) });
  get<HTMLSelectElement>("scene").onchange = (event) => {
    const select = event.target as HTMLSelectElement;
    if (select.value) connection.send("load", { scene: select.value });
    select.blur();
  };
  checkbox("gravity").onchange = () => connection.send("gravity", { value: [0, -Number(checkbox("gravity").value), 0] });
  checkbox("stiffness").onchange = () => connection.send("stiffness", { value: 10 ** Number(checkbox("stiffness").value) });
  checkbox("damping").onchange = () => connection.send("damping", { value: 10 ** Number(checkbox("damping").value) });
  checkbox("friction").onchange = () => connection.send("friction", { value: Number(checkbox("friction").value) });
  checkbox("substeps").onchange = () => connection.send("substeps", { value: Number(checkbox("substeps").value) });

  for (const name of ["wireframe", "shadows", "ground", "obstacles"] as const)
    checkbox(name).onchange = () => { look[name] = checkbox(name).checked; dirty = true; };
  get<HTMLSelectElement>("color-by").onchange = (event) => setColoring((event.target as HTMLSelectElement).value as Coloring);
  checkbox("compare").onchange = () => connection.send("compare", { on: checkbox("compare").checked });
  checkbox("cut").onchange = setCut;
  checkbox("cut-offset").oninput = setCut;
  get<HTMLSelectElement>("cut-axis").onchange = () => { setCutRange(); setCut(); };
  for (const id of ["mode", "mode-body"]) get(id).oninput = setShape;
  checkbox("file").onchange = () => { const file = checkbox("file").files?.[0]; if (file) void open(file); };
  connectDrop();
  window.addEventListener("keydown", key);
  new ResizeObserver(() => { dirty = true; }).observe(canvas);
}

function setShape(): void {
  const body = Number(get<HTMLSelectElement>("mode-body").value), number = Number(checkbox("mode").value) - 1;
  const most = renderer.order[body]?.shapes ?? 0;
  look.shape = number >= 0 && number < most ? { body, number } : null;
  if (renderer.frame) renderer.setFrame(renderer.frame, look, 0);
  dirty = true;
}

function connectDrop(): void {
  const cover = get("drop");
  window.addEventListener("dragover", (event) => { event.preventDefault(); cover.hidden = false; });
  window.addEventListener("dragleave", (event) => { if (!event.relatedTarget) cover.hidden = true; });
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    cover.hidden = true;
    const file = event.dataTransfer?.files[0];
    if (file) void open(file);
  });
}

function tool(): Tool {
  return document.querySelector<HTMLInputElement>("input[name=tool]:checked")!.value as Tool;
}

function key(event: KeyboardEvent): void {
  canvas.classList.remove("by-pointer");
  const target = event.target as HTMLElement;
  if (target.matches("input:not([type=range]):not([type=checkbox]):not([type=radio]), select, textarea, dialog *")) return;
  if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey)) return connection.send("undo");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const press = (id: string) => () => get(id).click();
  const choose = (name: Tool) => () => document.querySelector<HTMLInputElement>(`input[name=tool][value=${name}]`)!.click();
  const move = (action: () => void) => () => { action(); dirty = true; };
  const onRange = target.matches("input[type=range]");
  const actions: Record<string, () => void> = {
    " ": press("play"), ".": press("step"), r: press("reset"), u: press("unpin"), w: press("wireframe"), x: press("cut"), p: press("save-picture"),
    v: press("save-video"), h: press("panel-button"), l: press("theme"), "?": press("help-button"),
    "1": choose("grab"), "2": choose("pin"), "3": choose("throw"), "4": choose("look"),
    c: nextColoring,
    o: () => { look.showOverlays = !look.showOverlays; wantOverlays(); dirty = true; },
    f: move(() => camera.frame(renderer.centre, renderer.size, aspect())),
    "+": move(() => camera.zoom(0.9)), "-": move(() => camera.zoom(1.1)),
    ...(onRange ? {} : {
      ArrowLeft: move(() => camera.orbit(0.1, 0)), ArrowRight: move(() => camera.orbit(-0.1, 0)),
      ArrowUp: move(() => camera.orbit(0, 0.1)), ArrowDown: move(() => camera.orbit(0, -0.1)),
    }),
  };
  const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action || (event.key === " " && target.matches("button, input, summary"))) return;
  event.preventDefault();
  action();
}

// drawing

function showForce(): void {
  const hold = renderer.frame?.holds[0], hint = get("hint");
  const seen = pointer.holding && hold !== undefined;
  hint.style.display = seen ? "block" : "none";
  get("force").textContent = seen ? `${short(hold.force)} N` : "";
  if (!seen) return;
  const matrix = camera.matrix(canvas.clientWidth / canvas.clientHeight), p = hold.target;
  const row = (r: number) => matrix[r]! * p[0] + matrix[4 + r]! * p[1] + matrix[8 + r]! * p[2] + matrix[12 + r]!;
  hint.style.left = `${(row(0) / row(3) * 0.5 + 0.5) * canvas.clientWidth + 14}px`;
  hint.style.top = `${(0.5 - row(1) / row(3) * 0.5) * canvas.clientHeight - 10}px`;
  hint.textContent = `${short(hold.force)} N`;
}

function tick(milliseconds: number): void {
  requestAnimationFrame(tick);
  if (pendingFrame) {
    const data = pendingFrame;
    pendingFrame = null;
    if (new DataView(data).getUint32(4, true) === scene) {
      const frame = decodeFrame(data, renderer.order.map((body) => body.model));
      renderer.setFrame(frame, look, milliseconds / 1000);
      ++shownFrames;
      get("clock").textContent = `${frame.t.toFixed(2)} s`;
      if (status?.playing && !checkbox("scrub").matches(":active")) checkbox("scrub").value = String(frame.number);
      dirty = true;
    }
  } else if (look.shape && renderer.frame) {
    renderer.setFrame(renderer.frame, look, milliseconds / 1000);
    dirty = true;
  }
  if (!dirty) return;
  dirty = false;
  renderer.draw(camera, look);
  showForce();
}

/** For tests and the curious: what the page shows, and where. */
interface Inspection {
  status(): Status | null;
  inControl(): boolean;
  frames(): number;
  received(): number;
  scene(): { number: number; size: number; centre: Vec3; bodies: { name: string; form: string; vertices: number; triangles: number }[] };
  time(): number;
  positions(body: number): number[];
  normals(body: number): number[];
  onScreen(point: Vec3): [number, number];
  bodyCentre(body: number): Vec3;
  draw(): void;
}
declare global { interface Window { lithe: Inspection } }

function inWorld(body: number, what: "positions" | "normals"): number[] {
  const surface = renderer.order[body]!, x = surface.read(what), m = surface.frame, shift = what === "positions" ? 1 : 0;
  const out: number[] = [];
  for (let v = 0; v < x.length; v += 4)
    for (let c = 0; c < 3; ++c) out.push(m[c]! * x[v]! + m[4 + c]! * x[v + 1]! + m[8 + c]! * x[v + 2]! + shift * m[12 + c]!);
  return out;
}

window.lithe = {
  status: () => status,
  inControl: () => inControl,
  frames: () => shownFrames,
  received: () => connection.bytes,
  scene: () => ({
    number: scene, size: renderer.size, centre: renderer.centre,
    bodies: renderer.order.map(({ model }) => ({ name: model.name, form: Object.keys(forms)[model.form]!, vertices: model.vertices, triangles: model.triangles.length / 3 })),
  }),
  time: () => renderer.frame?.t ?? NaN,
  positions: (body) => inWorld(body, "positions"),
  normals: (body) => inWorld(body, "normals"),
  onScreen: (p) => {
    const box = canvas.getBoundingClientRect(), matrix = camera.matrix(box.width / box.height);
    const row = (r: number) => matrix[r]! * p[0] + matrix[4 + r]! * p[1] + matrix[8 + r]! * p[2] + matrix[12 + r]!;
    return [box.left + (row(0) / row(3) * 0.5 + 0.5) * box.width, box.top + (0.5 - row(1) / row(3) * 0.5) * box.height];
  },
  bodyCentre: (body) => {
    const x = inWorld(body, "positions"), count = x.length / 3;
    let sum: Vec3 = [0, 0, 0];
    for (let v = 0; v < x.length; v += 3) sum = add(sum, [x[v]!, x[v + 1]!, x[v + 2]!]);
    return scale(sum, 1 / count);
  },
  draw: () => renderer.draw(camera, look),
};

function start(): void {
  try {
    renderer = new Renderer(canvas);
  } catch (error) {
    note("error", String(error));
    get("link").textContent = "no picture";
    return;
  }
  canvas.addEventListener("webglcontextlost", (event) => {
    event.preventDefault();
    note("error", "the graphics card was taken away; reload the page");
  });
  connection = new Connection({
    message: receive,
    binary: receiveBinary,
    state: (state) => {
      const link = get("link");
      link.className = `chip ${state === "live" ? "live" : state === "lost" ? "lost" : ""}`;
      link.textContent = state === "lost" ? "the server is away" : state === "connecting" ? "connecting" : "live";
    },
  });
  pointer = new PointerControl(canvas, camera, connection, { tool, mayTouch: () => inControl, changed: () => { dirty = true; } });
  connectControls();
  const saved = localStorage.getItem("lithe-theme");
  setTheme(saved ? saved === "light" : matchMedia("(prefers-color-scheme: light)").matches);
  requestAnimationFrame(tick);
}

start();
