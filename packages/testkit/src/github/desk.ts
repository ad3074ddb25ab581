// What a request to the pretended GitHub is about, once it was found that it may be asked.
import type { Context } from "openapi-backend";
import type { Shapes } from "./shapes.ts";
import type { FakePull, FakeRepository, Grant } from "./state.ts";
import type { Need } from "./tokens.ts";

export interface Answer {
  status: number;
  body?: unknown;
}

export type Operation = (context: Context) => Promise<Answer>;

export interface Desk {
  shapes: Shapes;
  at(context: Context, permission: Need["permission"]): Place;
  onPull(context: Context, permission: Need["permission"]): Place & { pull: FakePull };
  shown(repository: FakeRepository, pull: FakePull): Promise<object>;
}

export interface Place {
  repository: FakeRepository;
  login: string;
  kind: Grant["kind"];
  body: Context["request"]["requestBody"];
}

export const pageOf = <T>(items: T[], { request: { query } }: Context): T[] => {
  const [size, page] = [Number(query.per_page ?? 30), Number(query.page ?? 1)];
  return items.slice((page - 1) * size, page * size);
};
