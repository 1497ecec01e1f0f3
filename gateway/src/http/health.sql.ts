// The SQL of the health check: one cheap query that succeeds only on a working ledger.
import type { Statement } from "../store/database.ts";

/** `whole`: the newest journals of up to three books have the hash of their chain heads. `writable`: the server is no standby and not read-only. */
export const selectLedgerHealth: Statement = {
  name: "health",
  text: `select coalesce(bool_and(j.hash = h.hash), true) as whole, not current_setting('transaction_read_only')::boolean as writable
from (select * from book_heads where seq > 0 limit 3) h
left join journals j using (merchant_id, environment, seq)`,
};
