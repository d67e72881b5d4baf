// Somebody looks at the page: said while it is visible, and once more when it is left or hidden, with the newest event
// that it shows. An open connection says nothing, it stays in a tab that nobody looks at; who does not look is told by
// e-mail (agent/presence.py). Nor does a page that has not heard the server of late: what is new is not on it.
const EVERY = 20000;

// `stream` tells what the page shows, and whether it still hears. Returns what to call when it hears again.
export function sayWhileVisible(address, token, stream) {
  let unsaid = false;
  const say = () => {
    unsaid = !stream.hears;
    if (unsaid) return;
    const fields = { csrfmiddlewaretoken: token, last_event: stream.lastEvent };
    navigator.sendBeacon(address, new URLSearchParams(fields));
  };
  const isVisible = () => document.visibilityState === "visible";
  // A page that is opened in the background has not been looked at when it is closed there.
  let seen = isVisible();
  const changed = () => {
    if (seen || isVisible()) say();
    seen = isVisible();
  };
  if (seen) say();
  setInterval(() => isVisible() && say(), EVERY);
  document.addEventListener("visibilitychange", changed);
  window.addEventListener("pagehide", () => {
    if (seen) say();
    seen = false;
  });
  window.addEventListener("pageshow", (event) => event.persisted && changed());
  return () => unsaid && isVisible() && say();
}
