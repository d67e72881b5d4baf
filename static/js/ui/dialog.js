// A link with `data-dialog` opens the form it leads to over the page. Without scripts it is a page of its own.
//
// The form's page is fetched and its <main> put into one <dialog>. A form sent from there is sent by fetch: an answer
// that names a next page means that it is done, anything else is the form again with what was wrong. What was typed
// outlives everything but that: closing the dialog, a session that has ended, a connection that breaks.
import { reader, saySignedOut, signedOut } from "./session.js";
import { words } from "./words.js";

const HEADERS = { "X-Dialog": "1", "X-Reader": reader };
const FIELDS = "input:not([type=hidden]), select, textarea";

let dialog;
let opener = "";
// What was typed and not sent, by the link that opens the form.
const unsent = new Map();

function frame() {
  if (dialog) return dialog;
  dialog = Object.assign(document.createElement("dialog"), { className: "dialog" });
  dialog.innerHTML =
    '<div class="dialog-head"><h2></h2><button type="button" class="button button-quiet button-small" data-close>×</button></div><div class="dialog-body"></div>';
  dialog.setAttribute("aria-labelledby", "dialog-title");
  dialog.querySelector("[data-close]").setAttribute("aria-label", document.body.dataset.closeWord);
  dialog.querySelector("h2").id = "dialog-title";
  dialog.addEventListener("click", (event) => {
    if (!event.target.closest("[data-close], a[data-back]")) return;
    event.preventDefault();
    dialog.close();
  });
  closeBesideIt();
  dialog.addEventListener("input", keep);
  dialog.addEventListener("change", keep);
  dialog.addEventListener("submit", send);
  document.body.append(dialog);
  return dialog;
}

// A press beside the dialog closes it, if it began and ended there and nothing would be left behind.
function closeBesideIt() {
  let beganBeside = false;
  const beside = ({ clientX: x, clientY: y, target }) => {
    const box = dialog.getBoundingClientRect();
    return target === dialog && (x < box.left || x > box.right || y < box.top || y > box.bottom);
  };
  dialog.addEventListener("pointerdown", (event) => (beganBeside = beside(event)));
  dialog.addEventListener("pointerup", (event) => {
    if (beganBeside && beside(event) && !unsent.has(opener)) dialog.close();
  });
}

const fields = () => [...dialog.querySelectorAll(FIELDS)].filter((field) => field.name);
const isTicked = (field) => field.type === "checkbox" || field.type === "radio";

function keep() {
  unsent.set(
    opener,
    fields().map((field) => ({ name: field.name, value: field.value, checked: field.checked })),
  );
}

function restore() {
  const typed = unsent.get(opener) ?? [];
  for (const field of fields()) {
    const known = typed.find(({ name, value }) => name === field.name && (!isTicked(field) || value === field.value));
    if (!known) continue;
    const same = isTicked(field) ? field.checked === known.checked : field.value === known.value;
    if (same) continue;
    if (isTicked(field)) field.checked = known.checked;
    else field.value = known.value;
    field.dispatchEvent(new Event(field.type === "search" ? "input" : "change", { bubbles: true }));
  }
}

function show(html, address) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const main = page.querySelector("main");
  if (!main) return location.assign(address);
  const box = frame();
  box.querySelector("h2").textContent = main.querySelector("h1")?.textContent ?? "";
  const body = box.querySelector(".dialog-body");
  body.replaceChildren(...main.childNodes);
  for (const form of body.querySelectorAll("form:not([action])")) form.action = address;
  window.htmx?.process(body);
  if (!box.open) box.showModal();
  body.querySelector(`[autofocus], [aria-invalid=true], ${FIELDS}`)?.focus();
}

// Why nothing came of it, above the form, which stays as it is.
function say(notice) {
  dialog.querySelector(".dialog-body > .unsent")?.remove();
  if (typeof notice === "string") {
    const said = Object.assign(document.createElement("p"), { textContent: notice });
    notice = Object.assign(document.createElement("div"), { className: "notice tone-bad" });
    notice.setAttribute("role", "alert");
    notice.append(said);
  }
  notice.classList.add("unsent");
  dialog.querySelector(".dialog-body").prepend(notice);
}

// To the link that opened it, or the one that has come in its place meanwhile.
function comeBack(link) {
  const again = `a[data-dialog][href="${CSS.escape(link.getAttribute("href"))}"]`;
  (link.isConnected ? link : document.querySelector(again))?.focus();
}

function goOn(next) {
  const address = new URL(next, location.href);
  if (address.href.split("#")[0] !== location.href.split("#")[0]) return location.assign(address);
  history.replaceState(history.state, "", address);
  location.reload();
}

async function send(event) {
  const form = event.target;
  if (form.method !== "post" || event.defaultPrevented) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const buttons = [...form.querySelectorAll("button")];
  for (const button of buttons) button.disabled = true;
  try {
    const answer = await fetch(form.action, { method: "POST", body, headers: HEADERS });
    await told(answer, form.action);
  } catch {
    say(words("noAnswer"));
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

async function told(answer, address) {
  const next = answer.headers.get("X-Dialog-Next");
  const signIn = answer.headers.get("X-Sign-In");
  if (next) {
    unsent.delete(opener);
    goOn(next);
  } else if (signIn) say(signedOut(signIn));
  else if (answer.status === 403 || answer.status >= 500) say(words(answer.status === 403 ? "refused" : "noAnswer"));
  else show(await answer.text(), address);
}

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-dialog]");
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
  event.preventDefault();
  try {
    const answer = await fetch(link.href, { headers: HEADERS });
    const signIn = answer.headers.get("X-Sign-In");
    if (signIn) return saySignedOut(signIn);
    if (answer.status !== 200 || answer.redirected) return location.assign(link.href);
    opener = link.href;
    show(await answer.text(), link.href);
    restore();
    dialog.addEventListener("close", () => comeBack(link), { once: true });
  } catch {
    location.assign(link.href);
  }
});
