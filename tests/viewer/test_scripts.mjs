// The page's scripts without a browser: they are what their sources compile to, and speak as protocol.json says.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const viewer = new URL("../../viewer/", import.meta.url).pathname;
const described = JSON.parse(readFileSync(join(viewer, "protocol.json"), "utf8"));
const protocol = await import(join(viewer, "dist/protocol.js"));

test("the committed scripts are what the sources compile to", () => {
  const folder = mkdtempSync(join(tmpdir(), "lithe-viewer-"));
  try {
    execFileSync("node", [join(process.env.LITHE_NODE_MODULES, "typescript/bin/tsc"), "-p", viewer, "--outDir", folder], { stdio: "inherit" });
    const made = readdirSync(folder).sort();
    assert.deepEqual(readdirSync(join(viewer, "dist")).sort(), made);
    for (const file of made)
      assert.equal(readFileSync(join(viewer, "dist", file), "utf8"), readFileSync(join(folder, file), "utf8"), `${file} is old: run tsc -p viewer`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the page has the tables of the description", () => {
  assert.equal(protocol.version, described.version);
  assert.deepEqual(protocol.kinds, described.binary.kinds);
  assert.deepEqual(protocol.forms, described.binary.forms);
  assert.deepEqual(protocol.sectionTypes, described.binary.sections);
  assert.deepEqual(protocol.frameLayout, described.binary.frame);
  const types = Object.fromEntries(Object.entries(described.commands).map(([name, fields]) =>
    [name, Object.fromEntries(Object.entries(fields).map(([field, rule]) => [field, rule.type]))]));
  assert.deepEqual(protocol.commands, types);
});

/** Writes what a layout of the description says, with numbers that tell the fields apart. */
function written(layouts) {
  const bytes = [];
  let next = 1;
  for (const layout of layouts)
    for (const [, type, count = 1] of layout)
      for (let k = 0; k < count; ++k) {
        const view = new DataView(new ArrayBuffer(type === "f64" ? 8 : 4));
        if (type === "u32") view.setUint32(0, next, true);
        else if (type === "f32") view.setFloat32(0, next, true);
        else view.setFloat64(0, next, true);
        ++next;
        bytes.push(...new Uint8Array(view.buffer));
      }
  return bytes;
}

test("frames are read by the layout of the description", () => {
  const { header, pose, hold } = described.binary.frame;
  const data = new Uint8Array([...written([header, pose]), 1, 0, 0, 0, ...written([hold])]).buffer;
  const frame = protocol.decodeFrame(data, [{ form: described.binary.forms.rigid, bones: [], vertices: 0 }]);
  assert.deepEqual([frame.scene, frame.number, frame.t], [2, 3, 5]);
  assert.deepEqual(frame.bodies[0].pose, { rotation: [6, 7, 8, 9], translation: [10, 11, 12] });
  assert.deepEqual(frame.holds, [{ point: [1, 2, 3], target: [4, 5, 6], force: 7 }]);
});
