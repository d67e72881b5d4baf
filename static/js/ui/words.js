// The sentences that scripts say, in the reader's language: the page brings them along (templates/staff/_words.html).
export const words = (name) => document.getElementById("words")?.dataset[name] ?? "";
