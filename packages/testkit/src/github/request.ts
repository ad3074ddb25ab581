// The subject of a request to the fake GitHub, once it is authorized.
import type { Context } from "openapi-backend";
import type { Shapes } from "./shapes.ts";
import type { FakePull, FakeRepository, Grant } from "./state.ts";
import type { Need } from "./tokens.ts";

export interface OperationResult {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

export type Operation = (context: Context) => Promise<OperationResult>;

export interface RequestReader {
  shapes: Shapes;
  repositoryRequest(context: Context, permission: Need["permission"]): RepositoryRequest;
  pullRequest(context: Context, permission: Need["permission"]): RepositoryRequest & { pull: FakePull };
  showPull(repository: FakeRepository, pull: FakePull): Promise<object>;
}

export interface RepositoryRequest {
  repository: FakeRepository;
  login: string;
  kind: Grant["kind"];
  body: Context["request"]["requestBody"];
}

export const pageOf = <T>(items: T[], { request: { query } }: Context): T[] => {
  const [size, page] = [Number(query.per_page ?? 30), Number(query.page ?? 1)];
  return items.slice((page - 1) * size, page * size);
};
