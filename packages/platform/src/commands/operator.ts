// Commands act for whoever runs the server: the audit log names the operator.
import { actingAs } from "../db/index.ts";

export const asOperator = <T>(work: () => Promise<T>): Promise<T> => actingAs("operator", work);
