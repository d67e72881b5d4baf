// Whole sentences, one after the other; empty ones are left out. Chinese puts no space between them.
export function sentences(...parts) {
  return parts.filter(Boolean).join(document.documentElement.lang.startsWith("zh") ? "" : " ");
}
