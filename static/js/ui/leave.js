// Whoever signs out leaves nothing behind of what they have written and not sent: the next who sits down at this computer
// may be somebody else. A session that ends by itself takes nothing: its reader comes back (session.js, outbox.js).
const WRITTEN = /^(answer|note|outbox|unfinished):/;
const LEFT = "left";
// A browser may put back what stood in them, should somebody go back to the page.
const FIELDS = "textarea, input[type=text], input[type=search], input:not([type])";

function forget(storage) {
  for (const key of Object.keys(storage)) if (WRITTEN.test(key)) storage.removeItem(key);
}

// A browser that keeps nothing has nothing to forget. `left` is told to the page as well, which may hold words of its own.
function forgetAll(tell) {
  for (const field of document.querySelectorAll(FIELDS)) field.value = "";
  document.dispatchEvent(new Event("left"));
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
// Each tab keeps what was written in it by itself: in its storage, in its fields, and in what its scripts remember. An open
// page is therefore left, too. No reload: that would send a form once more, and may put back what stood in the fields.
addEventListener("storage", ({ key, newValue }) => {
  if (key !== LEFT || !newValue) return;
  forgetAll(false);
  location.replace("/accounts/login/");
});
