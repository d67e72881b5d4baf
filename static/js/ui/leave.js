// Whoever signs out leaves nothing behind of what they have written and not sent: the next who sits down at this computer
// may be somebody else. A session that ends by itself takes nothing: its reader comes back (session.js, outbox.js).
const WRITTEN = /^(answer|note|outbox|unfinished):/;
const LEFT = "left";

function forget(storage) {
  for (const key of Object.keys(storage)) if (WRITTEN.test(key)) storage.removeItem(key);
}

// A browser that keeps nothing has nothing to forget.
function forgetAll(tell) {
  try {
    forget(sessionStorage);
    forget(localStorage);
    if (tell) localStorage.setItem(LEFT, Date.now());
    localStorage.removeItem(LEFT);
  } catch {
    // As above.
  }
}

document.addEventListener("submit", ({ target }) => {
  if (new URL(target.action, location.href).pathname.endsWith("/logout/")) forgetAll(true);
});
// Each tab keeps what was written in it by itself.
addEventListener("storage", ({ key, newValue }) => key === LEFT && newValue && forgetAll(false));
