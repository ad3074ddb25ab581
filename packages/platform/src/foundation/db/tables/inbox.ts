// What users have done with the items of their inboxes. The items themselves are in other tables.
import type { Perhaps, Stamped } from "./columns.ts";

/** Of one item: a run, an alert, a build or a firing. An item without a mark is unread. */
export interface InboxMarkTable {
  user_id: number;
  run_id: Perhaps<string>;
  alert_id: Perhaps<string>;
  build_id: Perhaps<string>;
  firing_id: Perhaps<string>;
  state: "unread" | "read" | "done";
  updated_at: Stamped;
}
