// What an environment takes over from a dev container. Pure.
import { posix } from "node:path";
import type { EnvironmentFile } from "@agentcli/protocol/environment-file";
import type { RepositoryFiles } from "./repository-files.ts";

type FromDevContainer = Pick<EnvironmentFile, "build" | "image" | "install" | "start" | "ports">;

const locations = [".devcontainer/devcontainer.json", ".devcontainer.json"];

export function readDevContainer({ paths, read }: RepositoryFiles, reasons: string[]): FromDevContainer {
  const path = locations.find((name) => paths.includes(name));
  if (path === undefined) return {};
  const found = parse(read(path) ?? "");
  if (found === undefined) {
    reasons.push(`${path} is not used: it is not valid JSON.`);
    return {};
  }
  const taken = { ...baseOf(found, path), ...commandsOf(found), ...portsOf(found) };
  const names = Object.keys(taken);
  reasons.push(
    names.length > 0 ? `${names.join(", ")}: from ${path}` : `${path} has nothing that an environment can use.`,
  );
  return taken;
}

function baseOf(found: Record<string, unknown>, path: string): Pick<FromDevContainer, "build" | "image"> {
  const build = isRecord(found.build) ? found.build : { dockerfile: found.dockerFile, context: found.context };
  const directory = posix.dirname(path);
  const fromHere = (name: string) => posix.relative(".platform", posix.join(directory, name)) || ".";
  if (typeof build.dockerfile === "string") {
    const context = typeof build.context === "string" ? build.context : ".";
    return { build: { dockerfile: fromHere(build.dockerfile), context: fromHere(context) } };
  }
  return typeof found.image === "string" ? { image: found.image } : {};
}

function commandsOf(found: Record<string, unknown>): Pick<FromDevContainer, "install" | "start"> {
  const [created, started] = [commandOf(found.postCreateCommand), commandOf(found.postStartCommand)];
  return { ...(created && { install: created }), ...(started && { start: started }) };
}

/** A text, a list of words, or several of them by name. */
function commandOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map((word) => quote(String(word))).join(" ");
  if (!isRecord(value)) return undefined;
  const commands = Object.values(value).flatMap((each) => commandOf(each) ?? []);
  return commands.length === 0 ? undefined : commands.join(" && ");
}

const quote = (word: string) => (/^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

function portsOf({ forwardPorts }: Record<string, unknown>): Pick<FromDevContainer, "ports"> {
  const ports = (Array.isArray(forwardPorts) ? forwardPorts : []).filter(
    (port): port is number => Number.isInteger(port) && port > 0 && port < 65_536,
  );
  return ports.length === 0 ? {} : { ports: ports.map((port) => ({ name: `Port ${port}`, port })) };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** JSON with comments and commas at the end of lists. */
function parse(text: string): Record<string, unknown> | undefined {
  const plain = text
    .replace(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_, string?: string) => string ?? "")
    .replace(/("(?:\\.|[^"\\])*")|,(\s*[}\]])/g, (_, string?: string, end?: string) => string ?? end ?? "");
  try {
    const value: unknown = JSON.parse(plain);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
