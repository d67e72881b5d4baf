// A session that has ended takes nothing from an open page: what is there stays, and the page says how to go on. The
// sign-in opens beside it; afterwards this page goes on where it was, with the token that the new session knows.
//
// That may be somebody else's session. Each form that is given the new token, and each request of a script, therefore says
// whose page it comes from, and the gate refuses another's (backoffice/screens/gate.py).
import { words } from "./words.js";

const TOKEN = "csrfmiddlewaretoken";
const READER = "page_reader";
export const reader = document.body.dataset.reader ?? "";

function cookie(name) {
  return document.cookie.split("; ").find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
}

// The forms of a page that is older than the sign-in hold a token that is none any more.
function renew(form) {
  const field = form?.elements?.namedItem?.(TOKEN);
  const token = cookie("csrftoken");
  if (!field || !token) return;
  field.value = token;
  if (form.elements.namedItem(READER)) return;
  form.append(Object.assign(document.createElement("input"), { type: "hidden", name: READER, value: reader }));
}
document.addEventListener("submit", (event) => renew(event.target), { capture: true });
document.addEventListener("htmx:configRequest", ({ detail }) => {
  detail.headers["X-Reader"] = reader;
  const token = cookie("csrftoken");
  if (token && detail.parameters[TOKEN]) detail.parameters[TOKEN] = token;
});

// "You are signed out", with the way to the sign-in.
export function signedOut(address) {
  const notice = Object.assign(document.createElement("div"), { className: "notice tone-wait signed-out" });
  notice.setAttribute("role", "alert");
  const said = document.createElement("p");
  const link = Object.assign(document.createElement("a"), { href: address, target: "_blank", textContent: words("signIn") });
  said.append(words("signedOut"), " ", link);
  notice.append(said);
  return notice;
}

let shown = null;
export function saySignedOut(address) {
  if (!address || shown?.isConnected) return;
  shown = signedOut(address);
  document.getElementById("content").prepend(shown);
}
document.addEventListener("htmx:responseError", ({ detail }) => saySignedOut(detail.xhr.getResponseHeader("X-Sign-In")));
document.addEventListener("htmx:afterOnLoad", ({ detail }) => {
  if (!detail.successful) return;
  shown?.remove();
  shown = null;
});
