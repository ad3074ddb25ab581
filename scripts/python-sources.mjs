// Python files that are derived from others: blocking code from the asyncio code, and modules that two packages share.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const agentcli = "python/agentcli/src/agentcli";
const platformSdk = "python/platform_sdk/src/platform_sdk";

const copied = [[`${agentcli}/wire.py`, `${platformSdk}/wire.py`]];
const blocking = [
  [`${agentcli}/async_threads.py`, `${agentcli}/threads.py`],
  [`${platformSdk}/async_agent_lookups.py`, `${platformSdk}/agent_lookups.py`],
];

/** Pairs of path and text. */
export function pythonSources() {
  const read = (path) => readFileSync(join(root, path), "utf8");
  const derive = (pairs, convert) =>
    pairs.map(([source, target]) => [
      join(root, target),
      `# Generated from ${source} by npm run generate. Do not edit.\n${convert(read(source))}`,
    ]);
  return [...derive(copied, (text) => text), ...derive(blocking, withoutAsync)];
}

// Regular expressions do: the sources keep to these forms, and mypy checks the result.
const rewrites = [
  [/^"""(.*)\. `\w+\.py` is generated from this file.*"""$/m, '"""$1."""'],
  [/ for asyncio\b/g, " for code that blocks"],
  [/\basync (def|for|with)\b/g, "$1"],
  [/\bawait /g, ""],
  [/\bAsync(?=[A-Z])/g, ""],
  [/(?<![a-z])async_/g, ""],
  [/(?<=from \.)event_loop\b/g, "blocking"],
];

const withoutAsync = (text) => rewrites.reduce((result, [pattern, by]) => result.replace(pattern, by), text);
