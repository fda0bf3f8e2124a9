// The board under a finger: look, lay pieces on the virtual table, or enter a move.
import { swap } from "./live.js";
import { startZoom } from "./zoom.js";

const SVG = "http://www.w3.org/2000/svg";

export function startEditor(send) {
  const board = document.getElementById("board");
  const palette = document.getElementById("palette");
  if (!board) return { refresh() {}, clear() {}, light() {}, setMode() {} };

  const sites = new Map([...board.querySelectorAll(".site")].map((s) => [s.dataset.site, s]));
  const layer = document.getElementById("draft");
  const zoom = startZoom(document.getElementById("lens"), document.getElementById("zoom"));
  const draft = new Map();
  let wanted = "lay";
  let mode = "look";
  let chosen = null;
  let lit = null;
  let asked = 0;

  const word = (face) => palette?.querySelector(`[data-face="${CSS.escape(face)}"]`)?.textContent.trim();

  // On the page of a booked move the editor begins with that move, on the table before it.
  function pairs(name) {
    const text = document.getElementById("part-edit")?.dataset[name] ?? "";
    return new Map(text.split(" ").filter(Boolean).map((pair) => pair.split(":")));
  }

  function lyingOn(site) {
    if (mode === "enter" && pairs("before").has(site)) return pairs("before").get(site);
    const piece = board.querySelector(`#part-pieces > [data-at="${CSS.escape(site)}"]`);
    return piece?.dataset.face ?? "empty";
  }

  const offers = (name) => document.querySelector(`.modes [data-mode="${name}"]`) !== null;

  function refresh() {
    // The virtual table may come and go while the page is open.
    mode = offers(wanted) ? wanted : "look";
    for (const button of document.querySelectorAll(".modes [data-mode]")) {
      button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
    }
    for (const hint of document.querySelectorAll("[data-hint]")) hint.hidden = hint.dataset.hint !== mode;
    board.dataset.mode = mode;
    for (const [name, site] of sites) {
      if (mode === "look") {
        for (const attribute of ["role", "tabindex", "aria-label"]) site.removeAttribute(attribute);
        continue;
      }
      site.setAttribute("role", "button");
      site.setAttribute("aria-label", `${name}: ${word(draft.get(name) ?? lyingOn(name)) ?? ""}`);
      site.setAttribute("tabindex", site === (chosen ?? sites.values().next().value) ? "0" : "-1");
    }
    drawDraft();
    relight();
    if (draft.size) fit();
  }

  function setMode(next) {
    wanted = mode = next;
    clear();
    if (mode === "enter") for (const [site, face] of pairs("laid")) draft.set(site, face);
    refresh();
  }

  function drawDraft() {
    const shown = new Map(draft);
    if (mode === "enter") {
      for (const [site, face] of pairs("before")) if (!shown.has(site)) shown.set(site, face);
    }
    layer.replaceChildren(...[...shown].map(([name, face]) => {
      const site = sites.get(name);
      const group = document.createElementNS(SVG, "g");
      const refs = face === "empty" ? [site.getAttribute("href")] : [`#face-${face}`, site.getAttribute("href")];
      for (const href of refs) {
        const use = document.createElementNS(SVG, "use");
        use.setAttribute("href", href);
        use.setAttribute("x", site.getAttribute("x"));
        use.setAttribute("y", site.getAttribute("y"));
        if (href === site.getAttribute("href")) use.setAttribute("class", face === "empty" ? "gone" : "mine");
        group.append(use);
      }
      return group;
    }));
  }

  async function fit() {
    const turn = ++asked;
    const booked = pairs("laid");
    if (booked.size === draft.size && [...draft].every(([site, face]) => booked.get(site) === face)) {
      document.getElementById("part-fitting")?.replaceChildren();
      return;
    }
    const query = new URLSearchParams([...draft].map(([site, face]) => ["at", `${site}:${face}`]));
    if (document.body.dataset.page === "move") query.set("number", document.body.dataset.number);
    const response = await fetch(`/fitting?${query}`, { headers: { Accept: "application/json" } });
    if (turn !== asked || !response.ok) return;
    swap("fitting", (await response.json()).parts.fitting);
  }

  function clear() {
    draft.clear();
    asked += 1;
    document.getElementById("part-fitting")?.replaceChildren();
    drawDraft();
  }

  function choose(site) {
    chosen?.classList.remove("chosen");
    chosen = site;
    site.classList.add("chosen");
    for (const other of sites.values()) other.setAttribute("tabindex", other === site ? "0" : "-1");
  }

  function open(site) {
    choose(site);
    for (const faces of palette.querySelectorAll(".faces")) {
      faces.hidden = faces.dataset.palette !== site.dataset.palette;
    }
    const now = draft.get(site.dataset.site) ?? lyingOn(site.dataset.site);
    for (const button of palette.querySelectorAll("[data-face]")) {
      button.setAttribute("aria-pressed", String(button.dataset.face === now));
    }
    const title = document.getElementById("palette-title");
    title.textContent = title.dataset.text.replace("{site}", site.dataset.site);
    palette.showModal();
    const hidden = site.getBoundingClientRect().bottom - palette.getBoundingClientRect().top + 12;
    if (hidden > 0) scrollBy({ top: hidden, behavior: "instant" });
  }

  function put(face) {
    const name = chosen.dataset.site;
    palette.close();
    if (mode === "lay") {
      send("/lay", [["at", `${name}:${face}`]]);
      return;
    }
    if (face === lyingOn(name)) draft.delete(name);
    else draft.set(name, face);
    if (draft.size) refresh();
    else { clear(); refresh(); }
  }

  function step(from, key) {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    const at = (s) => [Number(s.getAttribute("x")), Number(s.getAttribute("y"))];
    const [x, y] = at(from);
    let best = null;
    let least = Infinity;
    for (const site of sites.values()) {
      const [sx, sy] = at(site);
      const along = (sx - x) * dx + (sy - y) * dy;
      const aside = Math.abs((sx - x) * dy) + Math.abs((sy - y) * dx);
      const cost = along + aside;
      if (along > 1 && cost < least) { least = cost; best = site; }
    }
    return best;
  }

  function light(element) {
    const pressed = element.classList.contains("reason") && element.getAttribute("aria-pressed") === "true";
    lit = pressed ? null : { line: element.dataset.line, sites: element.dataset.sites.split(" ").filter(Boolean) };
    relight();
    if (lit?.line && !pressed) element.setAttribute("aria-pressed", "true");
    if (lit?.sites.length) board.scrollIntoView({ block: "nearest" });
  }

  function relight() {
    for (const button of document.querySelectorAll(".reason[aria-pressed]")) {
      button.setAttribute("aria-pressed", String(lit?.line !== undefined && button.dataset.line === lit.line));
    }
    for (const [name, site] of sites) site.classList.toggle("lit", lit?.sites.includes(name) ?? false);
    const group = lit?.line === undefined ? null : board.querySelector(`.count[data-line="${lit.line}"]`);
    board.classList.toggle("spot", group !== null);
    for (const count of board.querySelectorAll(".count")) count.classList.toggle("lit", count === group);
  }

  board.addEventListener("click", (event) => {
    const site = event.target.closest(".site");
    if (!site || mode === "look") return;
    if (zoom.isTooSmall(site)) zoom.enlarge(site);
    else open(site);
  });
  board.addEventListener("keydown", (event) => {
    const site = event.target.closest(".site");
    if (!site) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      open(site);
    } else if (event.key.startsWith("Arrow")) {
      event.preventDefault();
      const next = step(site, event.key);
      if (next) { choose(next); next.focus({ preventScroll: false }); }
    }
  });
  palette?.addEventListener("click", (event) => {
    const button = event.target.closest("[data-face]");
    if (button) put(button.dataset.face);
    else if (event.target === palette) palette.close();
  });
  palette?.addEventListener("close", () => {
    chosen?.classList.remove("chosen");
    chosen?.focus({ preventScroll: true });
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".modes [data-mode]");
    if (button) setMode(button.dataset.mode);
  });

  refresh();
  return { refresh, clear, light, setMode };
}
