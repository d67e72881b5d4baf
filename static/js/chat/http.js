// Posting a form's fields, and the server's one error object in words.
import { sentences } from "./prose.js";

// Answers that stay the same as long as the page stands: signed out, somebody else by now, its form out of date.
export const FOR_GOOD = [401, 403, 404, 410];

export class Refused extends Error {
  constructor(body, status) {
    super(sentences(body.message, body.hint));
    this.code = body.code ?? "";
    this.status = status;
    this.forGood = FOR_GOOD.includes(status);
    this.retryAfter = Number(body.details?.retry_after ?? 0);
  }
}

// Resolves with the JSON answer. Rejects with Refused when the server said no, with TypeError when it was not reached.
export async function post(address, fields, token) {
  const response = await fetch(address, {
    method: "POST",
    headers: { Accept: "application/json", "X-CSRFToken": token },
    body: new URLSearchParams(fields),
    credentials: "same-origin",
    redirect: "error",
  });
  const body = await response.json().catch(() => null);
  if (response.ok && body) return body;
  throw new Refused(body ?? {}, response.status);
}
