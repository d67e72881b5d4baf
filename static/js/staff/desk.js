// Around the talk: who writes and who looks is told with each question for news, ready-made answers and the copilot's
// drafts go into the field, and a note that is unfolded is ready to be written.
const field = () => document.querySelector("#answer textarea:not([readonly])");

document.body.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.elt.id !== "log") return;
  if (field()?.value.trim()) detail.parameters.typing = "1";
  if (!document.hidden) detail.parameters.seen = "1";
});

document.addEventListener("click", (event) => {
  const chosen = event.target.closest("[data-insert]");
  const place = field();
  if (!chosen || !place) return;
  event.preventDefault();
  place.setRangeText(chosen.dataset.insert, place.selectionStart, place.selectionEnd, "end");
  place.dispatchEvent(new Event("input", { bubbles: true }));
  const menu = chosen.closest("details.menu");
  if (menu) menu.open = false;
  place.focus();
});

const fold = document.getElementById("note-fold");
fold?.addEventListener("toggle", () => fold.open && fold.querySelector("textarea").focus());
