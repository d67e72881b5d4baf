// What the customer has written and the server has not yet taken: kept over a reload, a sign-in, and for the tab that
// a link from a mail opens. It is sent again with the same reference, so that the server keeps it once however often it
// arrives; after a day nobody means it any more.
const DAY = 86_400_000;

export class Outbox {
  constructor(number) {
    this.name = `outbox:${number}`;
    this.unfinished = `unfinished:${number}`;
  }

  all() {
    return (read(this.name) ?? []).filter(({ at }) => Date.now() - at < DAY);
  }

  add(text) {
    const entry = { text, ref: newReference(), at: Date.now() };
    write(this.name, [...this.all(), entry]);
    return entry;
  }

  remove(ref) {
    write(this.name, this.all().filter((entry) => entry.ref !== ref));
  }

  // What stands in the field of a page that is left to sign in.
  lay(text) {
    write(this.unfinished, text && [{ text, at: Date.now() }]);
  }

  take() {
    const kept = read(this.unfinished) ?? [];
    write(this.unfinished, "");
    return kept.find(({ at }) => Date.now() - at < DAY)?.text ?? "";
  }
}

function read(name) {
  try {
    return JSON.parse(localStorage.getItem(name));
  } catch {
    return null;
  }
}

function write(name, entries) {
  try {
    if (entries.length) localStorage.setItem(name, JSON.stringify(entries));
    else localStorage.removeItem(name);
  } catch {
    // A browser that keeps nothing only loses what a reload would have saved.
  }
}

// randomUUID exists on secure pages only; a demo may be looked at over plain http.
function newReference() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
