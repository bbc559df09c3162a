// What a page and the server say to each other.
// Nothing is computed here: what was clicked is sent, and what comes back is put in its place.

/** @typedef {{ message: string, hint?: string | null, line?: number | null, file?: string | null, attribute?: string | null }} Trouble */
/** @typedef {{ main: string, pane: string, revision: number, table: string | null, says: string, error?: Trouble }} Parts */
/** @typedef {{ kind: string, state: string, stage: string, note: string, done: number, total: number | null }} Told */

/** @param {string} id @returns {HTMLElement} */
export function the(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found;
}

const body = document.body;
let revision = Number(body.dataset.revision);
let asked = 0;
/** @type {(() => void)[]} */
const listeners = [];

/** Calls back after parts of the page were replaced. @param {() => void} listener */
export function afterSwap(listener) {
  listeners.push(listener);
  listener();
}

/** Where on the screen one is. @returns {Record<string, string>} */
export function at() {
  return Object.fromEntries(new URLSearchParams(location.search));
}

/** Whether somebody types something that was not sent yet. */
function typing() {
  const own = document.activeElement;
  return own instanceof HTMLInputElement && own.type !== "checkbox" && own.type !== "range" && own.value !== own.defaultValue;
}

/** Puts parts in their place; the focus stays where it was. @param {Parts} parts */
function swap(parts) {
  const focused = document.activeElement?.id ?? "";
  const scrolled = [window.scrollX, window.scrollY];
  const draft = document.getElementById("policy-text");
  const unsent = draft instanceof HTMLTextAreaElement && draft.value !== draft.defaultValue && draft.dataset.sent !== draft.value;
  const dirty = unsaved();
  const opened = [...document.querySelectorAll("main details")].map((details) => details instanceof HTMLDetailsElement && details.open);
  the("main").innerHTML = parts.main;
  const now = document.querySelectorAll("main details");
  if (now.length === opened.length) now.forEach((details, at) => { if (details instanceof HTMLDetailsElement) details.open = opened[at]; });
  dirty.forEach(restore);
  if (!unsent) swapPane(parts.pane);
  revision = parts.revision;
  body.dataset.revision = String(revision);
  the("table-name").textContent = parts.table ?? "no table";
  listeners.forEach((listener) => listener());
  if (focused && document.activeElement?.id !== focused) (document.getElementById(focused) ?? the("main")).focus({ preventScroll: true });
  window.scrollTo(scrolled[0], scrolled[1]);
  // What is shown as running may have ended before it was shown.
  const ended = [...document.querySelectorAll("[data-work]")].some((own) => own instanceof HTMLElement && (stood.get(own.dataset.work ?? "") ?? "running") !== "running");
  if (ended) refreshSoon(200);
}

/** @typedef {{ id: string, value: string, saved: string, checked: boolean, box: boolean }} Dirty */

/** What was typed or ticked on the screen and not sent yet. @returns {Dirty[]} */
function unsaved() {
  const all = [...document.querySelectorAll("main input[id]")].filter((own) => own instanceof HTMLInputElement);
  const boxes = all.filter((own) => own.type === "checkbox" && !own.dataset.do && own.checked !== own.defaultChecked);
  const texts = all.filter((own) => ["text", "search"].includes(own.type) && own.value !== own.defaultValue && own.dataset.sent !== own.value);
  return [...boxes, ...texts].map((own) => ({ id: own.id, value: own.value, saved: own.defaultValue, checked: own.checked, box: own.type === "checkbox" }));
}

/** Puts back what was typed, unless something else was saved meanwhile. @param {Dirty} dirty */
function restore(dirty) {
  const own = document.getElementById(dirty.id);
  if (!(own instanceof HTMLInputElement)) return;
  if (dirty.box) own.checked = dirty.checked;
  else if (!own.dataset.do || own.defaultValue === dirty.saved) own.value = dirty.value;
}

/** Replaces the policy; cursor and scrolling stay. @param {string} markup */
function swapPane(markup) {
  const before = document.getElementById("policy-text");
  const kept = before instanceof HTMLTextAreaElement ? { top: before.scrollTop, left: before.scrollLeft, from: before.selectionStart, to: before.selectionEnd } : null;
  the("pane").innerHTML = markup;
  const after = document.getElementById("policy-text");
  if (kept && after instanceof HTMLTextAreaElement) {
    after.setSelectionRange(kept.from, kept.to);
    after.scrollTop = kept.top;
    after.scrollLeft = kept.left;
  }
}

/** Says what went wrong and what to do. @param {Trouble | null} trouble */
export function complain(trouble) {
  const place = the("trouble");
  place.replaceChildren();
  place.hidden = !trouble;
  if (!trouble) return;
  const words = document.createElement("p");
  const strong = document.createElement("strong");
  strong.textContent = trouble.message;
  words.append(strong);
  const where = [trouble.file, trouble.line ? `line ${trouble.line}` : null, trouble.attribute ? `column ${trouble.attribute}` : null].filter(Boolean);
  if (where.length) words.append(` (${where.join(", ")})`);
  place.append(words);
  if (trouble.hint) {
    const hint = document.createElement("p");
    hint.textContent = trouble.hint;
    place.append(hint);
  }
}

/** @param {Response} answer @returns {Promise<void>} */
async function take(answer) {
  const type = answer.headers.get("content-type") ?? "";
  if (!type.includes("json")) {
    complain({ message: "The studio was started again since this page was opened.", hint: "Open the address that it printed when it was started." });
    return;
  }
  /** @type {Parts & { error?: Trouble }} */
  const parts = await answer.json();
  if (parts.main !== undefined) swap(parts);
  complain(parts.error ?? null);
  the("says").textContent = parts.says ?? "";
}

/** What was sent last: one act waits for the answer to the one before, so that each is done on what was seen. */
let line = Promise.resolve();

/** Sends what was clicked. @param {Record<string, unknown>} act @returns {Promise<void>} */
export function send(act) {
  line = line.then(() => post(act));
  return line;
}

/** @param {Record<string, unknown>} act */
async function post(act) {
  const own = ++asked;
  body.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch("/act", {
      method: "POST",
      headers: { "content-type": "application/json", "x-throng-token": body.dataset.token ?? "" },
      body: JSON.stringify({ revision, screen: body.dataset.screen, at: at(), act }),
    });
    if (own === asked || !answer.ok) await take(answer);
    else await refresh();
    the("offline").hidden = true;
  } catch {
    the("offline").hidden = false;
  } finally {
    if (own === asked) body.removeAttribute("aria-busy");
  }
}

/** Shows how things stand. */
export async function refresh() {
  const own = ++asked;
  const answer = await fetch(`/main/${body.dataset.screen}${location.search}`);
  const type = answer.headers.get("content-type") ?? "";
  if (own !== asked) return;
  if (!type.includes("json")) return take(answer);
  /** @type {Parts} */
  const parts = await answer.json();
  if (own === asked) swap(parts);
}

/** Goes to another place of the screen without leaving the page. @param {string} address */
export async function go(address) {
  history.pushState(null, "", address);
  await refresh();
}

/** Sends a file that was dropped. @param {File} file */
export async function upload(file) {
  const bar = document.getElementById("upload");
  if (bar) bar.hidden = false;
  try {
    await take(await fetch(`/upload?name=${encodeURIComponent(file.name)}`, {
      method: "PUT",
      headers: { "x-throng-token": body.dataset.token ?? "" },
      body: file,
    }));
  } catch {
    complain({ message: "The file could not be taken.", hint: "Copy it into the folder and open it there." });
  } finally {
    if (bar) bar.hidden = true;
  }
}

/** How each work stood last. @type {Map<string, string>} */
const stood = new Map();
let waiting = 0;
let seenAll = false;

/** Refreshes soon, but not while somebody types. @param {number} after */
function refreshSoon(after) {
  if (waiting) return;
  waiting = window.setTimeout(async () => {
    waiting = 0;
    if (typing()) return refreshSoon(500);
    await refresh().catch(() => { the("offline").hidden = false; });
  }, after);
}

/** @param {Told} told */
function tell(told) {
  const place = document.querySelector(`[data-work="${told.kind}"]`);
  const bar = place?.querySelector("progress");
  if (bar) {
    if (told.total) { bar.max = told.total; bar.value = Math.min(told.done, told.total); } else bar.removeAttribute("value");
  }
  const stage = place?.querySelector(".stage");
  if (stage) stage.textContent = told.note ? `${told.stage}: ${told.note}` : told.stage;
  const before = stood.get(told.kind);
  stood.set(told.kind, told.state);
  const words = { done: "Done.", stopped: "Stopped.", failed: "It did not work; the page says why.", running: "" }[told.state];
  if (seenAll && before === "running" && words) the("says").textContent = words;
  if (seenAll && before !== told.state) refreshSoon(told.state === "running" && place ? 200 : 0);
  else if (told.kind === "frontier" && told.state === "running" && body.dataset.screen === "privacy") refreshSoon(800);
}

/** Listens to the server. */
export function listen() {
  const events = new EventSource("/events");
  events.onmessage = (event) => {
    the("offline").hidden = true;
    /** @type {{ revision: number, works: Told[] }} */
    const told = JSON.parse(event.data);
    told.works.forEach(tell);
    const rendered = told.works.some((work) => work.state !== "running" && document.querySelector(`[data-work="${work.kind}"]`));
    if (told.revision > revision && !body.hasAttribute("aria-busy")) refreshSoon(60);
    else if (rendered) refreshSoon(0);
    seenAll = true;
  };
  events.onerror = () => { the("offline").hidden = events.readyState === EventSource.OPEN; };
}
