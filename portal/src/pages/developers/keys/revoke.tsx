// Revoking a key, after a question: its systems are refused within a second.
import { refresh } from "../../../api/action.ts";
import { useQueryClient } from "@tanstack/react-query";
import { useApi } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { Confirm } from "../../../ui/dialog.tsx";
import { TimeFromNow } from "../../../ui/time.tsx";
import { say } from "../../../ui/toast.tsx";

export function RevokeKey({ of, onClose }: { of: Schema<"Key">; onClose: () => void }) {
  const api = useApi();
  const queries = useQueryClient();
  const name = of.name ?? of.client_id;
  const revoke = async (): Promise<void> => {
    await api.write("DELETE", "/v1/credentials/{client_id}", { path: { client_id: of.client_id } });
    say(`${name} is revoked.`);
    void refresh(queries, ["/v1/credentials"]);
  };
  return (
    <Confirm open onClose={onClose} title={`Revoke ${name}?`} verb="Revoke the key" onConfirm={revoke}>
      <p>
        Every request signed with it is refused within a second. This cannot be undone. To switch keys without downtime,
        roll it instead.
      </p>
      <p className="text-muted">
        Last used: {of.last_used ? <TimeFromNow at={of.last_used.at} /> : "never"}
        {of.last_used && ` from ${of.last_used.address}`}.
      </p>
    </Confirm>
  );
}
