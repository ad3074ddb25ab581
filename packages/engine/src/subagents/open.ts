// The sub-agents of a main thread. Most threads have none: what runs them is loaded with the first one.
import { emptyLedger } from "../budget/ledger.ts";
import type { SubagentSupervisor, ThreadRun } from "../running.ts";
import type { TreeOptions } from "./tree.ts";

export function openSubagents(options: TreeOptions): SubagentSupervisor {
  let run: ThreadRun | null = null;
  let opening: Promise<SubagentSupervisor> | null = null;
  let opened: SubagentSupervisor | null = null;

  async function load(): Promise<SubagentSupervisor> {
    const { superviseTree } = await import("./supervisor.ts");
    const supervisor = superviseTree(options);
    if (run) await supervisor.resume(run);
    opened = supervisor;
    return supervisor;
  }
  const open = () => {
    opening ??= load();
    return opening;
  };

  return {
    agents: async () => (await open()).agents(),
    isMain: true,
    newId: options.newId,
    async resume(parentRun) {
      run = parentRun;
      if (opened) await opened.resume(parentRun);
      else if (parentRun.log.state.agents.size > 0) await open();
    },
    spentByOtherAgents: () => opened?.spentByOtherAgents() ?? emptyLedger(),
    charges: () => opened?.charges() ?? null,
    overview: () => opened?.overview() ?? [],
    news: () => opened?.news() ?? {},
    end: async () => (await opening)?.end(),
  };
}
