// Claims and releases of one agent do not overlap: a release that still runs hooks would end what the next claim has begun.

/** Begins once everything that came before for this agent has ended, however that ended. */
export type InOrder = <Result>(agent: string, work: () => Promise<Result>) => Promise<Result>;

export function openClaimOrder(): InOrder {
  const last = new Map<string, Promise<unknown>>();
  return async (agent, work) => {
    const current = (last.get(agent) ?? Promise.resolve()).then(work, work);
    last.set(agent, current);
    try {
      return await current;
    } finally {
      if (last.get(agent) === current) last.delete(agent);
    }
  };
}
