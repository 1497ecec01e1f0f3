// Before the first address: what webhooks are for, and the form that begins them.
import { useQueryClient } from "@tanstack/react-query";
import { refresh } from "../../../api/action.ts";
import { useCan, usePlace } from "../../../api/place.ts";
import { Code } from "../../../ui/code.tsx";
import { AddressForm } from "./address-form.tsx";

export function FirstAddress({ onBegin, onDone }: { onBegin: () => void; onDone: () => void }) {
  const can = useCan();
  const queries = useQueryClient();
  const { environment } = usePlace();
  const done = (): void => {
    onDone();
    void refresh(queries, ["/v1/webhook"]);
  };
  return (
    <section className="max-w-2xl rounded-md border border-dashed border-line bg-panel p-5">
      <h2 className="text-base font-semibold">No address is registered yet</h2>
      <p className="mt-1 text-muted">
        Events go nowhere, but those of payments with a callback_url of their own. Register an address, and all others
        are sent there as a signed POST within moments, then retried for twelve hours until your receiver answers 2xx.
        Earlier events are kept: send them again from here.
      </p>
      {can("webhooks:write") ? (
        <div className="mt-4">
          <AddressForm url="" verb="Register the address" onBegin={onBegin} onDone={done} />
        </div>
      ) : (
        <p className="mt-3">Ask an owner or a developer to register one.</p>
      )}
      {environment === "sandbox" && <OnThisMachine />}
    </section>
  );
}

/** What runs on a developer's machine has no public address: the listener brings it the events. */
function OnThisMachine() {
  return (
    <div className="mt-5 border-t border-line pt-4">
      <h3 className="font-medium">Does your receiver run on your own machine?</h3>
      <p className="mt-1 mb-2 text-muted">
        It needs no registered address: this command forwards each event to it, signed as a real delivery would be. It
        uses the demo merchant; for another one, add its key:{" "}
        <code className="font-mono text-xs">--client-id … --secret …</code>
      </p>
      <Code text="npx gerbang listen --forward-to http://localhost:3000" what="the call of the listener" />
    </div>
  );
}
