// Rotating and revoking keys; the new key of a rotation is handed to the page, which shows it.
import type { ApiKey, RotatedApiKey } from "@agentcli/protocol/api";
import { useQueryClient } from "@tanstack/react-query";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { keysQuery } from "./queries.ts";
import type { ShownKey } from "./secret.tsx";

export interface KeyActions {
  rotate(key: ApiKey, overlapHours: number): void;
  revoke(key: ApiKey): void;
  error: unknown;
}

export function useKeyActions(show: (shown: ShownKey) => void): KeyActions {
  const queries = useQueryClient();
  const { run, error } = useAction(async (act: () => Promise<unknown>) => {
    await act();
    await queries.invalidateQueries({ queryKey: keysQuery.queryKey });
  });
  const pathOf = ({ id }: ApiKey) => `/v1/keys/${encodeURIComponent(id)}`;
  return {
    error,
    revoke: (key) => void run(() => request(pathOf(key), { method: "DELETE" })),
    rotate: (key, overlapHours) =>
      void run(async () => {
        const path = `${pathOf(key)}/rotate`;
        const rotated = await request<RotatedApiKey>(path, { method: "POST", body: { overlapHours } });
        show({ name: key.name, key: rotated.key, formerUntil: rotated.formerUntil });
      }),
  };
}
