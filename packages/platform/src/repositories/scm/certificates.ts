// The certificates that git trusts: those of the system and of Node, and those that the operator has added for this server.
import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where distributions keep theirs. */
const systemFiles = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/**
 * Undefined if the operator has added none: git has its own list. Otherwise a file for git, which takes one list only, in
 * place of its own. Node itself reads NODE_EXTRA_CA_CERTS. Throws if a file cannot be read or written.
 */
export function writeCertificates(extraFile: string | undefined, directory: string): string | undefined {
  if (!extraFile) return undefined;
  // Not imported: a server that adds none would still keep all of them in memory, as text.
  const { rootCertificates } = process.getBuiltinModule("node:tls");
  const lists = [readFileSync(extraFile, "utf8"), ...systemFiles.flatMap(readIfExists), ...rootCertificates];
  const file = join(directory, "git-certificates.pem");
  const draft = `${file}.${randomUUID()}`;
  try {
    writeFileSync(draft, lists.join("\n"), { mode: 0o644 });
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
  return file;
}

function readIfExists(file: string): string[] {
  try {
    return [readFileSync(file, "utf8")];
  } catch {
    return [];
  }
}
