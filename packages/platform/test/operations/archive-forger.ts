// Writes archives as an attacker would: any header, any sections, with or without the keys. Independent of the sources.
import { createCipheriv, createHash, createHmac, hkdfSync, randomBytes, scryptSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { deflateRawSync } from "node:zlib";

export interface Forgery {
  facts: Record<string, unknown>;
  /** Each section with its data. */
  sections: [section: unknown, data?: string | Buffer][];
  /** Seals the frames. */
  passphrase?: string;
  /** Authenticates an archive that is not sealed. */
  kekFile?: string;
}

export function forgeArchive(path: string, { facts, sections, passphrase, kekFile }: Forgery): void {
  const salt = passphrase === undefined ? null : randomBytes(16).toString("base64");
  const header = Buffer.from(`${JSON.stringify({ format: "platform-backup", ...facts, salt })}\n`);
  const binding = facts.formatVersion === 1 ? "" : `${sha256(header).toString("hex")}:`;
  const key = passphrase === undefined ? null : derive(passphrase, salt ?? "");
  const frames = sections.flatMap(([section, data]) => [
    Buffer.concat([Buffer.of(1), Buffer.from(JSON.stringify(section))]),
    ...(data === undefined ? [] : [Buffer.concat([Buffer.of(2), Buffer.from(data)])]),
  ]);
  const packed = (frame: Buffer, number: number): Buffer => {
    const plain = deflateRawSync(frame);
    const payload = key ? seal(key, plain, `backup:${binding}${number}`) : plain;
    const length = Buffer.alloc(4);
    length.writeUInt32BE(payload.length);
    return Buffer.concat([length, payload]);
  };
  const body = Buffer.concat([header, ...frames.map(packed)]);
  const digest = sha256(body);
  const code = kekFile === undefined ? Buffer.alloc(0) : authenticate(digest, kekFile);
  writeFileSync(path, Buffer.concat([body, packed(Buffer.concat([Buffer.of(3), digest, code]), frames.length)]));
}

const sha256 = (bytes: Buffer): Buffer => createHash("sha256").update(bytes).digest();

const derive = (passphrase: string, salt: string): Buffer =>
  scryptSync(passphrase, Buffer.from(salt, "base64"), 32, { N: 2 ** 16, r: 8, p: 1, maxmem: 2 ** 27 });

function seal(key: Buffer, plain: Buffer, context: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([Buffer.of(1), nonce, cipher.getAuthTag(), sealed]);
}

function authenticate(digest: Buffer, kekFile: string): Buffer {
  const kek = Buffer.from(readFileSync(kekFile, "utf8").trim(), "base64");
  const derived = hkdfSync("sha256", kek, "", "authenticate backup without a passphrase", 32);
  return createHmac("sha256", Buffer.from(derived)).update(digest.toString("hex")).digest();
}
