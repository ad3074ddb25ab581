// A form that creates an agent or a run as a submission. Its hidden key makes a repeated submit, such as a double click, harmless.
import { createHash, randomUUID } from "node:crypto";
import type { Context } from "hono";
import type { Submission } from "../agents/index.ts";
import type { Env } from "../foundation/index.ts";
import type { Fields } from "./form.ts";
import { type Html, html } from "./html.ts";
import type { Visitor } from "./session.ts";

/** A new key for every form that is shown. */
export const hiddenSubmission = (): Html => html`<input type="hidden" name="submission" value="${randomUUID()}">`;

export function submissionOf(context: Context<Env>, { principal }: Visitor, fields: Fields): Submission {
  const requestId = context.get("requestId");
  const { submission, token: _, ...content } = fields;
  if (!submission) return { principal, requestId, source: "WEBSITE", idempotencyKey: null };
  const hash = createHash("sha256")
    .update(`${context.req.path}\n${JSON.stringify(content)}`)
    .digest();
  // The content is part of the key: going back, changing the form and sending it again is another request, not a conflict.
  const key = `form-${submission}-${hash.toString("hex")}`;
  return { principal, requestId, source: "WEBSITE", idempotencyKey: { key, hash } };
}
