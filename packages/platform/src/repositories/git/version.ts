// Checks that the installed git is new enough.
import { nowhere } from "./environment.ts";
import { runGit } from "./run.ts";

/** Git 2.37 added pinned addresses, 2.38 merging without a work tree. */
const minimumVersion = [2, 38] as const;

let checked: Promise<string> | undefined;

/** Returns the version. Throws if git is missing or too old. */
export function requireGit(): Promise<string> {
  checked ??= checkGit();
  return checked;
}

async function checkGit(): Promise<string> {
  const output = await runGit({ location: nowhere, args: ["--version"] });
  const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(output) ?? [];
  const isSupported =
    Number(major) > minimumVersion[0] || (Number(major) === minimumVersion[0] && Number(minor) >= minimumVersion[1]);
  if (!isSupported)
    throw new Error(
      `The platform needs git ${minimumVersion.join(".")} or newer, and found: ${output.trim()}. Update git.`,
    );
  return output.trim();
}
