// Every attempt to break out that the selftest and the test suite make.
import type { Attempt } from "../attempt.ts";
import { onFiles } from "./files.ts";
import { onKernel } from "./kernel.ts";
import { onNetwork } from "./network.ts";
import { onProcesses } from "./processes.ts";
import { onProtectedNames } from "./protected.ts";
import { onSecrets } from "./secrets.ts";

export const attempts: Attempt[] = [
  ...onFiles,
  ...onProtectedNames,
  ...onSecrets,
  ...onNetwork,
  ...onProcesses,
  ...onKernel,
];
