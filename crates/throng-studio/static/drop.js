// Files that are dropped or chosen.
import { send, upload } from "./server.js";

/** The largest hierarchy that is sent as text. */
const MOST = 4_000_000;

/** @param {DragEvent} event */
function zone(event) {
  const own = event.target instanceof Element ? event.target.closest("#drop") : null;
  return own && event.dataTransfer?.types.includes("Files") ? own : null;
}

export function drops() {
  document.addEventListener("dragover", (event) => {
    const own = zone(event);
    if (own) { event.preventDefault(); own.classList.add("over"); }
  });
  document.addEventListener("dragleave", (event) => zone(event)?.classList.remove("over"));
  document.addEventListener("drop", (event) => {
    const own = zone(event);
    if (!own) return;
    event.preventDefault();
    own.classList.remove("over");
    const file = event.dataTransfer?.files[0];
    if (file) void upload(file);
  });
  document.addEventListener("change", async (event) => {
    const own = event.target;
    if (!(own instanceof HTMLInputElement) || own.type !== "file") return;
    const file = own.files?.[0];
    if (!file) return;
    if (own.id === "dropped") await upload(file);
    if (own.id === "import") await send({ do: "import", column: Number(own.dataset.column), text: (await file.slice(0, MOST).text()) });
  });
}
