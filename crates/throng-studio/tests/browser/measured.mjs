// What must be fast, measured in the browser; figures are printed, and limits are those of the issue tracker.
import { spawnSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { command, empty, existsSync, holds, join, open, ready, read, sample, shared, studio, test, until } from "./harness.mjs";

/** The limit that holds on a machine with nothing else to do; one that is busy gets longer, and that is said. */
function limit(milliseconds) {
  const busy = loadavg()[0] / cpus().length;
  if (busy <= 1.5) return milliseconds;
  console.log(`    the machine is busy (${busy.toFixed(1)} programs for each core): ${milliseconds} ms become ${(milliseconds * busy).toFixed(0)}`);
  return milliseconds * busy;
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
  const times = [];
  for (const role of ["identifier", "quasi", "identifier", "quasi", "identifier"]) times.push(await changed(role));
  const best = Math.min(...times);
  await page.goto(`${own.origin}/privacy`);
  await page.locator("#quick-loss").waitFor();
  const slid = [];
  for (const k of ["17", "40", "80"]) {
    slid.push(await page.evaluate(async (k) => {
      const slider = document.getElementById("k-slider");
      const begun = performance.now();
      slider.value = k;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      for (;;) {
        await new Promise((wait) => setTimeout(wait, 4));
        if (document.getElementById("k-loss")?.textContent?.includes(`k = ${k} loses`)) return performance.now() - begun;
        if (performance.now() - begun > 20_000) throw new Error("no loss is shown");
      }
    }, k));
  }
  console.log(`    role → risk: ${times.map((time) => time.toFixed(0)).join(", ")} ms; k → loss: ${slid.map((time) => time.toFixed(0)).join(", ")} ms`);
  holds(best < limit(300), `a role took ${best.toFixed(0)} ms at best`);
  holds(Math.min(...slid) < limit(1000), `a k took ${Math.min(...slid).toFixed(0)} ms at best`);
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
    await page.locator("table.columns").waitFor({ timeout: 120_000 });
    const first = Number(process.hrtime.bigint() - started) / 1e9;
    ratios.push(first / init);
    const memory = await page.evaluate(() => { globalThis.gc?.(); return performance.memory.usedJSHeapSize / 1e6; });
    console.log(`    init ${init.toFixed(2)} s, first screen ${first.toFixed(2)} s (${(first / init).toFixed(2)} ×), ${memory.toFixed(1)} MB of script memory`);
    holds(memory < 100, `${memory} MB`);
    await until(() => read(folder, "throng.toml").length > 0, "the policy is written");
    await own.end();
    if (Math.min(...ratios) < 3) break;
  }
  holds(Math.min(...ratios) < 3, `${Math.min(...ratios).toFixed(2)} times`);
});
