// How long the customer waits for a person: drawn by the server, and fetched again while they wait.
const AGAIN_EVERY = 30000;

export class Waiting {
  constructor(place, change) {
    Object.assign(this, { place, change });
    this.#later();
    document.addEventListener("visibilitychange", () => document.hidden || this.#fetch());
  }

  show(waits) {
    this.change(() => (this.place.hidden = !waits));
    this.#fetch();
  }

  // Whoever asks again for a person who has been asked already sees that.
  point() {
    this.place.scrollIntoView({ block: "nearest" });
  }

  // The page is not told any more.
  end() {
    this.over = true;
    clearTimeout(this.timer);
  }

  #later() {
    clearTimeout(this.timer);
    if (!this.place.hidden && !this.over) this.timer = setTimeout(() => this.#fetch(), AGAIN_EVERY);
  }

  async #fetch() {
    if (this.place.hidden || this.over || document.hidden) return;
    try {
      const response = await fetch(this.place.dataset.again, { credentials: "same-origin", redirect: "error" });
      if (!response.ok) return;
      const fresh = new DOMParser().parseFromString(await response.text(), "text/html").body.firstElementChild;
      this.change(() => this.place.replaceChildren(fresh));
    } catch {
      // What stands there was true a moment ago; the next look is soon.
    } finally {
      this.#later();
    }
  }
}
