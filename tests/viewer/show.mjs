// Pictures of a running `lithe view`, to look at: at rest, pulled, with overlays, with plots.
//   lithe view scenes/fish-box.toml --port 8123 &
//   node tests/viewer/show.mjs http://127.0.0.1:8123/ out/pictures [body to pull] [place on it that is pulled at the start, x,y,z]
import { mkdirSync } from "node:fs";
import { join } from "node:path";

process.env.LITHE_NODE_MODULES ??= new URL("../../build/viewer/node_modules", import.meta.url).pathname;
process.env.LITHE_BROWSER ??= "/usr/bin/chromium";
const { cleanUp, launch, openPage } = await import("./live_viewer.mjs");

const [address, folder, pulled, place] = process.argv.slice(2);
if (!folder) throw new Error("node tests/viewer/show.mjs ADDRESS FOLDER [BODY] [X,Y,Z]");
mkdirSync(folder, { recursive: true });
const browser = await launch();
const page = await openPage(browser, address, { width: 1280, height: 800 });
page.setDefaultTimeout(120_000);
const keep = (name) => page.screenshot({ path: join(folder, `${name}.png`), timeout: 120_000 });
const openParts = (...wanted) => page.evaluate((names) => {
  for (const part of document.querySelectorAll("#panel details")) part.open = names.includes(part.querySelector("summary").textContent);
}, wanted);

/** Frames without a wait for the wall clock: the browser draws slowly where there is no graphics card. */
async function settle(seconds) {
  const from = await page.evaluate(() => lithe.time());
  await page.waitForFunction((t) => lithe.time() >= t, from + seconds, { timeout: 300_000 });
}

/** Clicks, also where a page that draws slowly is never at rest. */
const press = (button) => page.evaluate((name) => document.querySelector(name).click(), button);

async function play(wanted) {
  if (await page.evaluate(() => lithe.status().playing) !== wanted) await press("#play");
  await page.waitForFunction((on) => lithe.status().playing === on, wanted);
}

/** The vertex of a body nearest to a place. */
const nearestVertex = (body, at) => page.evaluate(([k, p]) => {
  const x = lithe.positions(k), away = (v) => Math.hypot(x[3 * v] - p[0], x[3 * v + 1] - p[1], x[3 * v + 2] - p[2]);
  let nearest = 0;
  for (let v = 1; v < x.length / 3; ++v) if (away(v) < away(nearest)) nearest = v;
  return nearest;
}, [body, at]);

/** Where a vertex is on the screen, or the middle of the body where none is asked for. */
const onScreen = (body, vertex) => page.evaluate(
  ([k, v]) => lithe.onScreen(v === null ? lithe.bodyCentre(k) : [...lithe.positions(k).slice(3 * v, 3 * v + 3)]), [body, vertex]);

try {
  await openParts("Touch", "Physics", "Look");
  await keep("1-rest");
  const body = await page.evaluate((name) => lithe.scene().bodies.findIndex((each) => name ? each.name === name : each.form !== "rigid"), pulled);
  let vertex = null;
  if (place) {
    await play(false);
    await press("#reset");
    await page.waitForFunction(() => lithe.status().frame === 0 && lithe.time() === 0);
    vertex = await nearestVertex(body, place.split(",").map(Number));
    await play(true);
  }
  await settle(0.8);
  if (place) { // what walks is hard to hit
    await play(false);
    await page.waitForTimeout(1500); // its last frame comes
  }
  const [x, y] = await onScreen(body, vertex), reach = place ? 0.4 : 1;
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.waitForTimeout(600);
  if (place) await play(true);
  for (let k = 1; k <= 10; ++k) {
    await page.mouse.move(x + 6 * reach * k, y - 18 * reach * k);
    await page.waitForTimeout(100);
  }
  await settle(0.4);
  await keep("2-grabbed");
  console.log(`pulled from ${[x, y].map(Math.round)} to ${[x + 60 * reach, y - 180 * reach].map(Math.round)}; what was pulled is at ${(await onScreen(body, vertex)).map(Math.round)}`);
  await page.mouse.up();
  for (const overlay of await page.$$("[data-overlay]")) await overlay.check();
  await page.check("#wireframe");
  await settle(0.2);
  await keep("3-overlays");
  await page.uncheck("#wireframe");
  for (const overlay of await page.$$("[data-overlay]")) await overlay.uncheck();
  for (const coloring of await page.$$eval("#color-by option", (options) => options.map((option) => option.value))) {
    if (coloring === "own") continue;
    await page.selectOption("#color-by", coloring);
    await settle(0.1);
    await keep(`4-${coloring.replace(/[^a-z]+/g, "-")}`);
  }
  await page.selectOption("#color-by", "own");
  await page.check("#cut");
  await settle(0.2);
  await keep("5-cut");
  await page.uncheck("#cut");
  await openParts("Plots");
  await settle(1);
  await keep("6-plots");
  await press("#theme");
  await settle(0.1);
  await keep("7-light");
  if (page.faults.length > 0) throw new Error(page.faults.join("\n"));
  console.log(`pictures are in ${folder}`);
} finally {
  await browser.close();
  cleanUp();
}
