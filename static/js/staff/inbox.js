// The inbox hears that something is new and asks for its list again: at most once a second, and when the page is looked
// at. Without the stream it asks every few seconds by itself (hx-trigger).
import { Stream } from "../chat/stream.js";

const PAUSE = 1000;

let waiting = null;
let last = 0;
function ask() {
  if (waiting || document.hidden) return;
  waiting = setTimeout(() => {
    waiting = null;
    last = Date.now();
    document.getElementById("queue")?.dispatchEvent(new Event("news"));
  }, Math.max(0, last + PAUSE - Date.now()));
}

const place = document.getElementById("queue");
if (place) {
  const stream = new Stream(place.dataset.events, "", { apply: ask, connected: () => {}, ephemeral: ["news"] });
  stream.open();
  document.addEventListener("visibilitychange", ask);
}
