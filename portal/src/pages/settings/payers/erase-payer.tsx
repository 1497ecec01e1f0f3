// What was found of a payer, and the button that erases them, after a question.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refresh } from "../../../api/action.ts";
import { useApi, usePlace } from "../../../api/place.ts";
import { paths, withSearch } from "../../../paths.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/dialog.tsx";
import { To } from "../../../ui/link.tsx";
import { say } from "../../../ui/toast.tsx";
import type { Contact } from "./find-payer.tsx";

const SHOWN = 25;

export function ErasePayer({ contact }: { contact: Contact }) {
  const api = useApi();
  const place = usePlace();
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const { text, kind } = contact;
  const found = useQuery(api.read("/v1/payments/search", { query: { payer: text, limit: SHOWN } }));
  const erase = async (): Promise<void> => {
    const { erased_payments: count, complete } = await api.write("POST", "/v1/payers/erase", {
      body: { payer: { [kind]: text } },
    });
    say(`Erased from ${payments(count)}.${complete ? "" : " There are more: erase again."}`);
    void refresh(queries, ["/v1/payments", "/v1/search", "/v1/audit"]);
  };
  return (
    <Answer of={found}>
      {({ data, has_more: hasMore }) =>
        data.length === 0 ? (
          <p role="status">No payment here has {text}.</p>
        ) : (
          <div className="space-y-3">
            <p role="status">
              Found{" "}
              <To to={withSearch(paths.payments(place), { payer: text })}>
                {hasMore ? `More than ${payments(data.length)}` : payments(data.length)}
              </To>{" "}
              of {text}.
            </p>
            <Button look="danger" onClick={() => setAsking(true)}>
              Erase this payer
            </Button>
            <Confirm
              open={asking}
              onClose={() => setAsking(false)}
              title={`Erase ${text}?`}
              verb="Erase the payer"
              onConfirm={erase}
            >
              <p>
                Afterwards nobody reads here who made these payments: not you, not the operator. This cannot be undone.
                Refunds and disputes go on as before. What acquirers keep, and backups until they expire, is not erased.
              </p>
            </Confirm>
          </div>
        )
      }
    </Answer>
  );
}

function payments(count: number): string {
  return count === 1 ? "one payment" : `${count} payments`;
}
