// The operator's own files must not be in a directory that agents can read.
import { realpathSync } from "node:fs";
import { readSystemPaths } from "@agentcli/workspace";
import type { Settings } from "../../../foundation/index.ts";

/** What is readable, and what to do; null if nothing is. A directory is shown with what it leads to. */
export async function findReadableSecret(
  settings: Settings,
  systemPaths?: string[],
): Promise<{ reason: string; remedy: string } | null> {
  const own = settings.readableDirectories;
  const inData = own.find((each) => contains(realPath(settings.dataDirectory), realPath(each)));
  if (inData !== undefined)
    return {
      reason: `${inData} of sandbox.readable is in the data directory, which holds the files of all agents.`,
      remedy: "Remove it from sandbox.readable.",
    };
  const readable = [...own, ...(systemPaths ?? (await readSystemPaths()))].flatMap((each) => [each, realPath(each)]);
  for (const { what, path } of secretsOf(settings)) {
    const directory = readable.find((each) => contains(each, path) || contains(each, realPath(path)));
    if (directory !== undefined)
      return {
        reason: `${what} ${path} is in ${directory}, which agents can read.`,
        remedy: `Move it elsewhere, or remove ${directory} from sandbox.readable.`,
      };
  }
  return null;
}

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
