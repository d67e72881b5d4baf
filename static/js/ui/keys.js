// Keys for those who work here all day. A list with `data-rows` is walked with j and k; `data-key` names a control's key;
// of several, the one in the `data-item` that one is in, and in a list what its row names.

const typing = (node) => node?.closest("input, textarea, select, [contenteditable]");

function rows() {
  return [...document.querySelectorAll("[data-rows] [data-row]")].filter((row) => row.offsetParent);
}

function walk(step) {
  const all = rows();
  if (!all.length) return;
  const here = all.indexOf(document.activeElement);
  const at = here < 0 ? all.findIndex((row) => row.getAttribute("aria-current")) : here;
  const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + step));
  all[next].focus();
  all[next].scrollIntoView({ block: "nearest" });
}

// What a key does to the row that one is on, where the page has nothing for that key: `data-opens-r` leads somewhere,
// `data-sends-t` is where the page's #row-form is sent to, from the colleague in `data-from`, if any.
function pressRow(key) {
  const row = document.activeElement?.closest("[data-row]");
  const opens = row?.getAttribute(`data-opens-${key}`);
  const sends = row?.getAttribute(`data-sends-${key}`);
  if (opens) location.assign(opens);
  else if (sends) {
    const form = document.getElementById("row-form");
    form.action = sends;
    form.elements.from.value = row.dataset.from;
    form.requestSubmit();
  }
  return Boolean(opens || sends);
}

function press(key) {
  const here = document.activeElement?.closest("[data-item]");
  const all = [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].filter((node) => node.offsetParent);
  const target = all.find((node) => here?.contains(node)) ?? all[0];
  if (!target) return /^[a-z]$/.test(key) && pressRow(key);
  if (target.matches("input, textarea")) target.focus();
  else target.click();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape" && typing(event.target)) return event.target.blur();
  if (typing(event.target) || document.querySelector("dialog[open]")) return;
  if (event.key === "j") walk(1);
  else if (event.key === "k") walk(-1);
  else if (event.key === "/") document.getElementById("desk-search")?.focus();
  else if (event.key === "?") document.getElementById("keys")?.showModal();
  else if (!press(event.key)) return;
  event.preventDefault();
});

for (const button of document.querySelectorAll("[data-opens]")) {
  button.hidden = false;
  button.addEventListener("click", () => document.getElementById(button.dataset.opens)?.showModal());
}

// A menu closes when one looks elsewhere.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details[data-menu].menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
