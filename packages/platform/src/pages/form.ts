// What a form of a page holds, as texts.
import type { Context } from "hono";
import { ApiProblem, type Env, readBody } from "../http/index.ts";

export type Fields = Record<string, string>;

const limitBytes = 1024 * 1024;

/** As browsers send forms without files; anything else holds nothing. Of a name that comes twice the last counts. */
export async function readFields({ env: { incoming } }: Context<Env>): Promise<Fields> {
  const body = await readBody(incoming, limitBytes);
  if (!/^application\/x-www-form-urlencoded\b/i.test(incoming.headers["content-type"] ?? "")) return {};
  const fields = Object.fromEntries(new URLSearchParams(body.toString("utf8")));
  // The database cannot hold it.
  if (Object.values(fields).some((text) => text.includes("\0")))
    throw new ApiProblem("validation_error", "The form contains a NUL character.");
  return fields;
}
