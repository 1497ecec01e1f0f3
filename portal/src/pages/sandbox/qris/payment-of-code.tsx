// The payment that a code asks for, where it is one of this sandbox: it is paid here, as a phone would.
import { useQuery } from "@tanstack/react-query";
import { useApi, usePlace } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { paths } from "../../../paths.ts";
import { To } from "../../../ui/link.tsx";
import { Money } from "../../../ui/money.tsx";
import { Status } from "../../../ui/status.tsx";
import { PayersPart } from "../../payments/new/made.tsx";

/** A bill number of the simulated acquirers is a payment's reference without its first character, which is 0 for many years yet. */
function referenceOf({ objects }: Schema<"Qris">): string | undefined {
  const bill = objects.find(({ tag }) => tag === "62")?.objects?.find(({ tag }) => tag === "01")?.value;
  return bill !== undefined && /^[0-9A-Z]{25}$/.test(bill) ? `pay_0${bill.toLowerCase()}` : undefined;
}

export function PaymentOfCode({ qr }: { qr: Schema<"Qris"> }) {
  const reference = referenceOf(qr);
  return reference === undefined ? <None /> : <Found reference={reference} />;
}

function None() {
  return <p className="text-muted">No payment in this sandbox has this code.</p>;
}

function Found({ reference }: { reference: string }) {
  const api = useApi();
  const place = usePlace();
  const { data, error } = useQuery({ ...api.read("/v1/payments/{reference}", { path: { reference } }), retry: false });
  if (error) return <None />;
  if (!data) return null;
  return (
    <section aria-label="The payment of the code" className="space-y-2">
      <p className="flex flex-wrap items-center gap-x-3">
        <Money of={data} className="font-semibold" />
        <Status status={data.status} />
      </p>
      <p>
        <To to={paths.payment(place, reference)} className="link font-mono text-xs break-all">
          {reference}
        </To>
      </p>
      <PayersPart reference={reference} status={data.status} />
    </section>
  );
}
