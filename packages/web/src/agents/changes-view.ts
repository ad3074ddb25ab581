// Which changes of an agent are shown. It is part of the address, so that it can be sent to a colleague.
export type ChangesView = "all" | "turn" | "review";

export const readChangesView = ({ show }: Record<string, unknown>): { show?: ChangesView | undefined } =>
  show === "all" || show === "turn" || show === "review" ? { show } : {};
