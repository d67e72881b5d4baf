// Around the talk: who writes and who looks is told with each question for news, ready-made answers and the copilot's
// drafts go into the field.
const field = () => document.querySelector("#answer textarea:not([readonly])");

document.body.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.elt.id !== "log") return;
  if (field()?.value.trim()) detail.parameters.typing = "1";
  // What it showed is gone: it has to come again, also if nothing is new.
  if ("failed" in detail.elt.dataset) detail.parameters.after = "";
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

// `r` in the inbox leads here.
if (location.hash === "#reply") field()?.focus();
