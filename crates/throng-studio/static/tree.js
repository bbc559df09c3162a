// The tree of an attribute: values are dragged into groups, and groups renamed in place.
import { send } from "./server.js";

/** Numbers of the nodes that are selected. */
export function selected() {
  return [...document.querySelectorAll("#tree input:checked")].map((own) => Number(/** @type {HTMLInputElement} */ (own).value));
}

/** @param {EventTarget | null} place */
function nodeAt(place) {
  const own = place instanceof Element ? place.closest("#tree li[data-node]") : null;
  return own instanceof HTMLElement ? own : null;
}

function column() {
  return Number(document.getElementById("tree")?.dataset.column);
}

/** @param {HTMLElement} button */
function rename(button) {
  const place = button.closest("li")?.querySelector(".label");
  if (!place || place.querySelector("input")) return;
  const before = place.textContent ?? "";
  const input = document.createElement("input");
  input.value = before;
  input.setAttribute("aria-label", `New name of ${before}`);
  const node = Number(button.dataset.rename);
  const end = () => { place.textContent = before; };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { end(); button.focus(); }
    if (event.key === "Enter") { event.preventDefault(); void send({ do: "rename", column: column(), node, label: input.value }); }
  });
  place.replaceChildren(input);
  input.focus();
  input.select();
}

export function tree() {
  /** @type {number[]} */
  let dragged = [];
  document.addEventListener("dragstart", (event) => {
    const own = nodeAt(event.target);
    if (!own) return;
    const number = Number(own.dataset.node);
    dragged = selected().includes(number) ? selected() : [number];
    event.dataTransfer?.setData("text/plain", own.querySelector(".label")?.textContent ?? "");
  });
  document.addEventListener("dragover", (event) => {
    const own = nodeAt(event.target);
    if (dragged.length && own?.classList.contains("group")) { event.preventDefault(); own.classList.add("over"); }
  });
  document.addEventListener("dragleave", (event) => nodeAt(event.target)?.classList.remove("over"));
  document.addEventListener("dragend", () => { dragged = []; });
  document.addEventListener("drop", (event) => {
    const own = nodeAt(event.target);
    if (!own || !dragged.length) return;
    event.preventDefault();
    const nodes = dragged;
    dragged = [];
    void send({ do: "shift", column: column(), nodes, target: Number(own.dataset.node) });
  });
  document.addEventListener("click", (event) => {
    const own = event.target instanceof Element ? event.target.closest("button[data-rename]") : null;
    if (own instanceof HTMLElement) rename(own);
  });
}
