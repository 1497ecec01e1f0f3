// The SQL of the health check: one cheap question that only a working ledger answers well.
import type { Statement } from "../store/database.ts";

/** The newest journal of some book must be what its head says: the ledger answers, and its end is whole. */
export const selectLedgerHealth: Statement = {
  name: "health",
  text: `select coalesce(bool_and(j.hash = h.hash), true) as whole
from (select * from book_heads where seq > 0 limit 3) h
left join journals j using (merchant_id, environment, seq)`,
};
