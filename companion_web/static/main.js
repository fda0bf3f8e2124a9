// Starts the page: live parts, the editor on the board, forms without reloading.
import { begin } from "./live.js";
import { startEditor } from "./edit.js";

document.documentElement.classList.add("js");

const HOLD_MS = 1000;
const toast = document.getElementById("toast");
let toastTimer = 0;

export function tell(text) {
  toast.textContent = text;
  toast.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { toast.hidden = true; }, 6000);
}

export async function send(action, fields) {
  let answer = { ok: false, message: document.getElementById("line").dataset.lost };
  try {
    const response = await fetch(action, {
      method: "POST",
      body: new URLSearchParams(fields),
      headers: { Accept: "application/json" },
    });
    answer = await response.json();
  } catch { /* the sentence above says it */ }
  if (answer.message) tell(answer.message);
  return answer;
}

const editor = startEditor(send);

// Whoever pressed a seat button below the board should see the question that comes of it above.
let pressed = false;

begin(() => {
  editor.refresh();
  const alert = document.querySelector("#part-turn .alert");
  if (!pressed || !alert) return;
  pressed = false;
  alert.scrollIntoView({ block: "nearest" });
});

// Forms that only speak to the table stay on the page; those that lead elsewhere load it.
const STAYS = new Set(["/play", "/take-back", "/answer", "/press", "/tidy", "/correct"]);

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const action = new URL(form.action).pathname;
  const stays = STAYS.has(action) || action.startsWith("/teach/");
  if (form.method !== "post" || !stays || "leads" in form.dataset) return;
  event.preventDefault();
  const fields = new FormData(form, event.submitter);
  const buttons = [...form.querySelectorAll("button:enabled")];
  for (const button of buttons) button.disabled = true;
  const answer = await send(action, fields);
  for (const button of buttons) button.disabled = false;
  if (event.submitter?.isConnected) event.submitter.focus({ preventScroll: true });
  if (!answer.ok) return;
  if (action === "/press") pressed = true;
  if ("clearsDraft" in form.dataset) editor.clear();
  if (event.submitter?.dataset.then) editor.setMode(event.submitter.dataset.then);
  if (form.dataset.done) location.assign(form.dataset.done);
});

// A seat button held for a second is a long press, as at the table.
let held = 0;
let wasHeld = false;

document.addEventListener("pointerdown", (event) => {
  const knob = event.target.closest(".knob");
  if (!knob) return;
  wasHeld = false;
  knob.classList.add("pressed");
  held = setTimeout(() => {
    wasHeld = true;
    knob.classList.add("held");
    send("/press", { seat: knob.form.elements.seat.value, long: "1" });
  }, HOLD_MS);
});

for (const name of ["pointerup", "pointercancel"]) {
  document.addEventListener(name, () => {
    clearTimeout(held);
    for (const knob of document.querySelectorAll(".knob.pressed")) {
      knob.classList.remove("pressed", "held");
    }
  });
}

document.addEventListener("contextmenu", (event) => {
  if (event.target.closest(".knob")) event.preventDefault();
});

document.addEventListener("click", (event) => {
  if (event.target.closest(".knob") && wasHeld) {
    wasHeld = false;
    event.preventDefault();
    return;
  }
  const reason = event.target.closest("[data-sites]");
  if (reason && !event.target.closest("a, summary, input")) editor.light(reason);
});

// On the set-up page only as many names are asked for as there are seats.
function showNames() {
  const chosen = document.querySelector("input[name=version]:checked");
  for (const label of document.querySelectorAll(".names [data-seat]")) {
    label.hidden = chosen !== null && Number(label.dataset.seat) >= Number(chosen.dataset.seats);
  }
}
document.addEventListener("change", (event) => {
  if (event.target.tagName === "SELECT") event.target.dataset.touched = "";
  if (event.target.name === "version") showNames();
});
showNames();
