// The tokens of the proxy's clients: one random word in a file for each, readable by its owner alone.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";

export interface ClientTokens {
  accepts(authorization: string | undefined): boolean;
  remove(): void;
}

export function issueTokens(files: string[]): ClientTokens {
  const digests = files.map((file) => {
    const token = randomBytes(32).toString("base64url");
    // Never into a file or link that is there already: another user could have opened it.
    rmSync(file, { force: true });
    writeFileSync(file, `${token}\n`, { flag: "wx", mode: 0o600 });
    return digestOf(token);
  });
  return {
    accepts(authorization) {
      const token = /^Bearer (\S+)$/i.exec(authorization ?? "")?.[1];
      if (token === undefined) return false;
      const digest = digestOf(token);
      return digests.some((known) => timingSafeEqual(known, digest));
    },
    remove() {
      for (const file of files) rmSync(file, { force: true });
    },
  };
}

const digestOf = (token: string): Buffer => createHash("sha256").update(token).digest();
