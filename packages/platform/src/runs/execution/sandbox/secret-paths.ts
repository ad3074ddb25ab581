// The operator's own files must not be in a directory that agents can read.
import { realpathSync } from "node:fs";
import { findSystemPath } from "@agentcli/workspace";
import type { Settings } from "../../../foundation/index.ts";

/** What is readable, and what to do; null if nothing is. */
export function findReadableSecret(settings: Settings): { reason: string; remedy: string } | null {
  for (const { what, path } of secretsOf(settings)) {
    const directory = [path, realPath(path)].map((each) => findReadableDirectory(each, settings)).find(Boolean);
    if (directory !== undefined)
      return {
        reason: `${what} ${path} is in ${directory}, which agents can read.`,
        remedy: `Move it elsewhere, or remove ${directory} from sandbox.readable.`,
      };
  }
  return null;
}

const findReadableDirectory = (path: string, { readableDirectories }: Settings): string | undefined =>
  [...readableDirectories, ...readableDirectories.map(realPath)].find((directory) => contains(directory, path)) ??
  findSystemPath(path);

function secretsOf({ dataDirectory, configFile, kekFile, signingKey, tls, sourceHosts: { github } }: Settings) {
  return [
    { what: "The data directory", path: dataDirectory },
    { what: "The key-encryption key", path: kekFile },
    { what: "The signing key", path: signingKey.path },
    ...(configFile === null ? [] : [{ what: "The configuration", path: configFile }]),
    ...(tls === null ? [] : [{ what: "The TLS key", path: tls.keyFile }]),
    ...(github?.credentials.kind === "app"
      ? [{ what: "The private key of the GitHub app", path: github.credentials.privateKeyFile }]
      : []),
  ];
}

const contains = (directory: string, path: string): boolean =>
  path === directory || path.startsWith(`${directory.replace(/\/+$/, "")}/`);

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
