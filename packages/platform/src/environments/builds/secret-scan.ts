// Looks for the secrets of a build in the files that its `install` left: a result is shared, and must not have one.
import { randomUUID } from "node:crypto";
import type { Workspace } from "@agentcli/protocol";
import { patternsOf } from "../../secrets/index.ts";
import { workspaceDirectory } from "../machine-settings.ts";
import type { BuildSecret } from "./executor.ts";

/** Called before `install`. What it returns is called afterwards: null where nothing was found, else what and where. */
export async function openSecretScan(
  workspace: Workspace,
  secrets: BuildSecret[],
  signal: AbortSignal,
): Promise<() => Promise<string | null>> {
  const patterns = patternsOf(secrets);
  // To grep, an empty pattern is in every file.
  if (patterns.length === 0) return async () => null;
  const mark = `/tmp/before-install-${randomUUID()}`;
  const run = async (script: string, input: string) => {
    let out = "";
    const start = { argv: ["/bin/sh", "-c", script, mark, workspaceDirectory] };
    const take = ({ stream, text }: { stream: string; text: string }) => {
      if (stream === "stdout") out += text;
    };
    const ended = await workspace.exec({ id: randomUUID(), start, input, endInput: true }, take, signal);
    return { out, isDone: ended.state === "exited" && ended.exitCode === 0 };
  };
  await run(': > "$0"', "");
  return async () => {
    const { out, isDone } = await run(search, `${patterns.join("\n")}\n`);
    const files = out.split("\n").filter(Boolean);
    if (files.length > 0)
      return `A secret of this build is in ${files.slice(0, maxShown).join(", ")}. Have install remove it, or keep it in a variable: builds are shared.`;
    return isDone
      ? null
      : "The result could not be searched for secrets, because find or grep failed. Add both to the image.";
  };
}

const maxShown = 10;

/** Files that changed since the mark. The patterns are in a file that is gone with /tmp, and in no argument. */
const search = `umask 077; command -v find > /dev/null && command -v grep > /dev/null && [ -e "$0" ] &&
  list=$(mktemp) && cat > "$list" || exit 3
  find / "$1" -xdev \\( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp \\) -prune -o -type f -cnewer "$0" -exec grep -lF -f "$list" -- {} + | sort -u
  rm -f "$list" "$0"`;
