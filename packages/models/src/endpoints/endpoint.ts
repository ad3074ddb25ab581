// Services that offer the models of others: another path, another body, other headers, another framing of events.
import type { Skim, SseParser } from "../sse.ts";

export interface SignedRequest {
  url: URL;
  headers: Record<string, string>;
  body: string;
  key: string | undefined;
}

export interface Endpoint {
  /** Below the base URL; may contain a query. */
  path(model: string): string;
  body?(body: object): object;
  /** The headers to send, with what proves who sends them. */
  sign?(request: SignedRequest): Record<string, string>;
  /** How events are framed; absent: as server-sent events. */
  events?: EventFraming;
}

export interface EventFraming {
  contentType: string;
  /** `skim` may be left out of use. */
  open(onEvent: (data: string, name: string) => void, skim?: Skim): SseParser;
}
