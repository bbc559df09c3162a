// Charts that can be touched: the slider of k, the points of the frontier, cuts on a histogram.
import { afterSwap, send } from "./server.js";

let asked = 0;
/** What was shown last, and for what. */
let known = { key: "", markup: "" };

/** What a loss depends on. @param {string} k */
const keyOf = (k) => `${document.body.dataset.revision} ${k}`;

/** What a k would lose. @param {string} k */
async function show(k) {
  const own = ++asked;
  const answer = await fetch(`/part/loss?k=${encodeURIComponent(k)}`).catch(() => null);
  const place = document.getElementById("k-loss");
  if (own !== asked || !answer?.ok || !place) return;
  known = { key: keyOf(k), markup: await answer.text() };
  place.innerHTML = known.markup;
}

/** The numbers at the ends of a column of the histogram. @param {Element} bar @returns {[number, number] | null} */
function ends(bar) {
  const label = (bar.querySelector("title")?.textContent ?? "").replace(/: [\d,]+ records?$/, "");
  const numbers = label.split(" – ").map(Number);
  return numbers.every((number) => Number.isFinite(number)) ? [numbers[0], numbers[numbers.length - 1]] : null;
}

/** Takes the gap before or after a column into the form. @param {Element} bar @param {number} x */
function cut(bar, x) {
  const box = bar.getBoundingClientRect();
  const bars = [...(bar.parentElement?.querySelectorAll("rect") ?? [])];
  const at = bars.indexOf(/** @type {SVGRectElement} */ (bar));
  const before = x < box.left + box.width / 2;
  const [left, right] = before ? [bars[at - 1], bar] : [bar, bars[at + 1]];
  if (!left || !right) return;
  const [one, other] = [ends(left), ends(right)];
  const [low, high] = [document.getElementById("low"), document.getElementById("high")];
  if (one && other && low instanceof HTMLInputElement && high instanceof HTMLInputElement) {
    low.value = String(one[1]);
    high.value = String(other[0]);
    low.focus();
  }
}

export function charts() {
  document.addEventListener("input", (event) => {
    const own = event.target;
    if (!(own instanceof HTMLInputElement) || own.id !== "k-slider") return;
    const field = document.getElementById("k");
    if (field instanceof HTMLInputElement) field.value = own.value;
    void show(own.value);
  });
  document.addEventListener("change", (event) => {
    const own = event.target;
    if (own instanceof HTMLInputElement && own.id === "k-slider") void send({ do: "privacy", key: "k", value: own.value });
  });
  document.addEventListener("click", (event) => {
    const own = event.target instanceof Element ? event.target : null;
    const point = own?.closest("#frontier-chart .point");
    if (point instanceof SVGElement) void send({ do: "choose", k: Number((point.dataset.place ?? "").replaceAll(",", "")), method: point.dataset.name ?? "" });
    const bar = own?.closest("#histogram[data-cuts] rect");
    if (bar && event instanceof MouseEvent) cut(bar, event.clientX);
  });
  afterSwap(() => {
    const slider = document.getElementById("k-slider");
    if (slider instanceof HTMLInputElement && slider.dataset.shown === undefined) {
      slider.dataset.shown = "";
      const place = document.getElementById("k-loss");
      if (known.key === keyOf(slider.value) && place) place.innerHTML = known.markup;
      else void show(slider.value);
    }
  });
}
