// The page's ear: an EventSource that is opened again whenever it ends, and never applies a durable event twice.
const DURABLE = ["message", "work", "card", "status", "turn", "conversation"];
const EPHEMERAL = ["draft", "delta", "draft_dropped"];
const LONGEST_PAUSE = 15000;

// "12-34": event 34 of conversation 12.
function position(id) {
  const [conversation, number] = (id || "0-0").split("-").map(Number);
  return { conversation, number };
}

export class Stream {
  constructor(address, lastEvent, { apply, connected, newConversation }) {
    Object.assign(this, { address, apply, connected, newConversation });
    this.at = position(lastEvent);
    this.pause = 1000;
    // A page that slept, or came back from the back button, has a dead connection without knowing it.
    window.addEventListener("pageshow", (event) => event.persisted && this.open());
    window.addEventListener("online", () => this.open());
  }

  open() {
    clearTimeout(this.timer);
    this.source?.close();
    const source = (this.source = new EventSource(this.address));
    source.addEventListener("open", () => {
      this.pause = 1000;
      this.connected(true);
    });
    source.addEventListener("error", () => this.#broken(source));
    for (const kind of DURABLE) source.addEventListener(kind, (event) => this.#durable(kind, event));
    for (const kind of EPHEMERAL) source.addEventListener(kind, (event) => this.apply(kind, JSON.parse(event.data)));
  }

  #durable(kind, event) {
    const next = position(event.lastEventId);
    const { conversation, number } = this.at;
    if (next.conversation < conversation || (next.conversation === conversation && next.number <= number)) return;
    if (conversation && next.conversation > conversation) this.newConversation();
    this.at = next;
    this.apply(kind, JSON.parse(event.data));
  }

  #broken(source) {
    if (source !== this.source) return;
    this.connected(false);
    // While it is CONNECTING the browser tries again by itself, with the last event's id.
    if (source.readyState !== EventSource.CLOSED) return;
    this.timer = setTimeout(() => this.open(), this.pause);
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
  }
}
