// What stands beside the chat, goods and money, is drawn by the server. It is fetched again when something has moved, at
// most twice a second, and again until that has succeeded. Nothing is fetched for a page that nobody looks at.
import { FOR_GOOD } from "./http.js";

const GATHER = 500;
const SHORTEST_PAUSE = 2000;
const LONGEST_PAUSE = 60000;

export class Side {
  #stale = false;
  #busy = false;
  #timer = null;
  #pause = SHORTEST_PAUSE;

  constructor(id) {
    this.id = id;
    document.addEventListener("visibilitychange", () => this.again());
  }

  moved() {
    this.#stale = true;
    if (!this.#busy && !this.#timer) this.#later(GATHER);
  }

  // The connection is back: what could not be fetched meanwhile need not wait any longer.
  again() {
    this.#pause = SHORTEST_PAUSE;
    if (this.#stale && !this.#busy) this.#later(0);
  }

  #later(pause) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fetch(), pause);
  }

  // One at a time: an answer that is overtaken would show what was before.
  async #fetch() {
    this.#timer = null;
    if (document.visibilityState === "hidden") return;
    this.#busy = true;
    this.#stale = false;
    const done = await this.#draw().catch(() => false);
    this.#busy = false;
    if (done) {
      this.#pause = SHORTEST_PAUSE;
      if (this.#stale) this.#later(GATHER);
      return;
    }
    this.#stale = true;
    this.#later(this.#pause * (0.5 + Math.random() / 2));
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
  }

  // False, or an error, when it has to be tried again; the page as it stands stays readable.
  async #draw() {
    const side = document.getElementById(this.id);
    const response = await fetch(side.dataset.again, { credentials: "same-origin", redirect: "manual" });
    // To another page, where one signs in.
    if (response.type === "opaqueredirect") return true;
    if (FOR_GOOD.includes(response.status)) return true;
    if (!response.ok) return false;
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById(this.id);
    if (!fresh) return false;
    for (const each of side.querySelectorAll("details[open][id]")) {
      fresh.querySelector(`#${CSS.escape(each.id)}`)?.setAttribute("open", "");
    }
    const held = side.contains(document.activeElement) ? document.activeElement.id : null;
    side.replaceWith(fresh);
    if (held !== null) refocus(document.getElementById(held), fresh);
    return true;
  }
}

// Whoever has no mouse goes on from the control they were at, or from the beginning of the part where it is gone.
function refocus(control, fresh) {
  if (!control) fresh.tabIndex = -1;
  (control ?? fresh).focus({ preventScroll: true });
}
