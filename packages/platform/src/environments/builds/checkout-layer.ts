// The repositories of a build as a layer: checked out on the host, because only the host may reach them, then packed.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { type MachineProvider, runProgram } from "../../machines/index.ts";
import { workspaceDirectory } from "../machine-settings.ts";
import type { BuildOrder } from "./executor.ts";

export interface CheckoutRequest {
  order: BuildOrder;
  provider: MachineProvider;
  /** For the files of this build, while it runs. */
  directory: string;
}

/** Returns its digest. */
export async function importCheckout(
  { order, provider, directory }: CheckoutRequest,
  signal: AbortSignal,
): Promise<string> {
  const files = join(directory, workspaceDirectory);
  await mkdir(files, { recursive: true, mode: 0o755 });
  await order.checkOut(files, signal);
  return importTar(provider, tarArguments(directory));
}

/** Why it could not be packed counts more than what became of the archive. */
async function importTar(provider: MachineProvider, args: string[]): Promise<string> {
  const archive = new PassThrough();
  const imported = provider.importBase(archive);
  const packed = runProgram(["tar", ...args], { attach: (child) => void child.stdout?.pipe(archive) });
  const results = await Promise.allSettled([packed, imported]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
  return imported;
}

/** Of the machine's root, whatever user the server is. */
const tarArguments = (directory: string) => [
  ...[`--directory=${directory}`, "--create", "--file=-", "--sort=name", "--format=posix"],
  ...["--owner=0", "--group=0", "--numeric-owner", "--mode=u+rwX,go+rX", `.${workspaceDirectory}`],
];
