// The full OpenAPI description of GitHub for full sweeps, an excerpt otherwise.
import { execFileSync } from "node:child_process";
import { join } from "node:path";

const script = join(import.meta.dirname, "../../../../scripts/github-description.mjs");

export const githubDescription = (): string | undefined =>
  process.env.SWEEP === "full" ? execFileSync(process.execPath, [script, "--whole"]).toString().trim() : undefined;
