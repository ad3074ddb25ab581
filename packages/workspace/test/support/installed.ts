// Where packages are installed, for tests that copy them elsewhere.
import { realpathSync } from "node:fs";
import { join } from "node:path";

export const installed = (name: string): string =>
  realpathSync(join(import.meta.dirname, "../../../../node_modules", name));
