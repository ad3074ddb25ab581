// Authentication codes from one key: that of each `about` is its own.
import { createHmac, hkdfSync } from "node:crypto";
import { keyBytes } from "./cipher.ts";

export const authenticator =
  (key: Buffer) =>
  (text: string, about: string): Buffer => {
    const derived = hkdfSync("sha256", key, "", `authenticate ${about}`, keyBytes);
    return createHmac("sha256", Buffer.from(derived)).update(text).digest();
  };
