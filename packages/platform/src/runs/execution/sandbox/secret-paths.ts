// The operator's own files must not be in a directory that agents can read.
import { readFileSync, realpathSync } from "node:fs";
import { mountPoints, readMounts, readMountTable, readSystemPaths } from "@agentcli/workspace";
import type { Settings } from "../../../foundation/index.ts";

interface Host {
  systemPaths?: string[];
  /** /proc/self/mountinfo */
  mountTable?: string;
  /** /proc/net/unix */
  socketTable?: string;
}

/**
 * What is readable, and what to do; null if nothing is. A directory is shown with what it leads to and what is mounted below
 * it, and what is mounted twice has two names.
 */
export async function findReadableSecret(
  settings: Settings,
  { systemPaths, mountTable = readMountTable(), socketTable = readSocketTable() }: Host = {},
): Promise<{ reason: string; remedy: string } | null> {
  const storedPath = readMounts(mountTable);
  const known = new Map<string, string[]>();
  const namesOf = (path: string): string[] => {
    const names = known.get(path) ?? [path, realPath(path), storedPath(realPath(path))];
    known.set(path, names);
    return names;
  };
  const isIn = (directory: string, path: string) =>
    namesOf(directory).some((outer) => namesOf(path).some((inner) => contains(outer, inner)));
  const own = settings.readableDirectories;
  const inData = own.find((each) => isIn(settings.dataDirectory, each));
  if (inData !== undefined)
    return {
      reason: `${inData} of sandbox.readable is in the data directory, which holds the files of all agents.`,
      remedy: "Remove it from sandbox.readable.",
    };
  // Agents can connect to sockets that they see, also where they cannot write.
  for (const socket of listeningSockets(socketTable)) {
    const found = own.find((each) => isIn(each, socket));
    if (found !== undefined)
      return {
        reason: `${socket} is a socket in ${found}, which agents can read and could connect to.`,
        remedy: `Move it elsewhere, or remove ${found} from sandbox.readable.`,
      };
  }
  const shown = [...own, ...(systemPaths ?? (await readSystemPaths()))].flatMap((each) => [each, realPath(each)]);
  const mounted = mountPoints(mountTable).filter((point) => shown.some((each) => contains(each, point)));
  const readable = [...new Set([...shown, ...mounted])];
  for (const { what, path } of secretsOf(settings)) {
    // A mount may also show only a part of the data.
    const shows = (directory: string) =>
      isIn(directory, path) || (mounted.includes(directory) && isIn(settings.dataDirectory, directory));
    const found = readable.find(shows);
    if (found !== undefined)
      return {
        reason: `${what} ${path} is in ${found}, which agents can read.`,
        remedy: `Move it elsewhere, or remove ${found} from sandbox.readable.`,
      };
  }
  return null;
}

const readSocketTable = (): string => readFileSync("/proc/net/unix", "utf8");

const acceptsConnections = 0x10000;

/** Those with a path. */
function listeningSockets(table: string): string[] {
  return table.split("\n").flatMap((line) => {
    const [, flags = "0", path] = /^\w+: \w+ \w+ (\w+) \w+ \w+ +\d+ (\/.*)$/.exec(line) ?? [];
    return path !== undefined && Number.parseInt(flags, 16) & acceptsConnections ? [path] : [];
  });
}

function secretsOf(settings: Settings) {
  const { configFile, kekFile, kms, signingKey, tls, objectStore, otel } = settings;
  const { github } = settings.sourceHosts;
  return [
    { what: "The data directory", path: settings.dataDirectory },
    { what: "The key-encryption key", path: kekFile },
    ...(kms?.kind === "vault" && kms.token.kind === "file"
      ? [{ what: "The token of the key service", path: kms.token.path }]
      : []),
    { what: "The signing key", path: signingKey.path },
    ...(configFile === null ? [] : [{ what: "The configuration", path: configFile }]),
    ...(tls === null ? [] : [{ what: "The TLS key", path: tls.keyFile }]),
    ...(objectStore?.kind === "directory" ? [{ what: "The object store", path: objectStore.path }] : []),
    ...(otel?.file === undefined ? [] : [{ what: "The file of telemetry", path: otel.file }]),
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
