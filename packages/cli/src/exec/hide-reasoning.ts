// With hide_agent_reasoning, neither records nor progress that are shown hold the reasoning of the model. The session keeps it.
import type { Emit, Progress } from "@agentcli/engine";
import type { Assembly, RunObservers } from "@agentcli/host";

export function withoutReasoning(observers: RunObservers): RunObservers {
  const { watch } = observers;
  const hideFrom = (show: (progress: Progress) => void) => (progress: Progress) => {
    const isHidden =
      progress.type === "reasoning" || (progress.type === "settled" && progress.block.type === "reasoning");
    if (!isHidden) show(progress);
  };
  return {
    ...observers,
    onProgress: hideFrom(observers.onProgress),
    ...(watch && {
      watch(id) {
        const observer = watch(id);
        return { emit: hiding(observer.emit), onProgress: hideFrom(observer.onProgress) };
      },
    }),
  };
}

export const openingLogs = ({ openLog }: Assembly): Pick<Assembly, "openLog"> => ({
  openLog: (state, emit) => openLog(state, hiding(emit)),
});

const hiding =
  (emit: Emit): Emit =>
  (stored) => {
    const { record } = stored;
    if (record.type !== "model.replied") return emit(stored);
    const blocks = record.blocks.filter(({ type }) => type !== "reasoning");
    return emit({ ...stored, record: { ...record, blocks } });
  };
