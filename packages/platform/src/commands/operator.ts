// Commands act as the operator: the audit log says so.
import { actingAs } from "../foundation/db/index.ts";

export const asOperator = <T>(work: () => Promise<T>): Promise<T> => actingAs("operator", work);
