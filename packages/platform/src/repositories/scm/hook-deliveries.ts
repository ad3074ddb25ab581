// The port to what a source host keeps about the deliveries of its webhooks.

/** Failures are thrown as RepositoryFault. */
export interface HookDeliveries {
  list(since: Date, signal: AbortSignal): Promise<ListedDeliveries>;
  read(id: number, signal: AbortSignal): Promise<{ url: string; payload: object }>;
}

/** A webhook that someone has set up in a repository. */
export interface RepositoryHook {
  id: number;
  /** That it sends to. */
  url: string;
  deliveries: HookDeliveries;
}

export interface ListedDeliveries {
  /** Newest first, back to the time that was asked for, or as many as fit in fifty pages. */
  deliveries: HookDelivery[];
  /** There may be older ones since that time. */
  isCut: boolean;
}

export interface HookDelivery {
  id: number;
  /** As in the header X-GitHub-Delivery; the same for a delivery that is repeated. */
  guid: string;
  /** As in the header X-GitHub-Event. */
  event: string;
  deliveredAt: Date;
}
