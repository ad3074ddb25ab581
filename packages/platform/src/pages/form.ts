// Reads the fields of a form as strings.
import type { Context } from "hono";
import { ApiError, type Env, readBody } from "../foundation/index.ts";

export type Fields = Record<string, string>;

const limitBytes = 1024 * 1024;

/** URL-encoded forms only; any other content has no fields. If a name occurs twice, the last value counts. */
export async function readFields({ env: { incoming } }: Context<Env>): Promise<Fields> {
  const body = await readBody(incoming, limitBytes);
  if (!/^application\/x-www-form-urlencoded\b/i.test(incoming.headers["content-type"] ?? "")) return {};
  const fields = Object.fromEntries(new URLSearchParams(body.toString("utf8")));
  // PostgreSQL cannot store NUL.
  if (Object.values(fields).some((text) => text.includes("\0")))
    throw new ApiError("validation_error", "The form contains a NUL character.");
  return fields;
}
