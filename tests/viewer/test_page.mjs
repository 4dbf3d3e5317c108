// `lithe view` as people use it, in a real browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bonesScene, cleanUp, folder, launch, mixedScene, openPage, readPly, Server, vertexNormals, writeScene } from "./live_viewer.mjs";

const pictures = process.env.LITHE_PICTURES; // a folder to keep pictures in, to look at
let browser, server, page;

before(async () => {
  server = await new Server(writeScene("mixed.toml", mixedScene), ["--paused"]).start();
  browser = await launch();
  page = await openPage(browser, server.address);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  cleanUp();
});

const status = (of = page) => of.evaluate(() => lithe.status());
const until = (what, argument, of = page) => of.waitForFunction(what, argument, { timeout: 60_000 });
const send = (id) => page.click(`#${id}`);
async function keep(name, of = page) {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await of.screenshot({ path: join(pictures, `${name}.png`) });
}
async function reset() {
  if ((await status()).playing) await send("play");
  await until(() => !lithe.status().playing);
  await send("reset");
  await until(() => lithe.status().frame === 0 && lithe.time() === 0);
}
const bodyNumber = (name, of = page) => of.evaluate((n) => lithe.scene().bodies.findIndex((body) => body.name === n), name);

test("shows the bodies of every kind, and they move", async () => {
  const { bodies } = await page.evaluate(() => lithe.scene());
  assert.deepEqual(bodies.map((body) => [body.name, body.form]), [["ground", "rigid"], ["ring", "bones"], ["stone", "rigid"], ["cube", "positions"]]);
  const still = await page.locator("#view").screenshot();
  await keep("rest");
  await send("play");
  await until(() => lithe.time() > 0.3);
  await send("play");
  await until(() => !lithe.status().playing);
  assert.notDeepEqual(await page.locator("#view").screenshot(), still);
  assert.deepEqual(page.faults, []);
});

/** Largest distance of the page's positions from those of the server, over the size, and of the normals in degrees. */
async function distanceFromEngine(of, address, number) {
  const mesh = readPly(Buffer.from(await (await of.request.get(`${address}surface/${number}.ply`)).body()));
  const [positions, normals] = await of.evaluate((k) => [lithe.positions(k), lithe.normals(k)], number);
  assert.equal(positions.length, mesh.vertices.length);
  const wanted = vertexNormals(mesh);
  let size = 0, farthest = 0, widest = 0;
  for (let c = 0; c < 3; ++c) {
    const axis = mesh.vertices.filter((_, k) => k % 3 === c);
    size = Math.hypot(size, Math.max(...axis) - Math.min(...axis));
  }
  for (let v = 0; v < positions.length; v += 3) {
    farthest = Math.max(farthest, Math.hypot(...[0, 1, 2].map((c) => positions[v + c] - mesh.vertices[v + c])));
    const cosine = [0, 1, 2].reduce((sum, c) => sum + normals[v + c] * wanted[v + c], 0);
    widest = Math.max(widest, Math.acos(Math.min(1, cosine)) * 180 / Math.PI);
  }
  return { share: farthest / size, degrees: widest };
}

async function assertAsTheEngine(of, address, name) {
  const { share, degrees } = await distanceFromEngine(of, address, await bodyNumber(name, of));
  console.log(`${name}: positions within ${share.toExponential(1)} of the size, normals within ${degrees.toFixed(3)} degrees`);
  assert.ok(share <= 1e-4, `${name}: ${share}`);
  assert.ok(degrees <= 2, `${name}: ${degrees}`);
}

test("positions and normals made in the shaders are those of the engine", async () => {
  for (const name of ["ring", "stone", "cube"]) await assertAsTheEngine(page, server.address, name);
});

test("so are those of a skin on deformable bones", async () => {
  const other = await new Server(writeScene("trout.toml", bonesScene), ["--paused"]).start();
  const view = await openPage(browser, other.address);
  assert.equal(await view.evaluate(() => lithe.scene().bodies.find((body) => body.name === "trout").form), "bones");
  await assertAsTheEngine(view, other.address, "trout");
  for (let k = 0; k < 20; ++k) await view.click("#step");
  await until(() => lithe.status().frame === 20 && Math.abs(lithe.time() - 20 / 60) < 1e-9, null, view);
  await assertAsTheEngine(view, other.address, "trout");
  await keep("bones", view);
  await view.selectOption("#color-by", "domain");
  await view.check("[data-overlay=joints]");
  await view.waitForTimeout(500);
  await keep("bones-domain", view);
  assert.deepEqual(view.faults, []);
  await view.context().close();
  await other.stop();
});

test("plays, pauses, steps, scrubs and goes back to the start, by buttons and keys", async () => {
  await reset();
  await send("step");
  await until(() => lithe.status().frame === 1);
  await page.locator("#view").focus();
  await page.keyboard.press(".");
  await until(() => lithe.status().frame === 2);
  await page.keyboard.press("Space");
  await until(() => lithe.status().playing && lithe.status().frame > 10);
  await page.keyboard.press("Space");
  await until(() => !lithe.status().playing);
  await page.locator("#scrub").fill("3");
  await until(() => lithe.status().shown === 3 && Math.abs(lithe.time() - 3 / 60) < 1e-9);
  await page.locator("#view").focus();
  await page.keyboard.press(".");
  await until(() => lithe.status().frame === 4 && lithe.status().last === 4); // goes on from what was shown
  await page.locator("#scrub").fill("1");
  await until(() => lithe.status().shown === 1);
  await send("play");
  await until(() => lithe.status().playing && lithe.status().frame > 1 && lithe.status().frame === lithe.status().shown);
  await page.locator("#view").focus();
  await page.keyboard.press("Space");
  await until(() => !lithe.status().playing);
  await page.keyboard.press("r");
  await until(() => lithe.status().frame === 0);
});

test("a hand pulls the surface towards the cursor, and lets go", async () => {
  await reset();
  await send("play");
  await until(() => lithe.time() > 0.5);
  const number = await bodyNumber("stone");
  const before = await page.evaluate((k) => lithe.bodyCentre(k), number);
  const [x, y] = await page.evaluate((p) => lithe.onScreen(p), before);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await until(() => document.getElementById("view").classList.contains("busy"));
  await page.waitForTimeout(300);
  for (let k = 1; k <= 10; ++k) await page.mouse.move(x, y - 15 * k);
  await until(([k, height]) => lithe.bodyCentre(k)[1] > height + 0.15, [number, before[1]]);
  assert.match(await page.locator("#force").textContent(), /\d N/);
  await keep("grabbed");
  const high = await page.evaluate((k) => lithe.bodyCentre(k)[1], number);
  await page.mouse.up();
  await until(([k, height]) => lithe.bodyCentre(k)[1] < height - 0.1, [number, high]);
  assert.equal(await page.locator("#force").textContent(), "");
});

test("a drag beside the bodies turns the camera", async () => {
  const box = await page.locator("#view").boundingBox();
  const before = await page.evaluate(() => lithe.onScreen([1, 0, 0]));
  await page.mouse.move(box.x + 30, box.y + 30);
  await page.mouse.down();
  await page.waitForTimeout(300);
  await page.mouse.move(box.x + 130, box.y + 40, { steps: 4 });
  await page.mouse.up();
  const later = await page.evaluate(() => lithe.onScreen([1, 0, 0]));
  assert.ok(Math.hypot(later[0] - before[0], later[1] - before[1]) > 10);
  await page.locator("#view").focus();
  await page.keyboard.press("f");
});

test("balls can be thrown, and bodies pinned", async () => {
  await page.locator("#view").focus();
  await page.keyboard.press("3");
  const ring = await page.evaluate((k) => lithe.onScreen(lithe.bodyCentre(k)), await bodyNumber("cube"));
  await page.mouse.click(...ring);
  await until(() => lithe.scene().bodies.length === 5);
  await page.keyboard.press("2");
  const stone = await page.evaluate((k) => lithe.onScreen(lithe.bodyCentre(k)), await bodyNumber("stone"));
  await page.mouse.click(...stone);
  await page.waitForTimeout(500);
  await page.keyboard.press("u");
  await page.keyboard.press("1");
});

test("overlays and plots show what happens, and overlays can be switched off", async () => {
  await until(() => lithe.status().contacts > 0 || lithe.time() > 1.5);
  await until(() => document.querySelector("[data-overlay=contacts]"));
  const view = page.locator("#view");
  const before = await view.screenshot();
  await page.check("[data-overlay=contacts]");
  await page.waitForTimeout(600);
  assert.notDeepEqual(await view.screenshot(), before);
  const value = (name) => page.locator(`[data-series="${name}"]`).first().getAttribute("data-value").then(Number);
  assert.ok(await value("potential") > 0);
  assert.ok(Number.isFinite(await value("kinetic")));
  assert.ok(await value("predict") > 0);
  await send("play");
  await until(() => !lithe.status().playing);
  const drawn = await page.locator(".plot canvas").first().evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((byte) => byte > 0).length;
  });
  assert.ok(drawn > 200, "the plot is empty");
  await keep("overlays");
  await page.uncheck("[data-overlay=contacts]");
});

test("colours, wireframe, cut and shapes change the picture", async () => {
  const view = page.locator("#view");
  let last = await view.screenshot();
  const changes = async (what) => {
    await page.waitForTimeout(400);
    const now = await view.screenshot();
    assert.notDeepEqual(now, last, what);
    last = now;
  };
  for (const coloring of ["displacement", "velocity", "strain", "domain", "field:stress (von Mises)", "own"]) {
    await page.selectOption("#color-by", coloring);
    await changes(coloring);
    if (!coloring.startsWith("field:")) continue;
    await until(() => /[1-9].* Pa$/.test(document.querySelector("#legend i").textContent));
    await keep("stress");
    last = await view.screenshot();
  }
  await page.check("#wireframe");
  await changes("wireframe");
  await page.check("#cut");
  await changes("cut");
  await keep("cut");
  await page.uncheck("#cut");
  await page.uncheck("#wireframe");
  await page.fill("#mode", "2");
  await changes("shape");
  await page.fill("#mode", "0");
  await send("theme");
  await changes("light");
  await keep("light");
  await send("theme");
});

test("sliders change the material, say that it takes preparing, and can be undone", async () => {
  const before = (await status()).frame;
  await page.locator("#stiffness").fill("0.5");
  await until(() => Math.abs(lithe.status().stiffness - 10 ** 0.5) < 1e-9 && document.getElementById("progress").hidden);
  assert.match(await page.locator("#log").textContent(), /prepares the bodies again/);
  await until(() => lithe.status().undo === 1);
  assert.ok((await status()).frame >= before);
  await page.locator("#friction").fill("2");
  await until(() => lithe.status().friction === 2 && document.getElementById("progress").hidden);
  await send("undo");
  await until(() => lithe.status().friction === 1 && document.getElementById("progress").hidden);
  await page.locator("#substeps").fill("2");
  await until(() => lithe.status().substeps === 2);
  await page.locator("#view").focus();
  await page.keyboard.press("Control+z");
  await until(() => lithe.status().substeps === 1);
});

test("gravity changes at once, and can be undone", async () => {
  const said = (await page.locator("#log").textContent()).length;
  await page.locator("#gravity").fill("-3");
  await until(() => Math.abs(lithe.status().gravity[1] - 3) < 1e-9);
  await send("undo");
  await until(() => Math.abs(lithe.status().gravity[1] + 9.81) < 1e-9);
  assert.equal((await page.locator("#log").textContent()).length, said);
});

test("the error against full space is plotted when it is asked for", async () => {
  assert.ok(!await page.locator('[data-series="largest"]').isVisible());
  await reset();
  await page.check("#compare");
  await send("play");
  await until(() => lithe.status().error?.frame > 10);
  await until(() => Number(document.querySelector('[data-series="largest"]')?.dataset.value) > 0);
  assert.ok(await page.locator('[data-series="error"]').isVisible());
  await page.locator("#compare").evaluate((box) => box.scrollIntoView());
  await keep("compared");
  await page.uncheck("#compare");
  await until(() => !lithe.status().compares && lithe.status().error === null);
  await send("play");
  await until(() => !lithe.status().playing);
});

test("every key of the list does what it says", async () => {
  await reset();
  await page.locator("#view").focus();
  const toggles = { w: "#wireframe", x: "#cut" };
  for (const [key, box] of Object.entries(toggles)) {
    await page.keyboard.press(key);
    assert.ok(await page.isChecked(box), key);
    await page.keyboard.press(key);
    assert.ok(!await page.isChecked(box), key);
  }
  const tools = { 2: "pin", 3: "throw", 4: "look", 1: "grab" };
  for (const [key, tool] of Object.entries(tools)) {
    await page.keyboard.press(key);
    assert.ok(await page.isChecked(`input[name=tool][value=${tool}]`), key);
  }
  await page.keyboard.press("c");
  assert.equal(await page.inputValue("#color-by"), "displacement");
  await page.selectOption("#color-by", "own");
  await page.locator("#view").focus();
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  const before = await theme();
  await page.keyboard.press("l");
  assert.notEqual(await theme(), before);
  await page.keyboard.press("l");
  await page.keyboard.press("h");
  assert.ok(!await page.locator("#panel").isVisible());
  await page.keyboard.press("h");
  assert.ok(await page.locator("#panel").isVisible());
  const place = () => page.evaluate(() => lithe.onScreen([0.5, 0.5, 0]).join());
  for (const key of ["ArrowLeft", "ArrowUp", "+", "-"]) {
    const here = await place();
    await page.keyboard.press(key);
    assert.notEqual(await place(), here, key);
  }
  await page.keyboard.press("f");
  const [picture] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("p")]);
  assert.match(picture.suggestedFilename(), /\.png$/);
  await page.keyboard.press("?");
  assert.ok(await page.locator("#help").isVisible());
  await page.keyboard.press("Escape");
  assert.ok(!await page.locator("#help").isVisible());
});

test("picture and panel follow the window, and the panel can be pulled wider", async () => {
  const width = (id) => page.evaluate((each) => document.getElementById(each).getBoundingClientRect().width, id);
  const [view, panel] = [await width("view"), await width("panel")];
  const box = await page.locator("#panel").boundingBox();
  await page.mouse.move(box.x + 4, box.y + box.height - 4);
  await page.mouse.down();
  await page.mouse.move(box.x - 60, box.y + box.height - 4, { steps: 5 });
  await page.mouse.up();
  assert.ok(await width("panel") > panel + 30, `${await width("panel")} after ${panel}`);
  assert.ok(await width("view") < view - 30);
  await page.setViewportSize({ width: 1100, height: 700 });
  await until(() => {
    const view = document.getElementById("view");
    return window.innerWidth === 1100 && view.width === Math.round(view.getBoundingClientRect().width);
  });
  await page.setViewportSize({ width: 900, height: 600 });
});

test("pictures, videos and metrics are saved", async () => {
  const saved = async (id) => {
    const [download] = await Promise.all([page.waitForEvent("download"), send(id)]);
    const file = join(folder, download.suggestedFilename());
    await download.saveAs(file);
    return file;
  };
  assert.equal(readFileSync(await saved("save-picture")).toString("latin1", 1, 4), "PNG");
  assert.match(readFileSync(await saved("save-csv"), "utf8"), /^frame,t \[s\]/);
  assert.equal(JSON.parse(readFileSync(await saved("save-json"), "utf8")).version, 1);
  await send("play");
  await send("save-video");
  await page.waitForTimeout(2500);
  const video = await saved("save-video");
  assert.ok(statSync(video).size > 2000);
  assert.equal(readFileSync(video).readUInt32BE(0), 0x1a45dfa3); // EBML, as WebM begins
  await send("save-state");
  await until(() => document.querySelector(".note.warning")?.textContent.includes("lithe simulate"));
  const [, command] = (await page.locator(".note.warning").last().textContent()).match(/lithe (simulate .*) --frames N/);
  const from = Number(command.match(/-(\d+)\.checkpoint/)[1]);
  const told = execFileSync(process.env.LITHE, [...command.split(" "), "--frames", String(from + 3), "--metrics", join(folder, "resumed.json")], { encoding: "utf8" });
  assert.equal(JSON.parse(readFileSync(join(folder, "resumed.json"), "utf8")).steps.at(-1).frame, from + 3, told);
});

test("a second page watches, and can take over", async () => {
  const second = await openPage(browser, server.address);
  await until(() => !lithe.inControl(), null, second);
  assert.ok(await second.locator("#take-control").isVisible());
  await until(() => lithe.frames() > 5, null, second);
  await second.click("#take-control");
  await until(() => lithe.inControl(), null, second);
  await until(() => !lithe.inControl());
  await page.click("#take-control");
  await until(() => lithe.inControl());
  await second.context().close();
});

test("a broken mesh that is dropped gives the message with file and line", async () => {
  await page.evaluate(() => {
    const carried = new DataTransfer();
    carried.items.add(new File(["v 0 0 0\nv 1 0 x\nf 1 2 3\n"], "broken.obj"));
    for (const type of ["dragover", "drop"]) window.dispatchEvent(new DragEvent(type, { dataTransfer: carried, bubbles: true, cancelable: true }));
  });
  await until(() => document.querySelector(".note.error")?.textContent.includes("broken.obj:2"));
  const cube = "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nv 0 2 0\nf 1 2 3\nf 1 3 4\nf 2 1 5\nf 3 2 5\nf 4 3 5\nf 1 4 5\n";
  await page.setInputFiles("#file", { name: "pyramid.obj", mimeType: "text/plain", buffer: Buffer.from(cube) });
  await until(() => lithe.scene().bodies.some((body) => body.name === "pyramid"));
});

test("a built-in scene is taken from the list", async () => {
  await page.selectOption("#scene", "free-flight");
  await until(() => /fl(y|ies|ight)|spin/i.test(document.title), null);
  await until(() => lithe.status().frame >= 0 && lithe.frames() > 0);
  await page.selectOption("#speed", "0.25");
  await until(() => lithe.status().speed === 0.25);
  await page.selectOption("#speed", "1");
  await until(() => lithe.status().speed === 1);
});

test("fits a phone", async () => {
  const phone = await openPage(browser, server.address, { width: 390, height: 780 });
  const [overflow, canvas] = await phone.evaluate(() => [document.documentElement.scrollWidth - innerWidth, document.getElementById("view").clientHeight]);
  assert.ok(overflow <= 0, `${overflow} pixels too wide`);
  assert.ok(canvas > 200);
  for (const id of ["play", "step", "reset", "scrub", "speed"]) {
    const box = await phone.locator(`#${id}`).boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 390, id);
  }
  await keep("phone", phone);
  await phone.context().close();
});

test("everything that can be pressed has a name", async () => {
  const nameless = await page.evaluate(() => [...document.querySelectorAll("button, input, select, canvas")].filter((element) =>
    !element.getAttribute("aria-label") && !element.textContent.trim() && !element.closest("label")?.textContent.trim()).map((element) => element.outerHTML));
  assert.deepEqual(nameless, []);
});

test("comes back when the server does", async () => {
  const { port } = server;
  await server.stop();
  await until(() => document.getElementById("link").textContent === "the server is away" || document.getElementById("link").textContent === "connecting");
  await server.start(port);
  await until(() => lithe.scene().bodies.some((body) => body.name === "stone"));
  const frames = await page.evaluate(() => lithe.frames());
  await until((n) => lithe.inControl() && lithe.frames() >= n && lithe.status().frame === 0, frames);
  await send("step");
  await until(() => lithe.status().frame === 1);
});

test("the picture of the documentation", { skip: !pictures && "LITHE_PICTURES names no folder" }, async () => {
  const other = await new Server("mixed-box").start();
  const wide = await openPage(browser, other.address, { width: 1280, height: 800 });
  await until(() => lithe.time() > 1.2, null, wide);
  await wide.waitForSelector("[data-overlay=contacts]", { state: "attached" });
  await wide.check("[data-overlay=contacts]");
  await wide.evaluate(() => { for (const part of [...document.querySelectorAll("#panel details")].slice(1, 3)) part.open = false; });
  const stone = await bodyNumber("stone", wide);
  const [x, y] = await wide.evaluate((k) => lithe.onScreen(lithe.bodyCentre(k)), stone);
  await wide.mouse.move(x, y);
  await wide.mouse.down();
  await wide.waitForTimeout(500);
  for (let k = 1; k <= 12; ++k) {
    await wide.mouse.move(x + 4 * k, y - 16 * k);
    await wide.waitForTimeout(120);
  }
  await wide.waitForTimeout(1200);
  await keep("viewer", wide);
  await wide.mouse.up();
  await wide.context().close();
  await other.stop();
});
