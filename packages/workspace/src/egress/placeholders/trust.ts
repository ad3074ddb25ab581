// How programs of a machine come to trust the authority of its proxy: one file of certificates, and the variables that name it.
import { createHash, X509Certificate } from "node:crypto";

/** Most of them replace what a program trusts otherwise, so that the file has the public authorities too. */
const pemVariables = [
  ...["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "PIP_CERT"],
  ...["BUNDLE_SSL_CA_CERT", "npm_config_cafile", "CARGO_HTTP_CAINFO", "AWS_CA_BUNDLE", "DENO_CERT"],
];

export interface TrustFiles {
  pem: string;
  javaStore: string;
}

/** Java reads a format of its own, and prints that it does. */
export const trustVariables = ({ pem, javaStore }: TrustFiles): Record<string, string> => ({
  ...Object.fromEntries(pemVariables.map((name) => [name, pem])),
  JAVA_TOOL_OPTIONS: `-Djavax.net.ssl.trustStore=${javaStore} -Djavax.net.ssl.trustStoreType=JKS`,
});

/** A key store of Java (JKS) with certificates alone, under its usual password. */
export function javaStoreOf(certificates: string[]): Buffer {
  const at = Buffer.alloc(8);
  at.writeBigInt64BE(BigInt(Date.now()));
  const entries = certificates.map((certificate, index) => {
    const { raw } = new X509Certificate(certificate);
    return Buffer.concat([
      number(trustedCertificate),
      text(`authority-${index}`),
      at,
      text("X.509"),
      number(raw.length),
      raw,
    ]);
  });
  const store = Buffer.concat([number(magic), number(2), number(entries.length), ...entries]);
  const password = Buffer.from("changeit", "utf16le").swap16();
  const check = createHash("sha1").update(password).update("Mighty Aphrodite").update(store).digest();
  return Buffer.concat([store, check]);
}

const magic = 0xfeedfeed;
const trustedCertificate = 2;

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function text(value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(value.length);
  return Buffer.concat([length, Buffer.from(value)]);
}
