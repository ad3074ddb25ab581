// The public half of the signing key, for whoever wants to verify commits.
import type { Hono } from "hono";
import type { Env } from "../http/index.ts";
import type { SigningKey } from "./ssh-signature.ts";

/** One line, as GitHub takes it for a signing key; behind the committer's address it is one of an allowed-signers file. */
export const publishedKey = (key: SigningKey, committer: { email: string }): string =>
  `${key.publicKey} ${committer.email}\n`;

/** To anybody: it is public. */
export function serveSigningKey(app: Hono<Env>, key: SigningKey, committer: { email: string }): void {
  app.get("/.well-known/platform-signing-key", (context) =>
    context.text(publishedKey(key, committer), 200, { "cache-control": "public, max-age=300" }),
  );
}
