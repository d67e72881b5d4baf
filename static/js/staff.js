// Small help on staff screens; every form works without it.
import "./ui/dialog.js";
import "./ui/keys.js";
import "./ui/live.js";
import "./ui/session.js";
import "./ui/toast.js";
import "./staff/counts.js";

// A live part that could not be fetched says so where it stands, instead of showing something stale. Where only the
// session has ended, what is there stays, and ui/session.js says how to go on.
const failed = document.querySelector("[data-failed-words]")?.dataset.failedWords;
for (const kind of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  document.body.addEventListener(kind, (event) => {
    const { target, xhr } = event.detail;
    if (!failed || xhr?.status === 401 || !target?.matches("[data-live]")) return;
    const notice = Object.assign(document.createElement("p"), { className: "notice tone-bad", textContent: failed });
    notice.setAttribute("role", "alert");
    target.replaceChildren(notice);
    target.dataset.failed = "";
  });
}

// Changing a quantity or a reason means that line: tick it.
document.body.addEventListener("input", (event) => {
  const row = event.target.closest(".choice-row");
  if (row && event.target.type !== "checkbox") row.querySelector('input[type="checkbox"]').checked = true;
});

// A dialog brings its own buttons, so the page listens for all of them.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copy);
  field.select();
  await navigator.clipboard?.writeText(field.value);
  button.textContent = button.dataset.done;
});
