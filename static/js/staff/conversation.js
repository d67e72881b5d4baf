// A conversation that is open before staff: the reply that is being written is shown as it grows, and what was said is
// fetched again as soon as something is new. Without the stream the page asks every few seconds, as it does anyway.
import { richNodes } from "../chat/rich.js";
import { Stream } from "../chat/stream.js";
import "./answer.js";
import "./desk.js";
import { isAtNewest, toNewest } from "./newest.js";
import "./note.js";

const GATHER = 150;
const place = document.getElementById("draft");
const text = place?.querySelector('[data-slot="text"]');
let draft = { key: "", text: "" };

function show(key, words) {
  draft = { key, text: words };
  const follow = isAtNewest();
  text.replaceChildren(...richNodes(words));
  place.hidden = !words;
  if (follow) toNewest();
}

let asking = null;
function fetchLog() {
  asking ??= setTimeout(() => {
    asking = null;
    document.getElementById("log").dispatchEvent(new Event("news"));
    fetchBeside();
  }, GATHER);
}

// The list beside moves as well, and need not follow at once.
const UNHURRIED = 2000;
let later = null;
function fetchBeside() {
  later ??= setTimeout(() => {
    later = null;
    document.getElementById("beside")?.dispatchEvent(new Event("news"));
  }, UNHURRIED);
}

const pieces = {
  draft: (data) => show(data.draft, data.text),
  delta({ draft: key, offset, text: words }) {
    const have = draft.key === key ? draft.text : "";
    if (offset > have.length) stream.open(); // a piece is missing: the stream begins with the whole draft
    else show(key, have + words.slice(have.length - offset)); // a piece sent again says nothing twice
  },
  draft_dropped: ({ draft: key }) => key === draft.key && show("", ""),
};

// The draft gives way when what was said stands in the log.
let over = false;
let follow = false;
document.body.addEventListener("htmx:beforeSwap", ({ target }) => {
  if (target.id === "log") follow = isAtNewest();
});
document.body.addEventListener("htmx:afterSwap", ({ target }) => {
  if (target.id !== "log") return;
  if (over) show("", "");
  over = false;
  if (follow) toNewest();
});

function apply(kind, data) {
  if (kind in pieces) {
    pieces[kind](data);
    return;
  }
  if (kind === "message" && data.draft && data.draft === draft.key) over = true;
  else if (kind === "turn" || (kind === "conversation" && data.owner)) show("", "");
  fetchLog();
}

const stream = place && new Stream(place.dataset.events, place.dataset.lastEvent, {
  apply,
  connected: (yes) => yes && fetchLog(),
  newConversation: () => location.reload(),
});
stream?.open();
