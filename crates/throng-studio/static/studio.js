// Clicks and keys: every control says in its attributes what it does.
import { afterSwap, at, complain, go, listen, refresh, send } from "./server.js";
import { pane } from "./pane.js";
import { drops } from "./drop.js";
import { selected, tree } from "./tree.js";
import { charts } from "./charts.js";

/** What a control does, with its value. @param {HTMLElement} own @returns {Record<string, unknown>} */
function act(own) {
  const { do: name, column, key, k, method, at: place, node, target, item, task, build, sizes, workKind } = own.dataset;
  /** @type {Record<string, unknown>} */
  const sent = { do: name };
  if (column !== undefined) sent.column = Number(column);
  if (place !== undefined) sent.at = Number(place);
  if (node !== undefined) sent.node = Number(node);
  if (k !== undefined) sent.k = Number(k);
  for (const [name, value] of Object.entries({ key, method, item, task, build, sizes, work: workKind })) if (value !== undefined) sent[name] = value;
  if (name === "shift") { sent.nodes = selected(); sent.target = target === undefined ? null : Number(target); }
  if (own instanceof HTMLInputElement) sent.value = own.type === "checkbox" ? own.checked : own.value;
  if (own instanceof HTMLSelectElement) sent.value = own.value;
  return sent;
}

document.addEventListener("change", (event) => {
  const own = event.target;
  if (!(own instanceof HTMLElement)) return;
  if (own.dataset.do) void send(act(own));
  else if (own.dataset.auto !== undefined && own instanceof HTMLSelectElement) own.form?.requestSubmit();
});

document.addEventListener("click", (event) => {
  const own = event.target instanceof Element ? event.target.closest("button[data-do]") : null;
  if (!(own instanceof HTMLButtonElement)) return;
  const then = own.dataset.then;
  if (then) history.pushState(null, "", then);
  void send(act(own));
});

document.addEventListener("keydown", (event) => {
  const own = event.target;
  if (event.key === "Enter" && own instanceof HTMLInputElement && own.dataset.do && own.type !== "checkbox") {
    event.preventDefault();
    own.blur();
    own.focus();
  }
});

/** Forms that only go to another place of the screen. @param {HTMLFormElement} form */
function goTo(form) {
  const query = new URLSearchParams();
  new FormData(form).forEach((value, key) => { if (typeof value === "string" && value !== "") query.set(key, value); });
  void go(`/${form.dataset.go}?${query}`);
}

/** What a form sends. @param {HTMLFormElement} form @returns {Record<string, unknown>} */
function sent(form) {
  const data = new FormData(form);
  /** @param {string} key */
  const text = (key) => String(data.get(key) ?? "");
  const column = Number(form.dataset.column);
  const rule = { importance: text("importance"), hard: data.get("hard") !== null };
  switch (form.dataset.form) {
    case "open": {
      const chosen = form.querySelector("option:checked");
      return { do: "open", file: chosen instanceof HTMLElement ? chosen.dataset.name ?? "" : "" };
    }
    case "group": return { do: "group", column, nodes: selected(), label: text("label") };
    case "add-cut": return { do: "add-cut", column, low: text("low"), high: text("high"), ...rule };
    case "add-apart": return { do: "add-apart", column, one: Number(text("one")), other: Number(text("other")), ...rule };
    case "add-set": return { do: "add-set", columns: data.getAll("columns").map(Number), k: text("k") };
    case "compare": return { do: "compare", methods: data.getAll("methods").map(String), ks: text("ks"), also: text("also") };
    default: {
      /** @param {string} key */
      const flag = (key) => data.get(key) !== null;
      const order = { release: text("release"), report: text("report"), publish: text("publish"), escape: flag("escape"), recipe: flag("recipe"), certificate: flag("certificate"), replace: flag("replace") };
      return { do: "publish", order };
    }
  }
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement)) return;
  if (form.dataset.go) { event.preventDefault(); goTo(form); }
  else if (form.dataset.form) {
    event.preventDefault();
    // What is compared stays to be changed; what was added is gone from its form.
    if (form.dataset.form !== "compare") form.querySelectorAll("input").forEach((own) => { own.dataset.sent = own.value; });
    void send(sent(form));
  }
});

// What is to be written is part of the address, so that the command below it follows and a reload loses nothing.
document.addEventListener("change", (event) => {
  const own = event.target;
  if (!(own instanceof HTMLInputElement || own instanceof HTMLSelectElement) || own.form?.id !== "order" || own.dataset.do) return;
  const query = new URLSearchParams(at());
  query.set(own.name, own instanceof HTMLInputElement && own.type === "checkbox" ? (own.checked ? "yes" : "no") : own.value);
  void go(`/publish?${query}`);
});

// Links within a screen replace its parts only.
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("main a[href]") : null;
  if (!(link instanceof HTMLAnchorElement) || link.target || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (link.pathname === location.pathname && link.search !== location.search && link.origin === location.origin) {
    event.preventDefault();
    void go(link.pathname + link.search);
  }
});
window.addEventListener("popstate", () => void refresh());

/** Parts that take a while to compute come by themselves. */
async function load() {
  for (const place of document.querySelectorAll("[data-load]")) {
    if (!(place instanceof HTMLElement)) continue;
    const address = place.dataset.load ?? "";
    delete place.dataset.load;
    const answer = await fetch(address).catch(() => null);
    if (answer?.ok && place.isConnected) {
      place.innerHTML = await answer.text();
      place.removeAttribute("aria-busy");
    }
  }
}

/** What is wider than its place can be reached and scrolled by keys. */
function reachable() {
  for (const place of document.querySelectorAll(".report .scroll:not([tabindex])")) {
    place.setAttribute("tabindex", "0");
    place.setAttribute("role", "region");
    place.setAttribute("aria-label", place.closest("section")?.querySelector("h2")?.textContent ?? "Table");
  }
}

afterSwap(() => void load());
afterSwap(reachable);
pane();
drops();
tree();
charts();
listen();
complain(null);
if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
