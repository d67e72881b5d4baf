// The list of what was said and done. Items come from the page's templates; the newest is kept in view for whoever is
// already reading at the end.
import { plainNodes, richNodes } from "./rich.js";

const slot = (root, name) => root.querySelector(`[data-slot="${name}"]`);
const blank = (name) => document.getElementById(`blank-${name}`).content.firstElementChild.cloneNode(true);

export class Log {
  constructor(root, clock) {
    this.root = root;
    this.area = slot(root, "log");
    // Items stand before the indicator of typing and the notices, which stay last.
    this.end = slot(root, "typing");
    this.announcer = slot(root, "announce");
    this.clock = clock;
  }

  #scroller() {
    return this.area.scrollHeight > this.area.clientHeight + 1 ? this.area : document.scrollingElement;
  }

  isAtEnd() {
    const area = this.#scroller();
    return area.scrollHeight - area.scrollTop - area.clientHeight < 140;
  }

  toEnd() {
    const area = this.#scroller();
    area.scrollTop = area.scrollHeight;
  }

  // Change the list, and keep its end in view if it was.
  change(work, { follow = this.isAtEnd() } = {}) {
    const result = work();
    if (follow) this.toEnd();
    return result;
  }

  add(item) {
    this.change(() => this.end.before(item));
    return item;
  }

  // A line between two conversations: before the customer's words that have opened the new one.
  divide() {
    let first = this.end;
    while (first.previousElementSibling?.dataset.author === "customer") first = first.previousElementSibling;
    const line = Object.assign(document.createElement("li"), { className: "chat-item chat-divider" });
    first.before(line);
  }

  find(kind, id) {
    return this.area.querySelector(`[data-${kind}="${CSS.escape(id)}"]`);
  }

  bubble({ author, name = "", text = "", at = "" }) {
    const item = blank("message");
    item.dataset.author = author;
    slot(item, "name").textContent = name;
    this.write(item, text);
    this.stamp(item, at);
    return item;
  }

  write(item, text) {
    const nodes = item.dataset.author === "customer" ? plainNodes(text) : richNodes(text);
    slot(item, "text").replaceChildren(...nodes);
  }

  stamp(item, at) {
    const time = slot(item, "at");
    time.dateTime = at;
    time.textContent = at ? this.clock.moment(at) : "";
  }

  work({ tool_call_id, state, text }) {
    const known = this.find("work", tool_call_id);
    const item = known ?? blank("work");
    item.dataset.work = tool_call_id;
    item.dataset.state = state;
    slot(item, "text").textContent = text;
    if (!known) this.add(item);
  }

  status({ state, text }) {
    const item = blank("status");
    item.dataset.state = state;
    slot(item, "text").textContent = text;
    this.add(item);
    this.announce(text);
  }

  announce(text) {
    this.announcer.append(Object.assign(document.createElement("p"), { textContent: text }));
    while (this.announcer.childElementCount > 3) this.announcer.firstElementChild.remove();
  }
}
