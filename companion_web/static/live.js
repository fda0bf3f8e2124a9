// Keeps the page up to date: listens to events, or asks again and again where that is not possible.

const { page, number, about } = document.body.dataset;
const SILENCE_MS = 25000;
const POLL_MS = 2500;
const RETRY_STREAM_MS = 60000;

let version = document.body.dataset.version;
let heardAt = Date.now();
let source = null;
let polling = 0;
let refreshed = () => {};

function line(state) {
  const dot = document.getElementById("line");
  dot.dataset.line = state;
  dot.setAttribute("aria-label", dot.dataset[state]);
  dot.title = dot.dataset[state];
}

// The parser gets whole documents, so that nothing in them can run.
function parse(old, html) {
  const inSvg = old.namespaceURI === "http://www.w3.org/2000/svg";
  const text = inSvg ? `<svg xmlns="http://www.w3.org/2000/svg">${html}</svg>` : html;
  const parsed = new DOMParser().parseFromString(text, "text/html");
  return document.importNode(parsed.getElementById(old.id), true);
}

export function swap(name, html) {
  const old = document.getElementById(`part-${name}`);
  if (!old) return;
  const fresh = parse(old, html);
  if ("speak" in old.dataset) {
    if (old.textContent !== fresh.textContent) old.textContent = fresh.textContent;
    return;
  }
  for (const details of old.querySelectorAll("details[id][open]")) {
    const same = fresh.querySelector(`#${CSS.escape(details.id)}`);
    if (same) same.open = true;
  }
  for (const input of old.querySelectorAll("input[name]:not([type=hidden])")) {
    const same = fresh.querySelector(`input[name="${CSS.escape(input.name)}"]:not([type=hidden])`);
    if (same && input.value !== input.defaultValue) same.value = input.value;
  }
  for (const select of old.querySelectorAll("select[id]")) {
    const same = fresh.querySelector(`#${CSS.escape(select.id)}`);
    if (same && "touched" in select.dataset) { same.value = select.value; same.dataset.touched = ""; }
  }
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const place = focused ? pathOf(focused, old) : null;
  old.replaceWith(fresh);
  if (focused) again(fresh, focused, place)?.focus({ preventScroll: true });
}

function pathOf(element, root) {
  return [...root.querySelectorAll(element.tagName)].indexOf(element);
}

function again(root, focused, place) {
  if (focused.id) return document.getElementById(focused.id);
  return root.querySelectorAll(focused.tagName)[place];
}

function show(message) {
  if (page === "plain" || page === "teach") {
    // Forms of pages without a board: what they change may have grown older than the form.
    for (const seen of document.querySelectorAll("main input[name=seen]")) seen.value = message.seq;
  } else if (message.game !== document.body.dataset.game) {
    location.reload();
    return;
  }
  version = message.id;
  for (const [name, html] of Object.entries(message.parts)) swap(name, html);
  refreshed();
}

function query() {
  return new URLSearchParams({ page, number, about, seen: version });
}

function listen() {
  source?.close();
  source = new EventSource(`/live?${query()}`);
  source.onopen = () => { heardAt = Date.now(); line("open"); stopPolling(); };
  source.onmessage = (event) => {
    heardAt = Date.now();
    line("open");
    show(JSON.parse(event.data));
  };
  source.addEventListener("ping", () => { heardAt = Date.now(); line("open"); });
  source.onerror = () => {
    if (source.readyState !== EventSource.CLOSED) line("lost");
    else startPolling();
  };
}

function startPolling() {
  if (polling) return;
  poll();
  polling = setInterval(poll, POLL_MS);
  setTimeout(listen, RETRY_STREAM_MS);
}

function stopPolling() {
  clearInterval(polling);
  polling = 0;
}

async function poll() {
  try {
    const response = await fetch(`/view?${query()}`);
    if (!response.ok) throw new Error(response.statusText);
    if (response.status === 200) show(await response.json());
    line("poll");
  } catch {
    line("lost");
  }
}

export function begin(onRefresh) {
  refreshed = onRefresh;
  listen();
  setInterval(() => {
    if (!polling && Date.now() - heardAt > SILENCE_MS) { line("lost"); heardAt = Date.now(); listen(); }
  }, 5000);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible" && !polling) listen();
  });
  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => { if (event.persisted) listen(); });
}
