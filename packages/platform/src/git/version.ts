// Which git is here, and whether it is new enough for what it is trusted with.
import { nowhere } from "./environment.ts";
import { runGit } from "./run.ts";

/** Pinned addresses came with 2.37, merging without a work tree with 2.38. */
const oldest = [2, 38] as const;

let checked: Promise<string> | undefined;

/** The version. Throws where there is no git, or one too old. */
export function requireGit(): Promise<string> {
  checked ??= checkGit();
  return checked;
}

async function checkGit(): Promise<string> {
  const said = await runGit({ place: nowhere, args: ["--version"] });
  const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(said) ?? [];
  const isNew = Number(major) > oldest[0] || (Number(major) === oldest[0] && Number(minor) >= oldest[1]);
  if (!isNew)
    throw new Error(`The platform needs git ${oldest.join(".")} or newer, and found: ${said.trim()}. Update git.`);
  return said.trim();
}
