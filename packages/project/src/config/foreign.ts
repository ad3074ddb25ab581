// Reads the configuration of another tool with the same keys: what agentcli can use of it, and why not the rest.
import { dirname } from "node:path";
import { resolvePaths } from "./relative.ts";
import { dottedKey, type Table, withoutValueAt } from "./table.ts";

export interface ForeignConfig {
  table: Table;
  skipped: { key: string; reason: string }[];
}

/** `path`: of the file, to which paths in it are relative. */
export async function readForeignConfig(written: Table, path: string): Promise<ForeignConfig> {
  const { inspect } = await import("./inspect.ts");
  const { wrong, unknown, idle } = inspect(written, "config");
  const left = [
    ...unknown.map(({ path: key }) => ({ key, reason: "agentcli has no such key" })),
    ...wrong.map(({ path: key, message }) => ({ key, reason: message })),
    ...idle.map((key) => ({ key, reason: "it has no effect in agentcli" })),
    ...widening(written),
  ];
  const table = left.reduce((rest, { key }) => withoutValueAt(rest, usable(key)), written);
  return {
    table: resolvePaths(table, dirname(path)),
    skipped: left.map(({ key, reason }) => ({ key: dottedKey(key), reason })),
  };
}

/** The key whose value is left out: entries of lists are no keys. */
const usable = (path: string[]): string[] => {
  const index = path.findIndex((key) => /^\d+$/.test(key));
  return index < 0 ? path : path.slice(0, index);
};

/** What gives more rights is decided here, not taken over. */
function widening(table: Table): { key: string[]; reason: string }[] {
  const decided = [
    { key: ["projects"], reason: "agentcli asks for the trust of each project itself" },
    { key: ["hooks"], reason: "hooks run on your machine: add those you want, then run agentcli hooks trust" },
  ].filter(({ key: [name = ""] }) => Object.hasOwn(table, name));
  const profiles = typeof table.profiles === "object" && table.profiles !== null ? Object.entries(table.profiles) : [];
  const tables: [string[], unknown][] = [
    [[], table],
    ...profiles.map(([name, each]) => [["profiles", name], each] as [string[], unknown]),
  ];
  const unsafe = tables.filter(([, each]) => (each as Table | null)?.sandbox_mode === "danger-full-access");
  return [
    ...decided,
    ...unsafe.map(([at]) => ({
      key: [...at, "sandbox_mode"],
      reason: "danger-full-access has to be chosen for each run",
    })),
  ];
}
