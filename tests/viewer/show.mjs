// Pictures of a running `lithe view`, to look at: at rest, pulled, with overlays, with plots.
//   lithe view scenes/fish-box.toml --port 8123 &
//   node tests/viewer/show.mjs http://127.0.0.1:8123/ out/pictures [body to pull]
import { mkdirSync } from "node:fs";
import { join } from "node:path";

process.env.LITHE_NODE_MODULES ??= new URL("../../build/viewer/node_modules", import.meta.url).pathname;
process.env.LITHE_BROWSER ??= "/usr/bin/chromium";
const { cleanUp, launch, openPage } = await import("./live_viewer.mjs");

const [address, folder, pulled] = process.argv.slice(2);
if (!folder) throw new Error("node tests/viewer/show.mjs ADDRESS FOLDER [BODY]");
mkdirSync(folder, { recursive: true });
const browser = await launch();
const page = await openPage(browser, address, { width: 1280, height: 800 });
const keep = (name) => page.screenshot({ path: join(folder, `${name}.png`), timeout: 120_000 });
const openParts = (...wanted) => page.evaluate((names) => {
  for (const part of document.querySelectorAll("#panel details")) part.open = names.includes(part.querySelector("summary").textContent);
}, wanted);

/** Frames without a wait for the wall clock: the browser draws slowly where there is no graphics card. */
async function settle(seconds) {
  const from = await page.evaluate(() => lithe.time());
  await page.waitForFunction((t) => lithe.time() >= t, from + seconds, { timeout: 300_000 });
}

try {
  await openParts("Touch", "Physics", "Look");
  await keep("1-rest");
  await settle(0.8);
  const body = await page.evaluate((name) => lithe.scene().bodies.findIndex((each) => name ? each.name === name : each.form !== "rigid"), pulled);
  const [x, y] = await page.evaluate((k) => lithe.onScreen(lithe.bodyCentre(k)), body);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.waitForTimeout(600);
  for (let k = 1; k <= 10; ++k) {
    await page.mouse.move(x + 6 * k, y - 18 * k);
    await page.waitForTimeout(100);
  }
  await settle(0.4);
  await keep("2-grabbed");
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
  await page.evaluate(() => document.querySelector("#theme").click()); // a page that draws slowly is never at rest
  await settle(0.1);
  await keep("7-light");
  if (page.faults.length > 0) throw new Error(page.faults.join("\n"));
  console.log(`pictures are in ${folder}`);
} finally {
  await browser.close();
  cleanUp();
}
