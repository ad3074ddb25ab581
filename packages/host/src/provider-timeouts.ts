// The timeouts of a model provider as `[limits]` configures them; `off` means without a timeout.
import type { ProviderTimeouts } from "@agentcli/models";
import { durationMs } from "@agentcli/project";
import type { Config } from "@agentcli/protocol";

type Limits = NonNullable<Config["limits"]>;

export const providerTimeouts = ({
  idle = "120s",
  "first-byte": firstByte = "60s",
}: Limits = {}): ProviderTimeouts => ({
  idleMs: durationMs(idle) ?? Infinity,
  firstByteMs: durationMs(firstByte) ?? Infinity,
});
