// A link with `data-dialog` opens the form it leads to over the page. Without scripts it is a page of its own.
//
// The form's page is fetched and its <main> put into one <dialog>. A form sent from there is sent by fetch: a
// redirect means that it is done, anything else is the form again with what was wrong.

let dialog;

function frame() {
  if (dialog) return dialog;
  dialog = Object.assign(document.createElement("dialog"), { className: "dialog" });
  dialog.innerHTML =
    '<div class="dialog-head"><h2></h2><button type="button" class="button button-quiet button-small" data-close>×</button></div><div class="dialog-body"></div>';
  dialog.setAttribute("aria-labelledby", "dialog-title");
  dialog.querySelector("[data-close]").setAttribute("aria-label", document.body.dataset.closeWord);
  dialog.querySelector("h2").id = "dialog-title";
  dialog.addEventListener("click", (event) => {
    const back = event.target.closest("[data-close], a[data-back]");
    if (event.target === dialog || back) {
      event.preventDefault();
      dialog.close();
    }
  });
  dialog.addEventListener("submit", send);
  document.body.append(dialog);
  return dialog;
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
  body.querySelector("[autofocus], [aria-invalid=true], input:not([type=hidden]), select, textarea")?.focus();
}

async function send(event) {
  const form = event.target;
  if (form.method !== "post" || event.defaultPrevented) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const buttons = [...form.querySelectorAll("button")];
  for (const button of buttons) button.disabled = true;
  try {
    const answer = await fetch(form.action, { method: "POST", body, headers: { "X-Dialog": "1" } });
    if (answer.redirected) {
      const same = answer.url.split("#")[0] === location.href.split("#")[0];
      return same ? location.reload() : location.assign(answer.url);
    }
    show(await answer.text(), form.action);
  } catch {
    form.submit(); // the browser's own page says what is wrong with the connection
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-dialog]");
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
  event.preventDefault();
  try {
    const answer = await fetch(link.href, { headers: { "X-Dialog": "1" } });
    if (!answer.ok || answer.redirected) return location.assign(link.href);
    show(await answer.text(), link.href);
    dialog.addEventListener("close", () => link.focus(), { once: true });
  } catch {
    location.assign(link.href);
  }
});
