// Sampling parameters, which have the same names on every wire.
import type { ModelRequest } from "@agentcli/engine";

export const samplingOf = ({ sampling: { temperature, topP } = {} }: ModelRequest): object => ({
  ...(temperature !== undefined && { temperature }),
  ...(topP !== undefined && { top_p: topP }),
});
