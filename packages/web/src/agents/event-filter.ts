// Which events of which run are shown. It is part of the address, so that they can be sent to a colleague.
export interface EventFilter {
  run?: string | undefined;
  /** Of events; absent: all. */
  type?: string | undefined;
}

export function readEventFilter({ run, type }: Record<string, unknown>): EventFilter {
  return {
    ...(typeof run === "string" && run !== "" && { run }),
    ...(typeof type === "string" && type !== "" && { type }),
  };
}

export const matchesType = ({ event }: { event: string }, type: string): boolean => type === "" || event === type;

/** Indented where it is JSON. */
export function formatData(data: string): string {
  try {
    return JSON.stringify(JSON.parse(data), null, 2);
  } catch {
    return data;
  }
}
