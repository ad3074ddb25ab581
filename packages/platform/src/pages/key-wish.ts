// A key as a form asks for it.
import { ApiProblem } from "../http/index.ts";
import type { Platform } from "../platform.ts";
import type { KeyOwner, Scope } from "../principals/index.ts";
import type { Fields } from "./form.ts";
import type { FreshKey } from "./key-pages.ts";
import { teamNameOf, type Visitor } from "./session.ts";

export async function makeKey(
  { principals, db }: Platform,
  visitor: Visitor,
  wish: { owner: KeyOwner; fields: Fields },
): Promise<FreshKey> {
  const { owner, fields } = wish;
  const { key } = await principals.createKey({
    name: nameIn(fields),
    team: await teamNameOf(db, visitor),
    owner,
    scopes: scopesIn(fields),
    expiresAt: expiryIn(fields),
  });
  return { key, formerUntil: null };
}

export function nameIn({ name = "" }: Fields): string {
  const given = name.trim();
  // Commands print it: a terminal must not be told what to do by it.
  if (/[\p{Cc}\p{Bidi_Control}]/u.test(given))
    throw new ApiProblem("validation_error", "A name holds no control characters.");
  if (given !== "" && given.length <= 100) return given;
  throw new ApiProblem("validation_error", "It needs a name of 1 to 100 characters.");
}

const scopesIn = ({ access = "all" }: Fields): Scope[] | null =>
  access === "read" ? ["agents:read", "repositories:read"] : null;

function expiryIn({ days = "" }: Fields): Date | null {
  if (days === "") return null;
  if (!/^[1-9]\d{0,3}$/.test(days)) throw new ApiProblem("validation_error", "Give the days until the key ends.");
  return new Date(Date.now() + Number(days) * 86_400_000);
}
