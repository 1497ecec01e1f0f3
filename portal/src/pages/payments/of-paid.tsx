// From an empty list to what would fill it: a payment that succeeded, or the first one to be made.
import { useQuery } from "@tanstack/react-query";
import { useApi, useCan, usePlace } from "../../api/place.ts";
import { paths, withSearch } from "../../paths.ts";
import { ButtonLink } from "../../ui/button.tsx";

export function OfPaid({ verb }: { verb: "refund" | "contest" }) {
  const place = usePlace();
  const api = useApi();
  const can = useCan();
  const { data } = useQuery(api.read("/v1/payments/search", { query: { status: "succeeded", limit: 2 } }));
  if (!data) return null;
  const [one, another] = data.data;
  if (one && another)
    return (
      <ButtonLink to={withSearch(paths.payments(place), { status: "succeeded" })}>
        Choose a payment to {verb}
      </ButtonLink>
    );
  if (one) return <ButtonLink to={paths.payment(place, one.reference)}>Open the payment to {verb} it</ButtonLink>;
  if (!can("payments:write")) return null;
  const make = place.environment === "sandbox" ? paths.create(place) : paths.paymentNew(place);
  return <ButtonLink to={make}>Create a payment first</ButtonLink>;
}
