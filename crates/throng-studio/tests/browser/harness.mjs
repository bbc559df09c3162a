// What the tests in the browser share: a folder and a studio of their own for each test, and a browser for all.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const root = process.env.ROOT ?? resolve(dirname(fileURLToPath(import.meta.url)), "../../../..");
export const throng = process.env.THRONG ?? join(root, "target/debug/throng");
export const pictures = process.env.PICTURES ?? join(root, "target/studio-screenshots");
export const shared = join(root, "../shared/data");
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";

mkdirSync(pictures, { recursive: true });
export const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--enable-precise-memory-info", "--js-flags=--expose-gc"] });

const tests = [];
/** Names a test. */
export function test(name, run) {
  tests.push({ name, run });
}

export function equal(found, wanted, words = "") {
  const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (one !== other) throw new Error(`${words} found ${one}, expected ${other}`);
}

export function holds(condition, words) {
  if (!condition) throw new Error(words);
}

/** Runs a command of throng. */
export function command(folder, ...words) {
  const done = spawnSync(throng, words, { cwd: folder, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`throng ${words.join(" ")}: ${done.stderr}`);
  return done;
}

/** A folder of its own with the bundled sample. */
export function sample() {
  const folder = empty();
  cpSync(join(root, "data/adult-sample.csv"), join(folder, "adult.csv"));
  cpSync(join(root, "data/adult.toml"), join(folder, "throng.toml"));
  cpSync(join(root, "data/hierarchies"), join(folder, "hierarchies"), { recursive: true });
  return folder;
}

export function empty() {
  return mkdtempSync(join(tmpdir(), "throng-studio-"));
}

export const read = (folder, name) => readFileSync(join(folder, name), "utf8");
export const bytes = (folder, name) => readFileSync(join(folder, name));
export const write = (folder, name, text) => writeFileSync(join(folder, name), text);

const running = new Set();

/** Starts a studio. */
export async function studio(folder, ...words) {
  const child = spawn(throng, ["studio", ...words, "--no-open"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  const log = { text: "" };
  const address = await new Promise((found, failed) => {
    child.stdout.on("data", (piece) => {
      log.text += piece;
      const line = /http:\/\/\S+/.exec(log.text);
      if (line) found(line[0]);
    });
    child.stderr.on("data", (piece) => { log.text += piece; });
    child.on("exit", () => failed(new Error(`the studio ended: ${log.text}`)));
  });
  const end = () => new Promise((ended) => { running.delete(child); child.on("exit", ended); child.kill("SIGKILL"); });
  return { address, origin: new URL(address).origin, key: new URL(address).searchParams.get("key"), log, end, folder, pid: child.pid };
}

const contexts = new Set();

/** A page in a browser session of its own. */
export async function open(own, path = "/table", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  contexts.add(context);
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  page.troubles = [];
  page.on("pageerror", (error) => page.troubles.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error") page.troubles.push(message.text()); });
  page.on("dialog", (dialog) => { page.troubles.push(`dialog ${dialog.message()}`); void dialog.dismiss(); });
  await page.goto(own.address);
  await page.waitForURL("**/table");
  if (path !== "/table") await page.goto(own.origin + path);
  return page;
}

/** Waits until the table is read and the columns are there. */
export async function ready(page) {
  await page.locator("table.columns").waitFor();
}

/** Waits until a condition of files or pages holds. */
export async function until(condition, words, milliseconds = 120_000) {
  const end = Date.now() + milliseconds;
  for (;;) {
    if (await condition()) return;
    if (Date.now() > end) throw new Error(`waited in vain: ${words}`);
    await new Promise((wait) => setTimeout(wait, 40));
  }
}

/** Runs all tests whose name holds the first argument. */
export async function run() {
  const only = process.argv[2] ?? "";
  let failed = 0;
  for (const { name, run } of tests.filter((own) => own.name.includes(only))) {
    const begun = Date.now();
    try {
      const skipped = await run();
      console.log(`${skipped ? "SKIPPED" : "ok"}  ${name}${skipped ? `: ${skipped}` : ""}  (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}\n${error.stack ?? error}`);
      const pages = [...contexts].flatMap((context) => context.pages());
      if (pages.length) await pages[pages.length - 1].screenshot({ path: join(pictures, `failed-${failed}.png`) }).catch(() => {});
    }
    for (const context of contexts) await context.close();
    contexts.clear();
    for (const child of running) child.kill("SIGKILL");
    running.clear();
  }
  await browser.close();
  console.log(failed ? `${failed} failed` : "all passed");
  process.exit(failed ? 1 : 0);
}
export { existsSync, join, rmSync };
