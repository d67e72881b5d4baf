// Parts of a page that are exchanged while somebody is working in it. Nobody loses their place by it.

// Somebody is in it: its turn comes once they are not. `data-waits` marks a part that holds forms.
function isBusy(part) {
  if (part.contains(document.activeElement) || part.querySelector("details[open]")) return true;
  return [...part.querySelectorAll("input:not([type=hidden]), select, textarea")].some(isChanged);
}

function isChanged(field) {
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field.matches("select")) return [...field.options].some((option) => option.selected !== startsSelected(field, option));
  return field.value !== field.defaultValue;
}

// Where no option is marked, a browser chooses the first.
function startsSelected(field, option) {
  const marked = [...field.options].filter((each) => each.defaultSelected);
  return option === (marked.at(-1) ?? field.options[0]);
}

const sameWords = (one, other) => one.textContent.replace(/\s+/g, " ") === other.textContent.replace(/\s+/g, " ");

document.body.addEventListener("htmx:beforeRequest", (event) => {
  if (event.target.matches("[data-waits]") && isBusy(event.target)) event.preventDefault();
});
document.body.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.matches("[data-waits]") && isBusy(detail.target)) detail.shouldSwap = false;
});
// `data-steady` marks a part that is exchanged only when it says something else.
document.body.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
  const { target, fragment } = detail;
  const waits = target.matches("[data-waits]") && isBusy(target);
  if (waits || (target.matches("[data-steady]") && sameWords(target, fragment))) detail.shouldSwap = false;
});

// What was unfolded stays unfolded when the part that it is in is exchanged.
const unfolded = new Set();
for (const kind of ["htmx:beforeSwap", "htmx:oobBeforeSwap"]) {
  document.body.addEventListener(kind, ({ detail }) => {
    for (const fold of detail.target.querySelectorAll("details[id]")) unfolded[fold.open ? "add" : "delete"](fold.id);
  });
}
for (const kind of ["htmx:afterSwap", "htmx:oobAfterSwap"]) {
  document.body.addEventListener(kind, () => {
    for (const id of unfolded) document.getElementById(id)?.setAttribute("open", "");
  });
}
