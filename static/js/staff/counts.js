// Counting a parcel: a piece that is found damaged, wrong or missing is no accepted one, so that field gives it up.
document.body.addEventListener("input", ({ target }) => {
  const box = target.closest("[data-counts]");
  if (!box) return;
  const fields = [...box.querySelectorAll("input")];
  const accepted = box.querySelector(".count-accepted input");
  if (target === accepted) return;
  const others = fields.filter((field) => field !== accepted).reduce((sum, field) => sum + (Number(field.value) || 0), 0);
  accepted.value = Math.max(0, Number(box.dataset.counts) - others);
});
