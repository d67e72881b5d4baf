// The page's ear: an EventSource that is opened again whenever it ends or falls silent, and never applies a durable
// event twice. Each new one says what the page has, so that the server begins behind it.
import { FOR_GOOD } from "./http.js";

const DURABLE = ["message", "work", "card", "status", "turn", "conversation"];
const EPHEMERAL = ["draft", "delta", "draft_dropped"];
const SHORTEST_PAUSE = 1000;
const LONGEST_PAUSE = 15000;
// A connection that stood so long was a good one: the next pause is short again.
const GOOD_AFTER = 1000;
// The server says something every 15 seconds. Whoever hears nothing for so long has a connection that died quietly,
// as after an hour of sleep.
const SILENCE = 40000;
const NO_ANSWER = 10000;
// Whoever hears more often than that, and has not seen the connection break, misses nothing.
const HEARS = 25000;
const LOOK_EVERY = 5000;

// "12-34": event 34 of conversation 12.
function position(id) {
  const [conversation, number] = (id || "0-0").split("-").map(Number);
  return { conversation, number };
}

export class Stream {
  // `refused`: the server says no for good, and nothing is asked any more. Without it the page asks on and on.
  constructor(address, lastEvent, { apply, connected, newConversation, refused, ephemeral = EPHEMERAL }) {
    Object.assign(this, { address, apply, connected, newConversation, refused, ephemeral });
    this.at = position(lastEvent);
    this.pause = SHORTEST_PAUSE;
    // The page itself is the first that the server has said.
    this.spoken = Date.now();
    // A page that slept, or came back from the back button, has a dead connection without knowing it.
    window.addEventListener("pageshow", (event) => event.persisted && this.open());
    window.addEventListener("online", () => this.open());
    document.addEventListener("resume", () => this.#look());
    document.addEventListener("visibilitychange", () => this.#look());
    setInterval(() => this.#look(), LOOK_EVERY);
  }

  // Is the page as new as the server's last words, and were they said just now?
  get hears() {
    return Date.now() - this.spoken < HEARS;
  }

  // The newest event that the page shows, as the server names it.
  get lastEvent() {
    return `${this.at.conversation}-${this.at.number}`;
  }

  #heard() {
    this.heard = this.spoken = Date.now();
  }

  open() {
    if (this.over) return;
    this.#close();
    this.heard = Date.now();
    this.opened = 0;
    const { conversation, number } = this.at;
    const after = conversation ? `?after=${conversation}-${number}` : "";
    const source = (this.source = new EventSource(this.address + after));
    source.addEventListener("open", () => {
      this.#heard();
      this.opened = this.heard;
      this.connected(true);
    });
    source.addEventListener("error", () => this.#broken(source));
    source.addEventListener("ping", () => this.#heard());
    source.addEventListener("end", () => this.#end());
    for (const kind of DURABLE) source.addEventListener(kind, (event) => this.#durable(kind, event));
    for (const kind of this.ephemeral) source.addEventListener(kind, (event) => this.#ephemeral(kind, event));
  }

  #close() {
    clearTimeout(this.timer);
    this.timer = null;
    this.source?.close();
    this.source = null;
  }

  // The server has said that nothing comes any more: whoever asked again would hear the same.
  #end() {
    this.over = true;
    this.#close();
  }

  #ephemeral(kind, event) {
    this.#heard();
    this.apply(kind, JSON.parse(event.data));
  }

  #durable(kind, event) {
    this.#heard();
    const next = position(event.lastEventId);
    const { conversation, number } = this.at;
    if (next.conversation < conversation || (next.conversation === conversation && next.number <= number)) return;
    if (conversation && next.conversation > conversation) this.newConversation();
    this.at = next;
    this.apply(kind, JSON.parse(event.data));
  }

  // The browser's own way of coming back knows no patience: every page of a server that restarts would come at once.
  #broken(source) {
    if (source !== this.source) return;
    // Closed by the browser itself: something else than a stream was answered, and it does not tell what.
    if (source.readyState === EventSource.CLOSED && this.refused) this.#ask();
    source.close();
    this.#lost();
    if (this.opened && Date.now() - this.opened > GOOD_AFTER) this.pause = SHORTEST_PAUSE;
    this.timer = setTimeout(() => this.open(), this.pause * (0.5 + Math.random() / 2));
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
  }

  async #ask() {
    const enough = new AbortController();
    const answer = await fetch(this.address, { redirect: "manual", signal: enough.signal }).catch(() => ({}));
    enough.abort();
    if (this.over || !FOR_GOOD.includes(answer.status)) return;
    this.#end();
    this.refused();
  }

  #look() {
    const patience = this.opened ? SILENCE : NO_ANSWER;
    if (!this.source || this.timer || Date.now() - this.heard < patience) return;
    this.#lost();
    this.open();
  }

  #lost() {
    this.spoken = 0;
    this.connected(false);
  }
}
