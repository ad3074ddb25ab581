// Creates a key from the fields of a form.
import { unprintable, unprintableProblem } from "@agentcli/protocol/names";
import { ApiError } from "../foundation/index.ts";
import type { KeyOwner, Scope } from "../identity/index.ts";
import type { Fields } from "./form.ts";
import type { PageHost } from "./host.ts";
import type { FreshKey } from "./key-pages.ts";
import { teamNameOf, type Visitor } from "./session.ts";

export async function makeKey(
  { identity: { principals }, platform: { db } }: PageHost,
  visitor: Visitor,
  request: { owner: KeyOwner; fields: Fields },
): Promise<FreshKey> {
  const { owner, fields } = request;
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
  const trimmed = name.trim();
  if (unprintable.test(trimmed)) throw new ApiError("validation_error", `The name ${unprintableProblem}.`);
  if (trimmed !== "" && trimmed.length <= 100) return trimmed;
  throw new ApiError("validation_error", "The name must have 1 to 100 characters.");
}

const scopesIn = ({ access = "all" }: Fields): Scope[] | null =>
  access === "read" ? ["agents:read", "repositories:read"] : null;

function expiryIn({ days = "" }: Fields): Date | null {
  if (days === "") return null;
  if (!/^[1-9]\d{0,3}$/.test(days)) throw new ApiError("validation_error", "Enter the days until the key expires.");
  return new Date(Date.now() + Number(days) * 86_400_000);
}
