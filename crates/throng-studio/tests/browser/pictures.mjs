// Pictures of all screens for docs/studio.md: `node pictures.mjs FOLDER`. Needs the data sets beside the repository.
import { cpSync, mkdirSync } from "node:fs";
import { browser, command, empty, join, open, read, ready, root, sample, shared, studio, until, write } from "./harness.mjs";

const folder = process.argv[2] ?? join(root, "docs/images");
mkdirSync(folder, { recursive: true });

/** Column of a name. */
async function column(page, name) {
  const names = await page.locator("table.columns tbody th").allTextContents();
  return names.findIndex((own) => own.trim() === name);
}

async function pictures(label, own, { tree, rule, ks, methods }) {
  const first = await open(own);
  await ready(first);
  await first.locator("#unique-share").waitFor({ timeout: 240_000 });
  const [treeAt, ruleAt] = [await column(first, tree), await column(first, rule)];
  await first.goto(`${own.origin}/privacy`);
  for (const box of await first.locator("[id^=method-]").all()) {
    const name = await box.getAttribute("value");
    await box.setChecked(methods.includes(name));
  }
  await first.locator("#ks").fill(ks.join(", "));
  await first.locator("#compare").click();
  await until(async () => await first.locator("#frontier-chart .point").count() >= ks.length * methods.length, "the frontier", 900_000);
  await first.goto(`${own.origin}/result`);
  await first.locator("#make").click();
  await first.locator("#rows table").waitFor({ timeout: 900_000 });
  for (const scheme of ["light", "dark"]) {
    const page = await open(own, "/table", { colorScheme: scheme, viewport: { width: 1360, height: 850 } });
    for (const [screen, path] of [["table", "/table"], ["hierarchies", `/hierarchies?column=${treeAt}`], ["rules", `/rules?column=${ruleAt}`], ["privacy", "/privacy"], ["result", "/result"], ["publish", "/publish"]]) {
      await page.goto(own.origin + path);
      await page.locator("main h1").waitFor();
      if (screen === "table") await page.locator("#unique-share").waitFor({ timeout: 240_000 });
      if (screen === "privacy") {
        await page.locator("#quick-loss").waitFor({ timeout: 60_000 });
        await page.locator("#frontier").evaluate((own) => own.scrollIntoView());
      }
      if (screen === "result") await page.locator("#rows").evaluate((own) => own.scrollIntoView());
      await page.waitForTimeout(300);
      await page.screenshot({ path: join(folder, `studio-${label}-${screen}-${scheme}.png`) });
    }
  }
  await own.end();
}

const adult = sample();
await pictures("adult", await studio(adult, "adult.csv"), { tree: "workclass", rule: "age", ks: [2, 5, 10, 25, 50, 100], methods: ["mondrian", "hilbert"] });

const census = empty();
cpSync(join(shared, "census-income-kdd.train.csv.zst"), join(census, "census.csv.zst"));
// What others may know of a person; all else is left out, so that something remains to be seen.
const roles = { age: "quasi", "class-of-worker": "quasi", education: "quasi", "marital-stat": "quasi", race: "quasi", sex: "quasi", citizenship: "quasi", "income-class": "class" };
command(census, "init", "census.csv.zst");
const names = [...read(census, "throng.toml").matchAll(/^\[attribute\.(.+)\]$/gm)].map((found) => found[1]);
const sections = names.map((name) => `[attribute.${name}]\nrole = "${roles[name] ?? "identifier"}"\n`).join("\n");
write(census, "throng.toml", `# What others may know of a person is generalized; all else is left out.\n[data]\nmissing = ["", "?"]\n\n[privacy]\nk = 25\n\n[method]\nname = "mondrian"\nseed = 1\n\n${sections}`);
await pictures("census", await studio(census, "census.csv.zst"), { tree: "education", rule: "age", ks: [5, 25, 100], methods: ["mondrian"] });
await browser.close();
