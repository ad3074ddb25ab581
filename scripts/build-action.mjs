// Writes the workflow action as one file. It is part of the repository: workflows use it as it is checked out.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Readable, because people review what runs with their secrets. */
export async function buildAction(file) {
  const bundle = await rolldown({
    input: join(root, "packages/action/src/main.ts"),
    platform: "node",
    transform: { target: "node20" },
  });
  await bundle.write({ file, format: "cjs", codeSplitting: false });
}
