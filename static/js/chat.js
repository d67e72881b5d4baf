// The chat of an order page. The server has drawn everything up to data-last-event; from there on events change the page.
import { Cards } from "./chat/card.js";
import { Clock } from "./chat/clock.js";
import { post, Refused } from "./chat/http.js";
import { Log } from "./chat/log.js";
import { Outbox } from "./chat/outbox.js";
import { sayWhileVisible } from "./chat/presence.js";
import { sentences } from "./chat/prose.js";
import { Side } from "./chat/side.js";
import { Stream } from "./chat/stream.js";
import { Waiting } from "./chat/waiting.js";

const root = document.getElementById("chat");
const words = JSON.parse(document.getElementById("chat-words").textContent);
const slot = (name) => root.querySelector(`[data-slot="${name}"]`);
const token = root.querySelector('.composer input[name="csrfmiddlewaretoken"]').value;

const clock = new Clock(root.dataset.now, document.documentElement.lang);
const log = new Log(root, clock);
const outbox = new Outbox(root.dataset.number);
const cards = new Cards({
  template: document.getElementById("blank-card"),
  words,
  token,
  clock,
  number: root.dataset.number,
  told: (error) => told(error, words.unsure),
  askAgain: (text) => send(text),
});
const waiting = new Waiting(slot("person"), (work) => log.change(work));
const side = new Side("order-side");
const drafts = new Map(); // draft key → {item, text}

const handlers = {
  message(data) {
    const shown = log.find("message", data.message_id);
    if (shown && !("unplaced" in shown.dataset)) return;
    const item = shown ?? adoptable(data) ?? log.bubble(data);
    delete item.dataset.unplaced;
    item.dataset.message = data.message_id;
    delete item.dataset.pending;
    item.classList.remove("is-draft");
    log.change(() => {
      log.write(item, data.text);
      log.stamp(item, data.at);
      item.querySelector('[data-slot="sending"]').replaceChildren();
      // The stream's order is the database's: what was shown early, a draft or words being sent, takes its place now.
      if (item.nextElementSibling !== log.end) log.end.before(item);
    });
    if (data.author !== "customer") log.announce(data.text);
    slot("suggestions").hidden = true;
    showTyping();
  },

  draft({ draft, text }) {
    setDraft(draft, text);
  },

  delta({ draft, offset, text }) {
    const have = drafts.get(draft)?.text ?? "";
    if (offset > have.length) stream.open(); // a piece is missing: the stream begins with the whole draft
    else setDraft(draft, have + text.slice(have.length - offset)); // a piece sent again says nothing twice
  },

  draft_dropped({ draft }) {
    drafts.get(draft)?.item.remove();
    drafts.delete(draft);
    showTyping();
  },

  work(data) {
    log.work(data);
  },

  card(data) {
    const known = log.find("card", data.card_id);
    if (known) {
      log.change(() => cards.show(known, data.state, data.because));
      log.announce(`${data.title} ${known.querySelector(".badge:not([hidden])").textContent}`);
      if (data.state !== "open") side.moved();
    } else {
      log.add(cards.draw(data));
      log.announce(`${data.title} ${data.display ?? ""}`);
    }
  },

  status(data) {
    log.status(data);
    side.moved();
  },

  turn({ state, retry }) {
    root.dataset.turn = state;
    log.change(() => {
      slot("failed").hidden = !retry;
      // Over, or taken by another worker: what was being written will not be finished.
      for (const key of [...drafts.keys()]) handlers.draft_dropped({ draft: key });
      showTyping();
    });
  },

  conversation({ state, needs_person, waiting_since, owner }) {
    root.dataset.closed = state === "closed";
    root.dataset.owned = Boolean(owner);
    log.change(() => {
      slot("closed").hidden = state !== "closed";
      // A person has it: what the assistant was writing is not said any more.
      if (owner) for (const key of [...drafts.keys()]) handlers.draft_dropped({ draft: key });
    });
    waiting.show(Boolean(needs_person || waiting_since) && state !== "closed");
    showOwner(owner);
    showTyping();
  },
};

// The bubble that this message is already shown in: the draft it finishes, or the customer's own words being sent.
function adoptable(data) {
  if (data.draft && drafts.has(data.draft)) {
    const { item } = drafts.get(data.draft);
    drafts.delete(data.draft);
    return item;
  }
  if (data.author !== "customer") return null;
  const pending = [...root.querySelectorAll("[data-pending]")].find((item) => item.dataset.text === data.text);
  if (pending) outbox.remove(pending.dataset.pending);
  return pending ?? null;
}

function setDraft(key, text) {
  if (root.dataset.owned === "true") return;
  // One reply is written at a time: another one that is still here has ended while nobody listened.
  for (const other of drafts.keys()) if (other !== key) handlers.draft_dropped({ draft: other });
  const draft = drafts.get(key) ?? { item: log.bubble({ author: "agent" }) };
  draft.text = text;
  log.change(() => {
    log.write(draft.item, text);
    if (!draft.item.isConnected) {
      draft.item.classList.add("is-draft");
      log.end.before(draft.item);
    }
    drafts.set(key, draft);
    showTyping();
  });
}

function showOwner(name) {
  const place = slot("owner");
  place.textContent = name ? words.answered_by.replace("%(name)s", name) : place.dataset.default;
}

function showTyping() {
  const busy = root.dataset.turn === "queued" || root.dataset.turn === "running";
  const typing = slot("typing");
  if (typing.hidden !== (busy && !drafts.size && root.dataset.closed !== "true")) return;
  log.change(() => (typing.hidden = !typing.hidden));
}

const stream = new Stream(root.dataset.events, root.dataset.lastEvent, {
  apply: (kind, data) => handlers[kind](data),
  connected(yes) {
    const place = slot("connection");
    place.textContent = yes ? "" : words.offline;
    place.hidden = yes;
    if (!yes) return;
    side.again();
    sayAgain();
  },
  refused: ended,
  newConversation() {
    for (const key of drafts.keys()) handlers.draft_dropped({ draft: key });
    slot("failed").hidden = slot("closed").hidden = true;
    waiting.show(false);
    root.dataset.closed = root.dataset.owned = "false";
    showOwner(null);
    log.divide();
  },
});

// Signed out, or somebody else by now: the page hears nothing more, and says how to go on.
function ended() {
  const place = slot("connection");
  place.replaceChildren(...signedOut());
  place.hidden = false;
  waiting.end();
  // Back from the sign-in by the browser's own button, to the page as it was.
  window.addEventListener("pageshow", (event) => event.persisted && location.reload());
}

// Whoever signs out means to leave nothing (ui/leave.js).
let hasLeft = false;
document.addEventListener("left", () => (hasLeft = true));
const lay = () => hasLeft || outbox.lay(field.value);

// The page's own address leads to the sign-in and back, or straight to the order for whoever is signed in again.
let isOut = false;
function signedOut() {
  if (!isOut) for (const left of ["visibilitychange", "pagehide"]) addEventListener(left, lay);
  isOut = true;
  const back = Object.assign(document.createElement("a"), { href: location.pathname, textContent: words.sign_in });
  return [words.signed_out, " ", back];
}

// What to say of a request that has failed, as text and nodes.
function told(error, unreached = words.unreached) {
  if (!(error instanceof Refused)) return [unreached];
  return error.forGood ? signedOut() : [error.message || words.unreadable];
}

// --- writing ---------------------------------------------------------------------------------------------------------
const composer = root.querySelector('[data-form="message"]');
const field = composer.elements.text;
const limit = Number(root.dataset.maxCharacters);
// A browser would cut what is pasted, and say nothing.
field.removeAttribute("maxlength");

// One after the other, so that sentences arrive in the order in which they were written.
let sent = Promise.resolve();
function send(text) {
  postInTurn(outbox.add(text));
}

function postInTurn(entry) {
  const item = pendingBubble(entry);
  sent = sent.then(() => deliver(entry, item));
}

function pendingBubble({ text, ref }) {
  const item = log.bubble({ author: "customer", text });
  item.dataset.pending = ref;
  item.dataset.text = text;
  item.querySelector('[data-slot="sending"]').textContent = words.sending;
  log.change(() => log.end.before(item), { follow: true });
  return item;
}

async function deliver(entry, item) {
  const note = item.querySelector('[data-slot="sending"]');
  item.classList.remove("is-unsent");
  note.textContent = words.sending;
  slot("suggestions").hidden = true;
  try {
    const { message_id } = await post(root.dataset.messages, { text: entry.text, client_ref: entry.ref }, token);
    outbox.remove(entry.ref);
    delivered(item, message_id);
  } catch (error) {
    if (!item.dataset.pending) return; // the stream has brought it back: it did arrive
    const wait = undelivered(entry, item, error);
    if (!wait) return;
    await new Promise((done) => setTimeout(done, wait * 1000));
    await deliver(entry, item);
  }
}

// Says why words were not taken. Returns after how many seconds they are sent by themselves, 0 where they are not.
function undelivered(entry, item, error) {
  const refused = error instanceof Refused;
  const wait = refused ? error.retryAfter : 0;
  const [reason = "", ...link] = refused ? told(error) : [];
  const said = sentences(words.not_sent, reason, wait ? words.sent_then : "");
  const note = item.querySelector('[data-slot="sending"]');
  item.classList.add("is-unsent");
  note.replaceChildren(`${said} `, ...link);
  log.announce(said);
  if (wait || link.length) return wait;
  const again = Object.assign(document.createElement("button"), {
    type: "button", className: "link-button", textContent: words.send_again,
  });
  again.addEventListener("click", () => deliver(entry, item));
  note.append(again);
  // Words that cannot be used are not tried again by a page that is opened anew.
  if (refused && error.status < 500) outbox.remove(entry.ref);
  return 0;
}

function delivered(item, id) {
  const shown = log.find("message", id);
  if (shown && shown !== item) {
    item.remove();
    return;
  }
  if (!shown) item.dataset.unplaced = "";
  item.dataset.message = id;
  delete item.dataset.pending;
  item.querySelector('[data-slot="sending"]').replaceChildren();
  if (!item.querySelector("time").dateTime) log.stamp(item, new Date(clock.now()).toISOString());
}

function submit() {
  const text = field.value.replaceAll("\r\n", "\n").trim();
  const tooMany = [...text].length - limit;
  problem(tooMany > 0 && words.too_long[Number(tooMany > 1)].replace("%(count)s", tooMany));
  if (!text || tooMany > 0) return;
  field.value = "";
  grow();
  send(text);
}

function problem(...said) {
  const place = slot("composer-problem");
  place.hidden = !said[0];
  place.replaceChildren(...(said[0] ? said : []));
}

function grow() {
  field.rows = Math.min(6, field.value.split("\n").length);
}

composer.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
field.addEventListener("input", grow);
field.addEventListener("keydown", (event) => {
  // Enter also ends the composing of a Chinese character: that is not sending. On a touch screen it is a new line.
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
  if (matchMedia("(pointer: coarse)").matches) return;
  event.preventDefault();
  submit();
});
for (const button of slot("suggestions").children) {
  button.addEventListener("click", () => {
    field.value = button.textContent;
    field.focus();
  });
}
for (const form of root.querySelectorAll('[data-form="retry"], [data-form="person"]')) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      await post(form.action, {}, token);
      problem();
      if (form.dataset.form === "person") waiting.point();
    } catch (error) {
      problem(...told(error));
    } finally {
      button.disabled = false;
    }
  });
}

for (const card of root.querySelectorAll(".chat-log .card")) cards.adopt(card);
slot("suggestions").hidden = Boolean(root.dataset.lastEvent) || outbox.all().length > 0;
for (const entry of outbox.all()) postInTurn(entry);
const unfinished = outbox.take();
field.value ||= unfinished;
grow();
showTyping();
const isWide = matchMedia("(min-width: 62rem)").matches;
if (isWide || location.hash === "#chat") log.toEnd();
const sayAgain = sayWhileVisible(root.dataset.seen, token, stream);
stream.open();
