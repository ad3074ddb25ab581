// The program of HashiCorp Vault, compiled from its Go module without interface and plug-ins, and kept between runs.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectRoot } from "@agentcli/testkit";

/** From 1.21.3 on it is written for an SDK in its own repository, and does not compile with the one that its go.mod names. */
const version = "1.21.0";
const module = "github.com/hashicorp/vault";
const directory = join(projectRoot, `node_modules/.cache/vault-${version}`);
const program = join(directory, "vault");

/** Its path. Compiling takes ten minutes on a quiet machine with two processors. */
export async function provideVault(): Promise<string> {
  if (existsSync(program)) return program;
  await mkdir(directory, { recursive: true });
  // Its go.mod replaces modules, which "go install" refuses: it is compiled as a requirement of an empty module.
  await writeFile(join(directory, "go.mod"), "module vault-of-tests\n\ngo 1.25\n");
  await go("get", `${module}@v${version}`);
  await go("build", "-p", "2", "-ldflags=-s -w", "-o", "vault.new", module);
  await rename(join(directory, "vault.new"), program);
  return program;
}

async function go(...args: string[]): Promise<void> {
  const env = { ...process.env, GOFLAGS: "-tags=minimal -buildvcs=false" };
  await promisify(execFile)("go", args, { cwd: directory, env, maxBuffer: 64 << 20 }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      throw new Error("Go is not installed. Install it (1.25.3 or newer): sudo apt-get install golang-go");
    },
  );
}
