// The note that is being written outlives every other button of the page, and a session that ends: until the server has it.
const fold = document.getElementById("note-fold");
const field = fold?.querySelector("textarea");
const token = fold?.querySelector('[name="token"]');
// A colleague who signs in in the same tab finds nothing of it.
const key = `note:${fold?.dataset.reader}:${location.pathname}`;

// A browser that keeps nothing only loses what a reload would have saved.
function keep(sent = false) {
  try {
    if (field.value) sessionStorage.setItem(key, JSON.stringify({ text: field.value, token: token.value, sent }));
    else sessionStorage.removeItem(key);
  } catch {
    // As above.
  }
}

function remembered() {
  try {
    return JSON.parse(sessionStorage.getItem(key));
  } catch {
    return null;
  }
}

function show() {
  const known = remembered();
  if (field.value) keep(); // it comes back from a press that was refused
  else if (known?.sent && fold.dataset.sent.split(" ").includes(known.token)) keep();
  else if (known) {
    field.value = known.text;
    // It may have arrived all the same: sent once more it is still the same note.
    if (known.sent) token.value = known.token;
    fold.open = true;
  }
}

if (fold) {
  show();
  field.addEventListener("input", () => keep());
  field.form.addEventListener("submit", () => keep(true));
  fold.addEventListener("toggle", () => fold.open && field.focus());
}
