// A server with a scene, and pages of a browser that look at it.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { chromium } = createRequire(process.env.LITHE_NODE_MODULES + "/")("playwright-core");

export const folder = mkdtempSync(join(tmpdir(), "lithe-viewer-"));
export const cleanUp = () => rmSync(folder, { recursive: true, force: true });

/** One body of each kind; all of them are in the picture from the start. */
export const mixedScene = `
title = "One of each kind"
[[body]]
name = "ring"
shape = "torus:major=0.25,minor=0.09"
tets = 400
position = [0, 0.5, 0]
rotation = [60, 0, 0]
material = { kind = "linear", young = "60 kPa", density = 1000 }
reduce = { rank = 8 }
[[body]]
name = "stone"
shape = "sphere:radius=0.12"
cell = 0.06
position = [0.6, 0.3, 0]
rigid = true
color = [0.5, 0.5, 0.55]
[[body]]
name = "cube"
shape = "box:size=0.24x0.24x0.24"
cell = 0.08
position = [-0.6, 0.35, 0]
material = { kind = "corotational", young = "30 kPa", density = 1000 }
color = [0.3, 0.6, 0.85]
[[obstacle]]
name = "ground"
shape = "plane"
`;

/** A character of deformable bones that wags. */
export const bonesScene = `
title = "A trout"
[[body]]
name = "trout"
shape = "trout"
detail = 0.012
tets = 1000
position = [0, 0.12, 0]
material = { young = "120 kPa", poisson = 0.42, density = 1000 }
damping = { mass = 0.1, stiffness = 0.004 }
bones = { modes = 6, proxy = 120 }
muscle = [{ bone = "tail", axis = [0, 1, 0], angle = 30, period = 0.5 }]
[[obstacle]]
name = "ground"
shape = "plane"
`;

export class Server {
  constructor(input, options = []) {
    this.input = input;
    this.options = options;
  }
  async start(port = 0) {
    this.process = spawn(process.env.LITHE, ["view", this.input, "--port", String(port), "-o", join(folder, "out"), ...this.options]);
    this.process.stderr.pipe(process.stderr);
    let text = "";
    this.address = await new Promise((resolve, reject) => {
      this.process.stdout.on("data", (data) => {
        text += data;
        const found = text.match(/open (http\S+)/);
        if (found) resolve(found[1]);
      });
      this.process.on("exit", (code) => reject(new Error(`lithe view ended with ${code}: ${text}`)));
    });
    this.port = Number(new URL(this.address).port);
    return this;
  }
  async stop() {
    const ended = new Promise((resolve) => this.process.on("exit", resolve));
    this.process.kill("SIGTERM");
    await ended;
  }
}

export function writeScene(name, text) {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

export async function launch() {
  return chromium.launch({
    executablePath: process.env.LITHE_BROWSER,
    args: ["--headless", "--no-sandbox", "--no-first-run", "--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync",
      "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
  });
}

/** A page that shows its first frame; errors of its scripts fail the test. */
export async function openPage(browser, address, size = { width: 900, height: 600 }) {
  const context = await browser.newContext({ viewport: size, acceptDownloads: true, colorScheme: "dark" });
  const page = await context.newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(error.message));
  page.on("console", (message) => { if (message.type() === "error") page.faults.push(message.text()); });
  await page.goto(address, { timeout: 90_000 });
  await page.waitForFunction(() => window.lithe?.frames() > 0 && window.lithe.status() !== null, null, { timeout: 60_000 });
  return page;
}

/** Vertices (and triangles) of a binary .ply of ours. */
export function readPly(buffer) {
  const head = buffer.subarray(0, buffer.indexOf("end_header\n") + 11), lines = head.toString("latin1").split("\n");
  const vertexCount = Number(lines.find((line) => line.startsWith("element vertex")).split(" ")[2]);
  const faceCount = Number(lines.find((line) => line.startsWith("element face")).split(" ")[2]);
  const wide = lines.some((line) => line === "property double x");
  let at = head.length;
  const vertices = [], triangles = [];
  for (let k = 0; k < 3 * vertexCount; ++k, at += wide ? 8 : 4) vertices.push(wide ? buffer.readDoubleLE(at) : buffer.readFloatLE(at));
  for (let k = 0; k < faceCount; ++k) {
    at += 1;
    for (let c = 0; c < 3; ++c, at += 4) triangles.push(buffer.readInt32LE(at));
  }
  return { vertices, triangles };
}

/** Area-weighted unit normals, three numbers per vertex. */
export function vertexNormals({ vertices, triangles }) {
  const out = new Array(vertices.length).fill(0);
  const at = (v) => vertices.slice(3 * v, 3 * v + 3);
  for (let f = 0; f < triangles.length; f += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => at(triangles[f + k]));
    const u = b.map((x, k) => x - a[k]), w = c.map((x, k) => x - a[k]);
    const n = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]];
    for (let k = 0; k < 3; ++k) n.forEach((x, c2) => { out[3 * triangles[f + k] + c2] += x; });
  }
  for (let v = 0; v < out.length; v += 3) {
    const size = Math.hypot(out[v], out[v + 1], out[v + 2]);
    for (let c = 0; c < 3; ++c) out[v + c] /= size;
  }
  return out;
}
