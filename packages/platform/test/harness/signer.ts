// The platform as committer, with a signing key of its own in a data directory.
import { join } from "node:path";
import type { CommitSigner } from "../../src/repositories/git/index.ts";
import { openSigningKey } from "../../src/repositories/signing/index.ts";

export const testSigner = (dataDirectory: string): CommitSigner => ({
  platform: { name: "Platform Agent", email: "agent@platform.invalid" },
  sign: (text) => openSigningKey({ path: join(dataDirectory, "signing-key"), isGiven: false }).sign(text),
});
