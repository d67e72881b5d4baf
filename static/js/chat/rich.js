// Bold, lists, line breaks and links within this site; everything else stays text. The same rules as
// backoffice/chat_text.py. Nodes are built one by one: what was written can never become markup of its own.
const BULLET = /^\s*[-*•]\s+([^\n]*)$/;
const NUMBERED = /^\s*\d{1,3}[.)]\s+([^\n]*)$/;
const HEADING = /^#{1,6}\s+([^\n]*)$/;
const INLINE = /\*\*([^*\n]+)\*\*|\[([^\]\n]+)\]\((\/(?!\/)[^\s()\\]*)\)/g;

function kindOf(line) {
  if (!line.trim()) return ["", ""];
  for (const [kind, pattern] of [["ul", BULLET], ["ol", NUMBERED], ["h", HEADING]]) {
    const found = pattern.exec(line);
    if (found) return [kind, found[1]];
  }
  return ["p", line.trim()];
}

function element(tag, ...children) {
  const made = document.createElement(tag);
  made.append(...children);
  return made;
}

function inline(text) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(INLINE)) {
    parts.push(text.slice(end, found.index));
    if (found[1]) {
      parts.push(element("strong", found[1]));
    } else {
      const link = element("a", found[2]);
      link.setAttribute("href", found[3]);
      parts.push(link);
    }
    end = found.index + found[0].length;
  }
  parts.push(text.slice(end));
  return parts.filter((part) => part !== "");
}

export function richNodes(text) {
  const blocks = [];
  let list = null;
  let paragraph = null;
  for (const line of text.split("\n")) {
    const [kind, content] = kindOf(line);
    if (kind !== "p") paragraph = null;
    if (list && list.localName !== kind) list = null;
    if (kind === "ul" || kind === "ol") {
      if (!list) blocks.push((list = document.createElement(kind)));
      list.append(element("li", ...inline(content)));
    } else if (kind === "h") {
      blocks.push(element("p", element("strong", ...inline(content))));
    } else if (kind === "p") {
      if (paragraph) paragraph.append(document.createElement("br"), ...inline(content));
      else blocks.push((paragraph = element("p", ...inline(content))));
    }
  }
  return blocks;
}

// What a customer wrote: no marks at all, only line breaks.
export function plainNodes(text) {
  return text.split("\n").flatMap((line, index) => (index ? [document.createElement("br"), line] : [line]));
}
