// Before the first address: what webhooks are for, and the form that begins them.
import { useQueryClient } from "@tanstack/react-query";
import { refresh } from "../../../api/action.ts";
import { useCan } from "../../../api/place.ts";
import { AddressForm } from "./address-form.tsx";

export function FirstAddress() {
  const can = useCan();
  const queries = useQueryClient();
  return (
    <section className="max-w-2xl rounded-md border border-dashed border-line bg-panel p-5">
      <h2 className="text-base font-semibold">Events go nowhere yet</h2>
      <p className="mt-1 text-muted">
        Register an address, and every event is sent there as a signed POST within moments, and again for twelve hours
        until your receiver answers 2xx. Events of before are kept: send them again from here.
      </p>
      {can("webhooks:write") ? (
        <div className="mt-4">
          <AddressForm url="" verb="Register the address" onDone={() => void refresh(queries, ["/v1/webhook"])} />
        </div>
      ) : (
        <p className="mt-3">An owner or a developer registers it.</p>
      )}
    </section>
  );
}
