// What users have done with the items of their inboxes. The items themselves are runs and alerts.
import type { Stamped } from "./columns.ts";

/** Of a run or of an alert, never of both. An item without a mark is unread. */
export interface InboxMarkTable {
  user_id: number;
  run_id: string | null;
  alert_id: string | null;
  state: "unread" | "read" | "done";
  updated_at: Stamped;
}
