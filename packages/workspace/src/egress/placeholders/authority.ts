// A certificate authority in memory: it certifies hosts for programs of one machine, and its key is never written anywhere.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { createSecureContext, type SecureContext } from "node:tls";
import { bits, explicit, identifiers, implicit, integer, isTrue, octets, sequence, set, text, time } from "./der.ts";

export interface Authority {
  /** In PEM. */
  certificate: string;
  /** To serve the host with; made once for each host. */
  contextFor(host: string): SecureContext;
}

const dayMs = 86_400_000;
/** Longer than runs take. */
const validDays = 30;
/** Clocks of machines differ. */
const earlyMs = dayMs;

interface KeyPair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

const newKeys = (): KeyPair => generateKeyPairSync("ec", { namedCurve: "P-256" });

export function openAuthority(name: string): Authority {
  const keys = newKeys();
  const issuer = { name, keys };
  const certificate = certify({
    ...{ subject: name, publicKey: keys.publicKey, issuer },
    extensions: [
      extension(identifiers.basicConstraints, sequence(isTrue()), "critical"),
      // keyCertSign alone.
      extension(identifiers.keyUsage, bits(Buffer.of(0b00000100), 2), "critical"),
    ],
  });
  const contexts = new Map<string, SecureContext>();
  return {
    certificate,
    contextFor(host) {
      const context = contexts.get(host) ?? hostContext(host, { issuer, certificate });
      contexts.set(host, context);
      return context;
    },
  };
}

interface Issuer {
  name: string;
  keys: KeyPair;
}

function hostContext(host: string, { issuer, certificate }: { issuer: Issuer; certificate: string }): SecureContext {
  const { publicKey, privateKey } = newKeys();
  const cert = certify({
    // A name may have 64 characters; programs read the other one.
    ...{ subject: host.slice(0, 64), publicKey, issuer },
    extensions: [
      extension(identifiers.basicConstraints, sequence(), "critical"),
      extension(identifiers.keyUsage, bits(Buffer.of(0b10000000), 7), "critical"),
      extension(identifiers.extendedKeyUsage, sequence(identifiers.serverAuthentication)),
      extension(identifiers.subjectName, sequence(implicit(2, Buffer.from(host)))),
    ],
  });
  const key = privateKey.export({ type: "pkcs8", format: "pem" });
  return createSecureContext({ key, cert: `${cert}${certificate}`, minVersion: "TLSv1.2" });
}

interface Certificate {
  subject: string;
  publicKey: KeyObject;
  issuer: Issuer;
  extensions: Buffer[];
}

function certify({ subject, publicKey, issuer, extensions }: Certificate): string {
  const now = Date.now();
  const body = sequence(
    explicit(0, integer(Buffer.of(2))),
    integer(randomBytes(16)),
    algorithm,
    nameOf(issuer.name),
    sequence(time(new Date(now - earlyMs)), time(new Date(now + validDays * dayMs))),
    nameOf(subject),
    publicKey.export({ type: "spki", format: "der" }),
    explicit(
      3,
      sequence(
        ...extensions,
        extension(identifiers.subjectKey, octets(keyId(publicKey))),
        extension(identifiers.authorityKey, sequence(implicit(0, keyId(issuer.keys.publicKey)))),
      ),
    ),
  );
  const signed = sequence(body, algorithm, bits(sign("sha256", body, issuer.keys.privateKey)));
  const lines = signed.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

const algorithm = sequence(identifiers.ecdsaWithSha256);

const nameOf = (commonName: string): Buffer => sequence(set(sequence(identifiers.commonName, text(commonName))));

const keyId = (key: KeyObject): Buffer =>
  createHash("sha1")
    .update(key.export({ type: "spki", format: "der" }))
    .digest();

const extension = (id: Buffer, value: Buffer, critical?: "critical"): Buffer =>
  sequence(id, ...(critical ? [isTrue()] : []), octets(value));
