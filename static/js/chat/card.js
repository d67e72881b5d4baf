// Confirm cards: drawn from events into clones of the one template, pressed once, counted down.
import { post } from "./http.js";

const slot = (root, name) => root.querySelector(`[data-slot="${name}"]`);

function fillList(list, rows, fill) {
  const pattern = list.firstElementChild;
  list.replaceChildren(
    ...rows.map((row) => {
      const made = pattern.cloneNode(true);
      fill(made, row);
      return made;
    }),
  );
}

function set(root, name, text) {
  slot(root, name).textContent = text ?? "";
}

// The card keeps the focus when its buttons are switched off or go: whoever has no mouse reads on from there.
function holdFocus(card) {
  card.tabIndex = -1;
  card.focus({ preventScroll: true });
}

export class Cards {
  // `told` gives what to say of a request that has failed, as text and nodes.
  constructor({ template, words, number, token, clock, told, askAgain }) {
    Object.assign(this, { template, words, number, token, clock, told, askAgain });
    setInterval(() => this.tick(), 1000);
  }

  // A new list item for a card event.
  draw(data) {
    const item = this.template.content.firstElementChild.cloneNode(true);
    const card = item.querySelector(".card");
    const base = data.quote_id
      ? `/refunds/quotes/${encodeURIComponent(data.quote_id)}/`
      : `/orders/${encodeURIComponent(this.number)}/chat/cards/${encodeURIComponent(data.card_id)}/`;
    Object.assign(card.dataset, {
      card: data.card_id, kind: data.kind, expires: data.expires_at, confirm: `${base}confirm/`, decline: `${base}decline/`,
    });
    for (const name of ["title", "button", "explanation"]) set(card, name, data[name]);
    set(card.querySelector(".card-amount"), "display", data.display);
    // A sum of one step would only say the same again.
    slot(card, "explanation").hidden = !data.explanation || data.steps?.length === 1;
    card.querySelector('[data-part="money"]').hidden = !data.display;
    fillList(slot(card, "lines"), data.lines ?? [], (row, line) => {
      set(row, "name", line.name);
      set(row, "quantity", line.quantity);
      set(row, "reason", this.words.reasons[line.reason] ?? line.reason);
      set(row, "becomes", line.becomes);
      slot(row, "becomes").hidden = !line.becomes;
    });
    slot(card, "lines").hidden = !data.lines?.length;
    fillList(slot(card, "places"), data.places ?? [], (row, place) => {
      set(row, "label", place.label);
      set(row, "text", place.text);
    });
    slot(card, "places").hidden = !data.places?.length;
    fillList(slot(card, "steps"), data.steps ?? [], (row, step) => {
      set(row, "text", step.text);
      set(row, "display", step.display);
    });
    fillList(slot(card, "to"), data.to ?? [], (row, to) => {
      set(row, "label", to.label);
      set(row, "display", to.display);
    });
    const until = slot(card, "until");
    until.dateTime = data.expires_at;
    until.textContent = this.clock.time(data.expires_at);
    if (!data.quote_id) card.querySelector('[data-ask-again="quote"]').remove();
    this.adopt(card, data.state, data.because);
    return item;
  }

  // Bring a card to life, whoever drew it.
  adopt(card, state = card.dataset.state, because = "") {
    for (const form of card.querySelectorAll("form[data-press]")) {
      form.action = card.dataset[form.dataset.press];
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.press(card, form.dataset.press);
      });
    }
    for (const again of card.querySelectorAll("[data-ask-again]")) {
      again.hidden = false;
      again.addEventListener("click", () => {
        again.disabled = true;
        this.askAgain(this.again(card));
      });
    }
    this.show(card, state, because);
    this.tick();
  }

  // In place: what a press has come to stands on the card, whether the stream or the answer tells first how it ended.
  // `because`: of a declined card, that nobody declined it; it was taken back when the customer wrote.
  show(card, state, because = "") {
    if (card.dataset.state === state) return;
    const hadFocus = card.contains(document.activeElement);
    card.dataset.state = state;
    const shown = state === "declined" && because ? "taken_back" : state;
    for (const part of card.querySelectorAll("[data-when]")) part.hidden = part.dataset.when !== shown;
    if (state === "confirmed") this.problem(card);
    if (hadFocus) holdFocus(card);
  }

  // What the customer is made to say by the button that asks again: which goods, and why, however much was said since.
  again(card) {
    const pattern = this.words.work_out_again[card.dataset.kind];
    if (!pattern) return this.words.quote_again;
    const goods = [...slot(card, "lines").children].map((row) => {
      const [name, quantity, reason] = ["name", "quantity", "reason"].map((each) => slot(row, each).textContent.trim());
      return reason ? this.words.goods_and_why.replace(/%\((\w+)\)s/g, (_, each) => ({ name, quantity, reason })[each]) : `${name} × ${quantity}`;
    });
    return pattern.replace("%(goods)s", () => goods.join(this.words.between));
  }

  async press(card, button) {
    if (card.dataset.pressing) return;
    this.pressing(card, button);
    try {
      const answer = await post(card.dataset[button], {}, this.token);
      this.show(card, button === "confirm" ? "confirmed" : "declined", answer.because);
      const result = answer.refund ?? answer.return;
      const parts = [result?.state_text, result?.display, result?.refund_id ?? result?.return_id];
      if (answer.said) set(card, "outcome", answer.said);
      else if (result) set(card, "outcome", parts.filter(Boolean).join(" · "));
    } catch (error) {
      if (card.dataset.state !== "confirmed") this.problem(card, ...this.told(error));
    } finally {
      this.pressing(card, "");
    }
  }

  pressing(card, button) {
    card.dataset.pressing = button;
    if (button && card.contains(document.activeElement)) holdFocus(card);
    if (!button) delete card.dataset.pressing;
    for (const each of card.querySelectorAll(".card-actions button")) each.disabled = Boolean(button);
    const confirm = slot(card, "button");
    if (button === "confirm") {
      confirm.dataset.words = confirm.textContent;
      confirm.textContent = this.words.confirming;
      this.problem(card);
    } else if (confirm.dataset.words) {
      confirm.textContent = confirm.dataset.words;
      delete confirm.dataset.words;
    }
  }

  problem(card, ...said) {
    const place = slot(card, "problem");
    place.replaceChildren(...said);
    place.hidden = !said.length;
  }

  // Every second: how long open cards still hold. The clock is the server's, whatever the visitor's clock says.
  tick() {
    for (const card of document.querySelectorAll('.card[data-state="open"]')) {
      const left = Math.floor((Date.parse(card.dataset.expires) - this.clock.now()) / 1000);
      if (left <= 0 && !card.dataset.pressing) {
        this.show(card, "expired");
        continue;
      }
      const time = `${Math.floor(Math.max(left, 0) / 60)}:${String(Math.max(left, 0) % 60).padStart(2, "0")}`;
      slot(card, "left").textContent = ` · ${this.words.left.replace("%(time)s", time)}`;
      card.classList.toggle("card-hurry", left < 120);
    }
  }
}
