// Creating a payment by hand: the form, the code that does the same, and what was made.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useApi, useCan, usePlace } from "../../../api/place.ts";
import { paths } from "../../../paths.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Page as Frame } from "../../../ui/page.tsx";
import { MayNotCreate } from "../may-not-create.tsx";
import { type Values, firstValues, newReferenceId } from "./fields.ts";
import { type Made, PaymentForm } from "./form.tsx";
import { MadePayment } from "./made.tsx";

export function CreatePayment({ title, lead }: { title: string; lead: string }) {
  const api = useApi();
  const place = usePlace();
  const can = useCan();
  const settings = useQuery(api.read("/v1/settings"));
  return (
    <Frame title={title} lead={lead} above={{ to: paths.payments(place), label: "Payments" }}>
      {can("payments:write") ? (
        <Answer of={settings}>{(found) => <Making settings={found} />}</Answer>
      ) : (
        <MayNotCreate what="payments" />
      )}
    </Frame>
  );
}

function Making({ settings }: { settings: Parameters<typeof PaymentForm>[0]["settings"] }) {
  const { environment } = usePlace();
  const [made, setMade] = useState<Made | undefined>(undefined);
  // After each payment the form begins with what was typed, and with another reference.
  const [{ first, round }, setFirst] = useState(() => ({
    first: firstValues(settings.currencies[0]?.currency ?? "IDR", environment),
    round: 0,
  }));
  const next = (payment: Made, values: Values): void => {
    setMade(payment);
    setFirst({ first: { ...values, reference_id: newReferenceId() }, round: round + 1 });
    scrollTo({ top: 0 });
  };
  return (
    <>
      {made && <Result made={made} />}
      <PaymentForm key={round} settings={settings} first={first} onMade={next} />
    </>
  );
}

function Result({ made }: { made: Made }) {
  if ("reference" in made) return <MadePayment key={made.reference} reference={made.reference} />;
  const { message, details } = made.error;
  return (
    <section role="status" className="space-y-2">
      <p className="font-medium text-warn">{message}</p>
      {typeof details?.reference === "string" && <MadePayment key={details.reference} reference={details.reference} />}
    </section>
  );
}
