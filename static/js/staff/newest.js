// Where the window is too narrow for panes, the page itself scrolls; where there are panes, it has nowhere to go. It opens at
// the newest words, as a talk does, and goes on with them for whoever is there. Whoever has scrolled up, or down to the order,
// stays where they are.
const NEAR = 140;
const page = document.scrollingElement;
const talk = document.querySelector(".talk-scroll");
const foot = document.querySelector(".talk-foot");

// With the field for the answer beneath the words; where that is taller than half a window, the words come first.
function end() {
  const beyond = foot.getBoundingClientRect().bottom - innerHeight;
  const words = talk.getBoundingClientRect().bottom - innerHeight / 2;
  return Math.max(0, page.scrollTop + Math.min(beyond, words));
}

export const isAtNewest = () => Math.abs(end() - page.scrollTop) < NEAR;

export function toNewest() {
  if (end() > page.scrollTop) page.scrollTop = end();
}

// Now, and not later: where an address names a place (`#reply`), and where somebody comes back, the browser goes there once the
// scripts have run, and that counts.
toNewest();
