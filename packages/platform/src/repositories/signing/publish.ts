// Publishes the public signing key for clients that verify commits.
import type { Hono } from "hono";
import type { Env } from "../../foundation/index.ts";
import type { SigningKey } from "./ssh-signature.ts";

/** One line, in the form GitHub accepts as a signing key; prefixed with the committer's email it is a line of an allowed-signers file. */
export const publishedKey = (key: SigningKey, committer: { email: string }): string =>
  `${key.publicKey} ${committer.email}\n`;

/** Served without authentication: the key is public. */
export function serveSigningKey(app: Hono<Env>, key: SigningKey, committer: { email: string }): void {
  app.get("/.well-known/platform-signing-key", (context) =>
    context.text(publishedKey(key, committer), 200, { "cache-control": "public, max-age=300" }),
  );
}
