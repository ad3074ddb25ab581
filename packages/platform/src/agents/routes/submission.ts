// A request over HTTP as a submission: its caller, its client and its `Idempotency-Key`.
import { createHash } from "node:crypto";
import { parseTraceparent } from "@agentcli/host/otel";
import type { Call } from "../../foundation/index.ts";
import type { CreatedAgent, IdempotencyKey, Submission } from "../submit/index.ts";

/** Five images of 15 MB in base64, and the text around them. */
export const promptLimitBytes = 110 * 1024 * 1024;

type AnyCall = Pick<Call<unknown, unknown, unknown>, "principal" | "requestId" | "rawBody" | "header" | "context">;

/** Submits, and marks the answer where an earlier request with the same key is answered again. */
export async function submitCall<Created extends CreatedAgent>(
  call: AnyCall,
  submit: (submission: Submission) => Promise<Created>,
): Promise<Created> {
  const { principal, requestId, header, context } = call;
  const client = header("x-platform-client-type") ?? header("x-cursor-client-type");
  const source = client === "sdk" ? "SDK" : header("authorization") === undefined ? "WEBSITE" : "API";
  const traceparent = validTraceparent(header("traceparent"));
  const created = await submit({ principal, requestId, source, traceparent, idempotencyKey: idempotencyKeyOf(call) });
  if (created.replayed) context.header("Idempotency-Replayed", "true");
  return created;
}

/** As the standard asks: what is not valid counts as absent. */
const validTraceparent = (text: string | undefined): string | undefined => (parseTraceparent(text) ? text : undefined);

function idempotencyKeyOf({ rawBody, header, context: { req } }: AnyCall): IdempotencyKey | null {
  const key = header("idempotency-key");
  if (key === undefined) return null;
  const hash = createHash("sha256").update(`${req.method} ${req.path.toLowerCase()}\n`).update(rawBody).digest();
  return { key, hash };
}
