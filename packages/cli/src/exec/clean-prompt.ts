// `--sanitize`: the prompt and piped data without what a reader would not see.
export type CleanPrompt = (text: string) => string;

export async function promptCleaner(isWanted: boolean, warn: (message: string) => void): Promise<CleanPrompt> {
  if (!isWanted) return (text) => text;
  const { sanitize } = await import("@agentcli/project/sanitize");
  return (text) => {
    const { text: visible, report } = sanitize(text);
    const removed = report.map(({ kind, count }) => `${kind} (${count})`);
    if (removed.length > 0) warn(`--sanitize removed hidden text from the prompt: ${removed.join(", ")}.`);
    return visible;
  };
}
