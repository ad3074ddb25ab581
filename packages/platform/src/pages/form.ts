// Reads the fields of a form as strings.
import type { Context } from "hono";
import { type Api, ApiError, type Env, type Principal, readBody } from "../foundation/index.ts";
import { principalName } from "../identity/index.ts";

export type Fields = Record<string, string>;

const maxBytes = 1024 * 1024;
/** A token. */
const maxLoginBytes = 4 * 1024;

/** Of a visitor who is logged in. */
export function readFields(context: Context<Env>, { admission }: Api, principal: Principal): Promise<Fields> {
  admission.admitBody(context, { name: principalName(principal) }, maxBytes);
  return readForm(context, maxBytes);
}

/** Of a visitor who is not known yet. */
export function readLoginFields(context: Context<Env>, { admission }: Api): Promise<Fields> {
  admission.admitUnverifiedBody(context, { name: "logins" }, maxLoginBytes);
  return readForm(context, maxLoginBytes);
}

/** URL-encoded forms only; any other content has no fields. If a name occurs twice, the last value counts. */
async function readForm({ env: { incoming } }: Context<Env>, limitBytes: number): Promise<Fields> {
  const body = await readBody(incoming, limitBytes);
  if (!/^application\/x-www-form-urlencoded\b/i.test(incoming.headers["content-type"] ?? "")) return {};
  const fields = Object.fromEntries(new URLSearchParams(body.toString("utf8")));
  // PostgreSQL cannot store NUL.
  if (Object.values(fields).some((text) => text.includes("\0")))
    throw new ApiError("validation_error", "The form contains a NUL character.");
  return fields;
}
