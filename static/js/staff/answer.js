// The answer that is being written. The form follows who answers, while the page is open; what was typed stays: when a
// colleague takes over or closes, when one takes over oneself (the page is loaded anew), and until the server has it: a
// session that has ended and a request that breaks take nothing away.
const part = () => document.getElementById("answer");
const field = () => part()?.querySelector("textarea");
const tokenField = () => part()?.querySelector('[name="token"]');
// A colleague who signs in in the same tab finds nothing of it.
const key = () => `answer:${part().dataset.reader}:${location.pathname}`;

// A browser that keeps nothing only loses what a reload would have saved.
let typed = { text: "", token: "", sent: false };
function keep(text, { sent = false } = {}) {
  typed = { text, token: tokenField()?.value ?? "", sent };
  try {
    if (text) sessionStorage.setItem(key(), JSON.stringify(typed));
    else sessionStorage.removeItem(key());
  } catch {
    // As above.
  }
}

function remembered() {
  try {
    return JSON.parse(sessionStorage.getItem(key())) ?? typed;
  } catch {
    return typed;
  }
}

// What the server has put there is newer: it comes back from a press that was refused.
function show() {
  const place = field();
  if (!place) return;
  const { text, token, sent } = remembered();
  if (place.value) keep(place.value);
  else if (sent && part().dataset.sent.split(" ").includes(token)) keep("");
  else {
    place.value = text;
    // It may have arrived all the same: sent once more it is still the same answer.
    if (sent && tokenField()) tokenField().value = token;
  }
  const unsent = place.closest('[data-slot="unsent"]');
  if (unsent) unsent.hidden = !place.value;
}

document.body.addEventListener("input", (event) => event.target === field() && keep(event.target.value));
document.body.addEventListener("submit", (event) => part()?.contains(event.target) && keep(field().value, { sent: true }));

// Each piece of news brings the form along. It is exchanged only when somebody else answers than before, and then whoever
// is writing in it goes on where they were; its token stays, too, so that a second press is still the same answer.
let writing = null;
document.body.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
  if (detail.target.id !== "answer") return;
  const fresh = detail.fragment.matches?.("#answer") ? detail.fragment : detail.fragment.querySelector("#answer");
  detail.shouldSwap = fresh.dataset.answers !== detail.target.dataset.answers;
  if (!detail.shouldSwap) return;
  const place = field();
  const token = fresh.querySelector('[name="token"]');
  const before = detail.target.querySelector('[name="token"]');
  if (token && before) token.value = before.value;
  // A field that was made larger has a style, which htmx would copy as an attribute, and the page's policy refuses.
  place?.removeAttribute("style");
  writing = place === document.activeElement ? [place.selectionStart, place.selectionEnd] : null;
});
document.body.addEventListener("htmx:oobAfterSwap", ({ detail }) => {
  if (detail.target.id !== "answer" || !detail.shouldSwap) return;
  show();
  const place = field();
  if (writing && place && !place.readOnly) {
    place.focus({ preventScroll: true });
    place.setSelectionRange(...writing);
  }
  writing = null;
});

show();
