// The log of a build without the values of its secrets, however its output is cut into pieces.
import { scrubber } from "@agentcli/engine";
import { secretsToRedact } from "../../secrets/index.ts";
import type { BuildSecret } from "./executor.ts";
import type { LogWriter } from "./log-writer.ts";

export function withoutSecrets(writer: LogWriter, secrets: BuildSecret[]): LogWriter {
  if (secrets.length === 0) return writer;
  const scrub = scrubber(secretsToRedact(secrets));
  let waiting = "";
  return {
    write(text) {
      waiting += text;
      const settled = scrub.settled?.(waiting) ?? waiting.length;
      writer.write(scrub(waiting.slice(0, settled)));
      waiting = waiting.slice(settled);
    },
    close() {
      writer.write(scrub(waiting));
      waiting = "";
      return writer.close();
    },
  };
}
