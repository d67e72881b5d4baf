// What was done says so in the corner and leaves by itself; what was refused stays on the page.

const STAYS = 10_000;

function corner() {
  const known = document.querySelector(".toasts");
  if (known) return known;
  const made = Object.assign(document.createElement("div"), { className: "toasts" });
  made.setAttribute("role", "status");
  document.body.append(made);
  return made;
}

export function toast(text, tone = "") {
  const box = Object.assign(document.createElement("div"), { className: `toast ${tone}` });
  const close = Object.assign(document.createElement("button"), { type: "button", textContent: "×" });
  close.setAttribute("aria-label", document.body.dataset.closeWord);
  box.append(Object.assign(document.createElement("p"), { textContent: text }), close);
  corner().append(box);
  let timer = setTimeout(() => box.remove(), STAYS);
  box.addEventListener("pointerenter", () => clearTimeout(timer));
  box.addEventListener("pointerleave", () => (timer = setTimeout(() => box.remove(), STAYS)));
  close.addEventListener("click", () => box.remove());
}

for (const notice of document.querySelectorAll(".notices .notice.tone-good")) {
  toast(notice.textContent.trim());
  const box = notice.parentElement;
  notice.remove();
  if (!box.childElementCount) box.remove();
}
