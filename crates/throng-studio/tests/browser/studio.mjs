// The studio in a browser: the whole way, every screen's edits against the policy file, and what must be refused.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { request } from "node:http";
import { bytes, command, empty, equal, existsSync, holds, join, open, pictures, read, ready, run, sample, studio, test, until, write } from "./harness.mjs";
import "./measured.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SCREENS = ["table", "hierarchies", "rules", "privacy", "result", "publish"];

const PEOPLE = ["name,age,city,illness", ...Array.from({ length: 60 }, (_, at) =>
  `P${at},${20 + (at * 7) % 50},${["Rome", "Oslo", "Lima"][at % 3]},${["flu", "cold", "gout"][(at * 5) % 3]}`)].join("\n") + "\n";

async function ticked(page) {
  for (const box of await page.locator(".checks input").all()) {
    if (await box.isChecked()) continue;
    const id = await box.getAttribute("id");
    await Promise.all([page.waitForResponse("**/act"), box.check()]);
    await page.locator(`#${id}:checked`).waitFor();
  }
}

async function make(page) {
  await page.locator("#make").click();
  await page.locator("#rows table").waitFor({ timeout: 90_000 });
}

test("the whole way leads from a dropped file to a release that the command repeats byte for byte", async () => {
  const folder = empty();
  const own = await studio(folder);
  const page = await open(own);
  await page.locator("#dropped").setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(PEOPLE) });
  await ready(page);
  equal(read(folder, "people.csv"), PEOPLE, "the file is taken as it is");
  holds(existsSync(join(folder, "throng.toml")), "a first policy is written");
  await page.locator("#unique-share").waitFor();
  await page.locator("#role-3").selectOption("sensitive");
  await until(() => /\[attribute\.illness\][^[]*role = "sensitive"/s.test(read(folder, "throng.toml")), "the role is saved");
  await page.goto(`${own.origin}/privacy`);
  await page.locator("#k").fill("4");
  await page.locator("#k").press("Enter");
  await until(() => read(folder, "throng.toml").includes("\nk = 4\n"), "k is saved");
  for (const name of ["auto", "peel"]) if (await page.locator(`#method-${name}`).count()) await page.locator(`#method-${name}`).uncheck();
  await page.locator("#ks").fill("2, 4, 8");
  await page.locator("#compare").click();
  await until(async () => await page.locator("#frontier-chart .point").count() === 6, "the frontier is complete");
  holds(await page.locator("#frontier-chart .unreachable").count() === 1, "what cannot be reached is shaded");
  await page.locator('#frontier-chart .point[data-name="mondrian"][data-place="4"]').click();
  await until(() => read(folder, "throng.toml").includes('name = "mondrian"'), "a point that is clicked is chosen");
  await page.goto(`${own.origin}/result`);
  await make(page);
  holds(/seed = \d+/.test(read(folder, "throng.toml")), "the seed of what was looked at is written");
  holds(await page.locator("#rows del").count() > 0, "changes of cells are visible");
  await page.goto(`${own.origin}/publish`);
  await page.locator("#repeatable").check();
  await until(() => existsSync(join(folder, "studio.secret")), "the secret is kept");
  await page.locator("#command", { hasText: "--secret studio.secret" }).waitFor();
  await page.goto(`${own.origin}/result`);
  await Promise.all([page.waitForResponse("**/act"), page.locator("#make").click()]);
  await page.locator('[data-work="result"]').waitFor({ state: "detached" });
  await page.goto(`${own.origin}/publish`);
  holds(await page.locator("#publish-now").isDisabled(), "nothing is published before the list is confirmed");
  await ticked(page);
  await page.locator("#publish-now").click();
  await page.locator("#published-words").waitFor();
  const words = (await page.locator("#command").textContent()).replace("release.csv", "again.csv").replace("report.html", "again.html").split(" ").slice(1);
  command(folder, ...words);
  holds(bytes(folder, "release.csv").equals(bytes(folder, "again.csv")), "the release is that of the command, byte for byte");
  command(folder, "audit", "people.csv", "release.csv", "--policy", "throng.toml");
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("a", { hasText: "release.csv" }).click()]);
  holds(readFileSync(await download.path()).equals(bytes(folder, "release.csv")), "it can be downloaded");
  await page.reload();
  await page.locator("#published-words").waitFor();
  equal(page.troubles, []);
  equal(own.log.text.includes("P1") || own.log.text.includes("Rome"), false, "nothing of the table is logged");
});

test("each edit of a screen is in the policy, and each edit of the policy on the screen", async () => {
  const folder = sample();
  const own = await studio(folder, "adult.csv");
  const page = await open(own);
  await ready(page);
  const before = read(folder, "throng.toml");
  const at = await page.locator("table.columns tbody th").allTextContents();
  const age = at.findIndex((name) => name.trim() === "age");
  await page.locator(`#weight-${age}`).fill("2.5");
  await page.locator(`#weight-${age}`).press("Tab");
  await until(() => read(folder, "throng.toml").includes("weight = 2.5"), "the weight is saved");
  holds(read(folder, "throng.toml").includes("# Every combination of published quasi-identifiers"), "comments stay");
  await page.locator("#undo").click();
  await until(() => read(folder, "throng.toml") === before, "undone");
  await page.locator("#redo").click();
  await until(() => read(folder, "throng.toml").includes("weight = 2.5"), "done again");
  for (const role of ["identifier", "quasi"]) {
    const answer = page.waitForResponse("**/act");
    await page.locator(`#role-${age}`).selectOption(role);
    await answer;
    await until(() => read(folder, "throng.toml").includes("weight = 2.5") === (role === "quasi"), `${role}: a weight is put aside and comes back`);
  }
  await page.locator("#policy-text").fill(before.replace('[attribute.age]\nrole = "quasi"', '[attribute.age]\nrole = "identifier"'));
  await until(async () => await page.locator(`#role-${age}`).inputValue() === "identifier", "the screen follows the text");
  await page.locator("#policy-text").fill(before.replace("k = 10", "k = 0"));
  await page.locator("#pane .notice.bad", { hasText: "line 5" }).waitFor();
  equal(await page.locator(".gutter .wrong").textContent(), "5");
  holds(!read(folder, "throng.toml").includes("k = 0"), "what is not valid is not saved");
  await page.reload();
  await page.locator("#discard").waitFor();
  equal(await page.locator("#policy-text").inputValue(), before.replace("k = 10", "k = 0"), "a draft survives a reload");
  await page.locator("#discard").click();
  await page.locator("#discard").waitFor({ state: "detached" });
  write(folder, "throng.toml", before.replace("k = 10", "k = 11"));
  await page.goto(`${own.origin}/privacy`);
  equal(await page.locator("#k").inputValue(), "11", "changes by an editor are seen");
  await page.locator("#key-suppress").fill("0.02");
  await page.locator("#key-suppress").press("Tab");
  await until(() => read(folder, "throng.toml").includes("suppress = 0.02"), "suppression is saved");
  await page.locator("#key-suppress").fill("7");
  await page.locator("#key-suppress").press("Tab");
  await page.locator("#trouble").waitFor();
  holds(read(folder, "throng.toml").includes("suppress = 0.02"), "a value that cannot be is refused with a reason");
  await page.locator("#method").selectOption("hilbert");
  await until(() => read(folder, "throng.toml").includes('name = "hilbert"'), "the method is saved");
  equal(page.troubles, []);
});

test("trees are grouped, renamed, moved, undone, built, imported and exported", async () => {
  const folder = sample();
  const own = await studio(folder, "adult.csv");
  const page = await open(own);
  await ready(page);
  const names = await page.locator("table.columns tbody th").allTextContents();
  const column = names.findIndex((name) => name.trim() === "race");
  await page.goto(`${own.origin}/hierarchies?column=${column}`);
  const file = () => read(folder, "hierarchies/race.csv");
  const before = file();
  const box = (label) => page.locator("#tree li", { has: page.locator(".label", { hasText: new RegExp(`^${label}$`) }) }).locator("input");
  await box("White").check();
  await box("Other").check();
  await page.locator("#label").fill("Majority <b>; all");
  await page.locator("#group").click();
  await page.locator("#tree .label", { hasText: "Majority <b>; all" }).waitFor();
  holds(file().includes('"Majority <b>; all"'), "the group is in the file");
  await page.getByRole("button", { name: "Rename Majority <b>; all" }).click();
  await page.locator("#tree .label input").fill("Majority");
  await page.locator("#tree .label input").press("Enter");
  await until(() => file().includes(";Majority;") && !file().includes("<b>"), "renamed");
  const group = page.locator("#tree li.group", { hasText: "Majority" });
  await page.locator("#tree li", { has: page.locator(".label", { hasText: /^Black$/ }) }).dragTo(group);
  await until(() => /Black;Majority/.test(file()), "dragged into the group");
  for (let step = 0; step < 3; step += 1) {
    const answer = page.waitForResponse("**/act");
    await page.locator("#undo").click();
    await answer;
    await page.waitForTimeout(60);
  }
  await until(() => file() === before, "all of it undone");
  const age = names.findIndex((name) => name.trim() === "age");
  await page.goto(`${own.origin}/hierarchies?column=${age}`);
  await page.locator("#widths").fill("10, 20");
  await page.locator("#preview-intervals").click();
  await page.locator("#tree .label", { hasText: "[20-29]" }).waitFor();
  holds(!read(folder, "throng.toml").includes("intervals"), "a preview changes nothing");
  await page.locator("#apply").click();
  await until(() => read(folder, "throng.toml").includes("hierarchy = { intervals = [10, 20] }"), "the builder is in the policy");
  await page.locator("#widths").fill("10, 15");
  await page.locator("#preview-intervals").click();
  await page.locator("main .notice.bad", { hasText: "multiple" }).waitFor();
  await page.goto(`${own.origin}/hierarchies?column=${column}`);
  const csv = "White;W;*\nBlack;B;*\nOther;W;*\n";
  await page.locator("#import").setInputFiles({ name: "race.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
  await page.locator("main .notice.bad", { hasText: "not covered" }).waitFor();
  holds(file().includes("White;W;*"), "the import is in the file");
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#export").click()]);
  holds(readFileSync(await download.path(), "utf8").startsWith("White;W;*"), "exported");
  equal(page.troubles, []);
});

test("rules are added on the histogram and between categories", async () => {
  const folder = sample();
  const own = await studio(folder, "adult.csv");
  const page = await open(own);
  await ready(page);
  const names = await page.locator("table.columns tbody th").allTextContents();
  await page.goto(`${own.origin}/rules?column=${names.findIndex((name) => name.trim() === "age")}`);
  await page.locator("#histogram rect").nth(10).click({ position: { x: 1, y: 2 } });
  holds(await page.locator("#low").inputValue() !== "", "a click takes the ends of two columns");
  await page.locator("#low").fill("64");
  await page.locator("#high").fill("65");
  await page.locator("#importance").fill("25");
  await page.locator("#add-rule").click();
  await until(() => read(folder, "throng.toml").includes("rules = [{ cut = [64, 65], importance = 25 }]"), "the cut is saved");
  await page.goto(`${own.origin}/rules?column=${names.findIndex((name) => name.trim() === "race")}`);
  await page.locator("#one").selectOption({ label: "White" });
  await page.locator("#other").selectOption({ label: "Black" });
  await page.locator("#hard").check();
  await page.locator("#add-rule").click();
  await until(() => read(folder, "throng.toml").includes('apart = ["White", "Black"], importance = 1, hard = true'), "the pair is saved");
  await page.locator("#remove-rule-0").click();
  await until(() => !read(folder, "throng.toml").includes("apart"), "removed");
  equal(page.troubles, []);
});

test("a long run can be stopped, and nothing else waits for it", async () => {
  const folder = sample();
  const rows = read(folder, "adult.csv").trimEnd().split("\n");
  write(folder, "large.csv", [rows[0], ...Array.from({ length: 12 }, () => rows.slice(1)).flat()].join("\n") + "\n");
  const own = await studio(folder, "large.csv");
  const page = await open(own, "/privacy");
  await page.locator("#ks").fill("2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15");
  await page.locator("#compare").click();
  await page.locator("#stop-frontier").waitFor();
  const begun = Date.now();
  await page.goto(`${own.origin}/publish`);
  await page.locator("#order").waitFor();
  holds(Date.now() - begun < 3000, "another screen opens while it runs");
  await page.goto(`${own.origin}/privacy`);
  await page.locator("#stop-frontier").click();
  await page.locator("#frontier", { hasText: "Stopped" }).waitFor({ timeout: 60_000 });
  equal(page.troubles, []);
});

test("two browsers see each other's changes, and neither overwrites what it has not seen", async () => {
  const folder = sample();
  const own = await studio(folder, "adult.csv");
  const [one, other] = [await open(own, "/privacy"), await open(own, "/privacy")];
  await one.locator("#k").fill("7");
  await one.locator("#k").press("Enter");
  await until(async () => await other.locator("#k").inputValue() === "7", "the other page follows");
  const token = await other.evaluate(() => document.body.dataset.token);
  const stale = await other.evaluate(async (token) => {
    const answer = await fetch("/act", { method: "POST", headers: { "content-type": "application/json", "x-throng-token": token }, body: JSON.stringify({ revision: 1, screen: "privacy", at: {}, act: { do: "privacy", key: "k", value: "3" } }) });
    return (await answer.json()).error.message;
  }, token);
  holds(stale.includes("changed elsewhere"), stale);
  holds(read(folder, "throng.toml").includes("k = 7"), "nothing was overwritten");
});

test("a studio that is killed and started again has lost nothing", async () => {
  const folder = sample();
  const first = await studio(folder, "adult.csv");
  const page = await open(first, "/privacy");
  await page.locator("#method").selectOption("mondrian");
  await until(() => read(folder, "throng.toml").includes('name = "mondrian"'), "saved");
  await page.locator("#method-hilbert").uncheck();
  for (const name of ["auto", "peel"]) if (await page.locator(`#method-${name}`).count()) await page.locator(`#method-${name}`).uncheck();
  await page.locator("#ks").fill("5, 10");
  await page.locator("#compare").click();
  await until(async () => await page.locator("#frontier-chart .point").count() === 2, "two points");
  await page.locator('[data-work="frontier"]').waitFor({ state: "detached" });
  await page.goto(`${first.origin}/result`);
  await make(page);
  const shown = await page.locator("#rows tbody").innerText();
  await page.locator("#task-queries").click();
  await page.locator("h2", { hasText: /^queries$/ }).waitFor();
  const port = new URL(first.origin).port;
  await first.end();
  await page.locator("#offline").waitFor();
  const second = await studio(folder, "--port", port);
  await page.locator("#make").click();
  await page.locator("#trouble", { hasText: "started again" }).waitFor();
  const again = await open(second, "/privacy");
  await until(async () => await again.locator("#frontier-chart .point").count() === 2, "the frontier is still there");
  await again.goto(`${second.origin}/result`);
  await again.locator("#report .banner").waitFor();
  await again.locator("#rows table").waitFor();
  equal(await again.locator("#rows tbody").innerText(), shown, "the rows are still there");
  await again.locator("h2", { hasText: /^queries$/ }).waitFor();
  await again.goto(`${second.origin}/publish`);
  await again.locator("#not-yet", { hasText: "make it again" }).waitFor();
  await again.goto(`${second.origin}/result`);
  await make(again);
  await again.goto(`${second.origin}/table`);
  await ready(again);
  holds(!(await again.locator("#undo").isDisabled()), "changes can still be undone");
});

test("hostile values are shown and never run", async () => {
  const folder = empty();
  const evil = ["<script>alert(1)</script>", "\"'><img src=x onerror=alert(2)>", "{{ 7*7 }}", "\u202egnp.exe", "x".repeat(10_000)];
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const names = [evil[0], evil[1], evil[2], `a${evil[3]}`, "plain"];
  const rows = Array.from({ length: 80 }, (_, at) => names.map((_, column) => quoted(column === 4 ? String(at % 9) : evil[(at + column) % 5])).join(","));
  const file = "it's <b> & \"x\".csv";
  write(folder, file, [names.map(quoted).join(","), ...rows].join("\n") + "\n");
  const own = await studio(folder, file);
  const page = await open(own);
  await ready(page);
  for (const at of [0, 1, 2, 3, 4]) {
    const answer = page.waitForResponse("**/act");
    await page.locator(`#role-${at}`).selectOption(at === 3 ? "class" : "quasi");
    await answer;
  }
  await until(() => (read(folder, "throng.toml").match(/role = "quasi"/g) ?? []).length === 4, "roles of columns with hostile names");
  await page.locator("#risk .headline").waitFor();
  for (const screen of SCREENS) {
    await page.goto(`${own.origin}/${screen}`);
    await page.locator("main h1").waitFor();
    equal(await page.locator("main script, main img, main b").count(), 0, `${screen} holds no elements of the table`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    holds(wide <= 0, `${screen} is ${wide} px wider than its window`);
  }
  await page.goto(`${own.origin}/hierarchies?column=0`);
  await page.locator("#node-0").check();
  await page.locator("#label").fill(`of ${evil[1]}`);
  await page.locator("#group").click();
  await page.locator("#tree li.group").waitFor();
  await page.goto(`${own.origin}/result`);
  await make(page);
  equal(await page.locator("main script, main img").count(), 0);
  const report = await page.request.get(`${own.origin}/report?result=1`);
  holds(report.headers()["content-security-policy"].includes("sandbox"), "the report runs nothing");
  equal(page.troubles, []);
});

test("requests from elsewhere are refused", async () => {
  const folder = sample();
  write(folder, "../outside.csv", "a\n1\n");
  const own = await studio(folder, "adult.csv");
  const page = await open(own);
  await ready(page);
  const [cookie] = await page.context().cookies();
  holds(cookie.httpOnly && cookie.sameSite === "Strict", "the cookie is for this site alone");
  const token = await page.evaluate(() => document.body.dataset.token);
  const url = new URL(own.origin);
  const ask = (method, path, headers, body) => new Promise((found, failed) => {
    const sent = request({ host: "127.0.0.1", port: url.port, method, path, headers: { host: url.host, ...headers } }, (answer) => {
      let text = "";
      answer.on("data", (piece) => { text += piece; });
      answer.on("end", () => found({ status: answer.statusCode, text, headers: answer.headers }));
    });
    sent.on("error", failed);
    sent.end(body);
  });
  const good = { cookie: `${cookie.name}=${cookie.value}` };
  const full = { ...good, origin: own.origin, "x-throng-token": token };
  const act = JSON.stringify({ revision: 1, screen: "table", at: {}, act: { do: "undo" } });
  equal((await ask("GET", "/table", good)).status, 200);
  equal((await ask("POST", "/act", full, act)).status, 200);
  for (const [words, method, path, headers] of [
    ["a foreign host", "GET", "/table", { ...good, host: "evil.example" }],
    ["a foreign host with our port", "GET", "/table", { ...good, host: `evil.example:${url.port}` }],
    ["no cookie", "GET", "/table", {}],
    ["a foreign cookie", "GET", "/table", { cookie: `${cookie.name}=00` }],
    ["a wrong key", "GET", "/?key=00", {}],
    ["another site", "GET", "/table", { ...good, "sec-fetch-site": "cross-site" }],
    ["a foreign origin", "POST", "/act", { ...full, origin: "https://evil.example" }],
    ["no origin", "POST", "/act", { ...good, "x-throng-token": token }],
    ["no token", "POST", "/act", { ...good, origin: own.origin }],
    ["an upload without a token", "PUT", "/upload?name=x.csv", { ...good, origin: own.origin }],
  ]) {
    const answer = await ask(method, path, headers, method === "GET" ? undefined : act);
    holds([401, 403, 421].includes(answer.status), `${words}: ${answer.status}`);
    holds(!answer.text.includes("Adm-clerical"), `${words} tells nothing`);
  }
  for (const file of ["../outside.csv", "/etc/passwd", "..%2foutside.csv", ".throng-studio/state.json"]) {
    const answer = await ask("GET", `/download?file=${encodeURIComponent(file)}`, good);
    equal(answer.status, 422, file);
    const opened = await ask("POST", "/act", full, JSON.stringify({ revision: 99, screen: "table", at: {}, act: { do: "open", file } }));
    holds(JSON.parse(opened.text).error, `${file} cannot be opened`);
  }
  for (const name of ["../x.csv", "a/b.csv", ".x.csv", "x.exe", ""]) {
    equal((await ask("PUT", `/upload?name=${encodeURIComponent(name)}`, full, "a\n1\n")).status, 422, name);
  }
  const answer = await ask("GET", "/table", good);
  const policy = answer.headers["content-security-policy"];
  holds(policy.includes("script-src 'self'") && !policy.includes("unsafe"), policy);
  holds(!/<script(?![^>]*src=)/.test(answer.text) && !/ style=| on\w+=/.test(answer.text), "nothing stands inline");
  equal(answer.headers["x-content-type-options"], "nosniff");
});

test("the keyboard alone walks the main way", async () => {
  const folder = sample();
  const own = await studio(folder, "adult.csv");
  const page = await open(own);
  await ready(page);
  const reach = async (id) => {
    for (let step = 0; step < 400; step += 1) {
      if (await page.evaluate((id) => document.activeElement?.id === id, id)) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`Tab never reaches ${id}`);
  };
  // From screen to screen by the links at the top, as somebody without a mouse goes.
  const walk = async (screen) => {
    for (let step = 0; step < 400; step += 1) {
      if (await page.evaluate((path) => document.activeElement?.closest("nav") !== null && document.activeElement?.getAttribute("href") === path, `/${screen}`)) {
        await page.keyboard.press("Enter");
        await page.waitForURL(`**/${screen}`);
        await page.locator("main h1").waitFor();
        return;
      }
      await page.keyboard.press("Shift+Tab");
    }
    throw new Error(`Shift+Tab never reaches the link to ${screen}`);
  };
  const names = await page.locator("table.columns tbody th").allTextContents();
  const race = names.findIndex((name) => name.trim() === "race");
  await reach(`role-${race}`);
  await page.keyboard.type("ident");
  await until(() => /\[attribute\.race\][^[]*role = "identifier"/s.test(read(folder, "throng.toml")), "a role by keys");
  holds(!read(folder, "throng.toml").includes("race.csv"), "what the role does not allow is put aside");
  equal(await page.evaluate(() => document.activeElement?.id), `role-${race}`, "the focus stays");
  await walk("privacy");
  await reach("k");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("6");
  await page.keyboard.press("Enter");
  await until(() => read(folder, "throng.toml").includes("k = 6"), "k by keys");
  await walk("result");
  await reach("make");
  await page.keyboard.press("Enter");
  await page.locator("#rows table").waitFor({ timeout: 90_000 });
  await walk("publish");
  const boxes = await page.locator(".checks input").evaluateAll((all) => all.map((own) => own.id));
  for (const id of boxes) {
    await reach(id);
    const answer = page.waitForResponse("**/act");
    await page.keyboard.press("Space");
    await answer;
    await page.locator(`#${id}:checked`).waitFor();
  }
  await reach("publish-now");
  await page.keyboard.press("Enter");
  await page.locator("#published-words").waitFor({ timeout: 90_000 });
  holds(existsSync(join(folder, "release.csv")), "published");
  equal(page.troubles, []);
});

test("axe finds nothing on any screen, light or dark, and nothing is wider than a phone", async () => {
  const folder = sample();
  write(folder, "throng.toml", read(folder, "throng.toml").replace('name = "auto"', 'name = "mondrian"\nseed = 1'));
  const own = await studio(folder, "adult.csv");
  for (const [scheme, width] of [["light", 1920], ["dark", 360]]) {
    const page = await open(own, "/table", { colorScheme: scheme, viewport: { width, height: 900 } });
    await ready(page);
    await page.locator("#unique-share").waitFor();
    if (scheme === "light") {
      await page.goto(`${own.origin}/privacy`);
      for (const name of ["auto", "peel"]) if (await page.locator(`#method-${name}`).count()) await page.locator(`#method-${name}`).uncheck();
      await page.locator("#ks").fill("5, 10, 25");
      await page.locator("#compare").click();
      await until(async () => await page.locator("#frontier-chart .point").count() === 6, "the frontier");
      await page.goto(`${own.origin}/result`);
      await make(page);
      await page.locator("#task-queries").click();
      await page.locator("h2", { hasText: /^queries$/ }).waitFor();
    }
    for (const screen of SCREENS) {
      await page.goto(`${own.origin}/${screen}`);
      await page.locator("main h1").waitFor();
      if (screen === "table") await page.locator("#unique-share").waitFor();
      if (screen === "privacy") await page.locator("#before .big").waitFor();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      holds(wide <= 0, `${screen} at ${width} px is ${wide} px too wide`);
      // The page runs no script but its own, so the checker comes by the debugger.
      await page.evaluate(axe);
      const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
      const told = found.violations.map((own) => `${own.id}: ${own.nodes.slice(0, 3).map((node) => node.target.join(" ")).join(", ")}`);
      equal(told, [], `${screen}, ${scheme}:`);
      await page.screenshot({ path: join(pictures, `${screen}-${scheme}-${width}.png`) });
    }
  }
});

await run();
