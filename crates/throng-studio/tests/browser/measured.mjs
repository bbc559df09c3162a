// What must be fast, measured in the browser; figures are printed, and limits are those of the issue tracker.
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { browser, command, empty, existsSync, holds, join, open, ready, read, sample, shared, studio, test, until } from "./harness.mjs";

/** Measures until a limit is kept, at most so often: on a busy machine one quiet moment is enough. */
async function within(limit, times, measure) {
  const measured = [];
  while (measured.length < times && !(Math.min(...measured) < limit)) measured.push(await measure(measured.length));
  return measured;
}

/** Whether a limit is kept. One that is not is forgiven only where other programs take the processors, in proportion and aloud. */
function kept(best, milliseconds, words) {
  const busy = loadavg()[0] / cpus().length;
  if (best < milliseconds) return;
  holds(busy > 1.5 && best < milliseconds * busy, `${words} took ${best.toFixed(0)} ms at best, allowed are ${milliseconds} ms`);
  console.log(`    NOT SHOWN: ${words} took ${best.toFixed(0)} ms at best where ${milliseconds} are allowed; ${busy.toFixed(1)} programs wait for each core`);
}

/** The memory of the page's process that it shares with no other, as the browser's task manager tells it, in MB. */
async function footprint() {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  const own = (id) => {
    const status = readFileSync(`/proc/${id}/status`, "utf8");
    const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0) / 1000;
    return field("RssAnon") + field("VmSwap");
  };
  return Math.max(...processInfo.filter((one) => one.type === "renderer").map((one) => own(one.id)));
}

test("a role changes the risk within 300 ms, and a k shows its loss within a second", async () => {
  const own = await studio(sample(), "adult.csv");
  const page = await open(own);
  await ready(page);
  await page.locator("#unique-share").waitFor();
  const names = await page.locator("table.columns tbody th").allTextContents();
  const race = names.findIndex((name) => name.trim() === "race");
  const changed = async (role) => page.evaluate(async ([id, role]) => {
    const before = document.getElementById("unique-share")?.textContent;
    const select = document.getElementById(id);
    const begun = performance.now();
    select.value = role;
    select.dispatchEvent(new Event("change", { bubbles: true }));
    for (;;) {
      await new Promise((wait) => setTimeout(wait, 4));
      const now = document.getElementById("unique-share")?.textContent;
      if (now !== undefined && now !== before) return performance.now() - begun;
      if (performance.now() - begun > 20_000) throw new Error("the risk does not change");
    }
  }, [`role-${race}`, role]);
  const times = await within(300, 12, (turn) => changed(turn % 2 ? "quasi" : "identifier"));
  await page.goto(`${own.origin}/privacy`);
  await page.locator("#quick-loss").waitFor();
  const slid = await within(1000, 8, (turn) => page.evaluate(async (k) => {
      const slider = document.getElementById("k-slider");
      const begun = performance.now();
      slider.value = k;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      for (;;) {
        await new Promise((wait) => setTimeout(wait, 4));
        if (document.getElementById("k-loss")?.textContent?.includes(`k = ${k} loses`)) return performance.now() - begun;
        if (performance.now() - begun > 20_000) throw new Error("no loss is shown");
      }
    }, ["17", "40", "80", "23", "61", "35", "90", "12"][turn]));
  console.log(`    role → risk: ${times.map((time) => time.toFixed(0)).join(", ")} ms; k → loss: ${slid.map((time) => time.toFixed(0)).join(", ")} ms`);
  kept(Math.min(...times), 300, "a role");
  kept(Math.min(...slid), 1000, "a k");
});

test("a table of 199,523 rows opens within three times the time of init, in a page below 100 MB", async () => {
  const packed = join(shared, "census-income-kdd.train.csv.zst");
  if (!existsSync(packed)) return "census-income-kdd is not there";
  const folder = empty();
  copyFileSync(packed, join(folder, "census.csv.zst"));
  const ratios = [];
  for (let turn = 0; turn < 2; turn += 1) {
    const begun = process.hrtime.bigint();
    command(folder, "init", "census.csv.zst", "-o", `init-${turn}.toml`);
    const init = Number(process.hrtime.bigint() - begun) / 1e9;
    spawnSync("rm", ["-rf", join(folder, ".throng-studio"), join(folder, "throng.toml")]);
    const started = process.hrtime.bigint();
    const own = await studio(folder, "census.csv.zst");
    const page = await open(own);
    // Seen in the frame in which they are there: a locator looks for them every half second only.
    await page.waitForFunction(() => document.querySelector("table.columns"), null, { polling: "raf", timeout: 120_000 });
    const first = Number(process.hrtime.bigint() - started) / 1e9;
    ratios.push(first / init);
    const script = await page.evaluate(() => { globalThis.gc?.(); return performance.memory.usedJSHeapSize / 1e6; });
    const memory = await footprint();
    console.log(`    init ${init.toFixed(2)} s, first screen ${first.toFixed(2)} s (${(first / init).toFixed(2)} ×), ${memory.toFixed(1)} MB of memory, ${script.toFixed(1)} MB of it script`);
    holds(script > 0 && script < memory && memory < 100, `${memory} MB`);
    await until(() => read(folder, "throng.toml").length > 0, "the policy is written");
    await own.end();
    if (Math.min(...ratios) < 3) break;
  }
  holds(Math.min(...ratios) < 3, `${Math.min(...ratios).toFixed(2)} times`);
});
