// Somebody looks at the page: said while it is visible, and once more when it is left or hidden. An open connection
// says nothing, it stays in a tab that nobody looks at; who does not look is told by e-mail (agent/presence.py).
const EVERY = 20000;

export function sayWhileVisible(address, token) {
  const say = () => navigator.sendBeacon(address, new URLSearchParams({ csrfmiddlewaretoken: token }));
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
}
