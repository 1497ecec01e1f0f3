// Suspending a merchant, and lifting it again: after a plain warning.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refresh } from "../../../api/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/dialog.tsx";
import { say } from "../../../ui/toast.tsx";
import { write } from "../../api/client.ts";
import type { Merchant } from "./change.tsx";

export function Suspend({ of: { merchant_id: id, name, suspended } }: { of: Merchant }) {
  const queries = useQueryClient();
  // As it was when the question was asked: sent again after a lost answer, it must not turn into its opposite.
  const [asked, setAsked] = useState<{ lifts: boolean } | undefined>(undefined);
  const change = async (lifts: boolean): Promise<void> => {
    await write("PATCH", "/v1/merchants/{id}", { path: { id }, body: { suspended: !lifts } });
    await refresh(queries, ["/v1/merchants", "/v1/audit"]);
    say(lifts ? `${name} is active again.` : `${name} is suspended.`);
  };
  return (
    <>
      <Button look={suspended ? "primary" : "danger"} onClick={() => setAsked({ lifts: suspended })}>
        {suspended ? "Lift the suspension…" : "Suspend…"}
      </Button>
      {asked && (
        <Confirm
          open
          onClose={() => setAsked(undefined)}
          title={asked.lifts ? `Let ${name} work again?` : `Suspend ${name}?`}
          verb={asked.lifts ? "Lift the suspension" : "Suspend the merchant"}
          look={asked.lifts ? "primary" : "danger"}
          onConfirm={() => change(asked.lifts)}
        >
          {asked.lifts ? (
            <p>
              Within a second, its signed requests are answered again, its people can work in the portal, and its payers
              can pay, in the sandbox and in production.
            </p>
          ) : (
            <>
              <p>
                <strong>It can no longer take payments.</strong> Within a second, every signed request from it and every
                request of its people in the portal is answered with 403, in the sandbox and in production. Its
                payers&apos; pages stop showing how to pay.
              </p>
              <p>
                No money stops: what a payer pays all the same is booked, and payouts go on until you freeze its wallet.
                Its people cannot answer disputes meanwhile: answer for them, or the disputes are lost.
              </p>
            </>
          )}
        </Confirm>
      )}
    </>
  );
}
