// What the customer has written and the server has not yet taken: kept over a reload, sent again with the same
// reference, so that the server keeps it once however often it arrives.
export class Outbox {
  constructor(name) {
    this.name = `outbox:${name}`;
  }

  all() {
    try {
      return JSON.parse(sessionStorage.getItem(this.name)) ?? [];
    } catch {
      return [];
    }
  }

  #keep(entries) {
    try {
      sessionStorage.setItem(this.name, JSON.stringify(entries));
    } catch {
      // A browser that keeps nothing only loses what a reload would have saved.
    }
  }

  add(text) {
    const entry = { text, ref: newReference() };
    this.#keep([...this.all(), entry]);
    return entry;
  }

  remove(ref) {
    this.#keep(this.all().filter((entry) => entry.ref !== ref));
  }
}

// randomUUID exists on secure pages only; a demo may be looked at over plain http.
function newReference() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
