// Changes that are made by the command line, in the operators' audit.
import { systemClock } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import { Audit } from "../operator/audit.ts";
import { COMMAND_LINE } from "../operator/known-tokens.ts";
import { betweenRows } from "../people/audit.ts";
import type { Database } from "../store/database.ts";

/** A change: the command without `gerbang`, and its options without secrets. */
interface CommandCall {
  command: string;
  body: unknown;
  merchantId?: string;
}

/** Performs a change between two rows of the operators' audit, as `betweenRows` does for the API, and gives what `perform` does. */
export async function recorded<T>(
  database: Database,
  { command, body, merchantId }: CommandCall,
  perform: () => Promise<T>,
): Promise<T> {
  const audit = new Audit(database, systemClock);
  const call = {
    requestId: newId("request", systemClock.now()),
    actor: COMMAND_LINE.name,
    address: undefined,
    role: COMMAND_LINE.role,
    method: "POST",
    path: `gerbang ${command}`,
    merchantId,
  };
  const { done } = await betweenRows(
    { asked: () => audit.asked(call, body), answered: (status) => audit.answered(call, status) },
    async () => ({ status: 200, done: await perform() }),
  );
  return done;
}
