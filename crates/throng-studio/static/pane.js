// The policy beside the screen: what is typed is sent after a moment, and the numbers of lines follow the text.
import { afterSwap, send } from "./server.js";

/** How long to wait after a key. */
const MOMENT = 700;
let later = 0;

/** @returns {HTMLTextAreaElement | null} */
function text() {
  const own = document.getElementById("policy-text");
  return own instanceof HTMLTextAreaElement ? own : null;
}

function align() {
  const [own, gutter] = [text(), document.querySelector(".gutter")];
  if (own && gutter) gutter.scrollTop = own.scrollTop;
}

function submit() {
  window.clearTimeout(later);
  const own = text();
  if (!own || own.value === own.defaultValue || own.dataset.sent === own.value) return;
  own.dataset.sent = own.value;
  void send({ do: "text", text: own.value });
}

/** Shows the first line that the screen stands for, or the one with the mistake. */
function reveal() {
  const own = text();
  const line = document.querySelector(".gutter .wrong") ?? document.querySelector(".gutter .own");
  if (!own || !line || document.activeElement === own || own.scrollTop > 0) return align();
  own.scrollTop = Math.max(0, (Number(line.textContent) - 3) * 20);
  align();
}

/** As many numbers as there are lines. */
function count() {
  const [own, gutter] = [text(), document.querySelector(".gutter")];
  if (!own || !gutter) return;
  const lines = own.value.split("\n").length;
  while (gutter.children.length > lines) gutter.lastElementChild?.remove();
  while (gutter.children.length < lines) {
    const line = document.createElement("li");
    line.textContent = String(gutter.children.length + 1);
    gutter.append(line);
  }
}

export function pane() {
  document.addEventListener("scroll", (event) => { if (event.target === text()) align(); }, true);
  document.addEventListener("input", (event) => {
    if (event.target !== text()) return;
    count();
    window.clearTimeout(later);
    later = window.setTimeout(submit, MOMENT);
  });
  document.addEventListener("focusout", (event) => { if (event.target === text()) submit(); });
  afterSwap(reveal);
}
