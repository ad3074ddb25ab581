// Which sandbox works here, probed once. Only success is cached: an operator or user may install what is missing.
import type { SandboxProbe } from "@agentcli/workspace";

/** Callers with the same key share a probe that is in progress. */
export type ProbeCache<Probe extends SandboxProbe = SandboxProbe> = (
  key: string,
  probe: () => Promise<Probe>,
) => Promise<Probe>;

export function openProbeCache<Probe extends SandboxProbe = SandboxProbe>(): ProbeCache<Probe> {
  const probes = new Map<string, Promise<Probe>>();
  return async (key, probe) => {
    const probing = probes.get(key) ?? probe();
    probes.set(key, probing);
    const forget = () => {
      if (probes.get(key) === probing) probes.delete(key);
    };
    try {
      const result = await probing;
      if (result.kind === "unavailable") forget();
      return result;
    } catch (error) {
      forget();
      throw error;
    }
  };
}
