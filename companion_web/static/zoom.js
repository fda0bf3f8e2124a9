// Enlarges the board where its places are too small for a finger.

const FINGER_PX = 40;
const HARD_TO_HIT_PX = 28;
const LARGEST = 3;

export function startZoom(lens, button) {
  const drawing = lens.firstElementChild;

  function factor() {
    const site = lens.querySelector(".site").getBoundingClientRect();
    return Math.min(LARGEST, Math.max(1.5, FINGER_PX / site.width));
  }

  function isOn() {
    return button.getAttribute("aria-pressed") === "true";
  }

  // The lens keeps its size, so that nothing below it jumps.
  function enlarge(target) {
    const box = drawing.getBoundingClientRect();
    const at = (target ?? drawing).getBoundingClientRect();
    const x = (at.left + at.width / 2 - box.left) / box.width;
    const y = (at.top + at.height / 2 - box.top) / box.height;
    lens.style.height = `${lens.getBoundingClientRect().height}px`;
    drawing.style.width = `${100 * factor()}%`;
    button.setAttribute("aria-pressed", "true");
    lens.scrollTo(x * drawing.clientWidth - lens.clientWidth / 2, y * drawing.clientHeight - lens.clientHeight / 2);
  }

  function shrink() {
    drawing.style.width = "";
    lens.style.height = "";
    button.setAttribute("aria-pressed", "false");
  }

  button.addEventListener("click", () => (isOn() ? shrink() : enlarge()));
  // A phone that hides its address bar changes the height only.
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width && isOn()) shrink();
    width = innerWidth;
  });
  return {
    enlarge,
    isTooSmall: (site) => !isOn() && site.getBoundingClientRect().width < HARD_TO_HIT_PX,
  };
}
